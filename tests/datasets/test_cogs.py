"""COGS: conjuncts, depth, what is separable, and the public notation."""

from pathlib import Path

import pytest

from ftor.config import Config
from ftor.datasets import DATASETS, cogs, groupings, judges
from ftor.text.reading import DataError, read_pairs
from ftor.text.separability import needed_order
from support.tiny import run_here

AGENT = "see . agent ( x _ 1 , Emma )"
NOUNS = ["cake", "table", "room", "car", "bed", "box"]


def nested(phrases, definite):
    """`Emma saw the cake on the table on …` with so many prepositional phrases, and its logical form."""
    source, places = ["Emma", "saw"], []
    for number, noun in enumerate(NOUNS[: phrases + 1]):
        source += ["on"] * (number > 0) + ["the" if definite else "a", noun]
        places.append(len(source) - 1)
    forms = [f"{noun} ( x _ {place} )" for noun, place in zip(NOUNS, places, strict=False)]
    conjuncts = [AGENT, f"see . theme ( x _ 1 , x _ {places[0]} )"]
    for number, form in enumerate(forms):
        conjuncts += [] if definite else [form]
        if number < phrases:
            conjuncts.append(
                f"{NOUNS[number]} . nmod . on ( x _ {places[number]} , x _ {places[number + 1]} )"
            )
    first = "".join(f"* {form} ; " for form in forms) if definite else ""
    return source, (first + " AND ".join(conjuncts)).split()


def test_the_order_of_conjuncts_does_not_count():
    same = judges("cogs", None)[0].same
    gold = f"* cake ( x _ 3 ) ; {AGENT} AND see . theme ( x _ 1 , x _ 3 )".split()
    swapped = f"* cake ( x _ 3 ) ; see . theme ( x _ 1 , x _ 3 ) AND {AGENT}".split()
    assert same(gold, swapped)
    assert not same(gold, f"cake ( x _ 3 ) AND {AGENT} AND see . theme ( x _ 1 , x _ 3 )".split())
    assert not same(gold, swapped[:-2])
    assert not same(gold, [])


@pytest.mark.parametrize("phrases", range(6))
def test_depth_of_prepositional_phrases(phrases):
    (by_depth,) = groupings("cogs")
    for definite in (True, False):
        assert by_depth.key(*nested(phrases, definite)) == phrases


def test_the_experiment_can_write_most_training_pairs():
    """With 4 copies of a word, 13,446 of 24,155 pairs are left out, with 8 only 40."""
    assert Config.load("cogs").model.max_fertility >= 8


def test_depth_of_clauses():
    form = "hope . ccomp ( x _ 1 , x _ 4 ) AND say . ccomp ( x _ 4 , x _ 7 ) AND run . agent ( x _ 7 , Emma )"
    assert cogs.depth(form.split()) == 2
    side_by_side = "cat . nmod . on ( x _ 1 , x _ 4 ) AND dog . nmod . on ( x _ 6 , x _ 9 )"
    assert cogs.depth(side_by_side.split()) == 1
    assert cogs.depth(["LAMBDA", "a", ".", "cat", "(", "a", ")"]) == 0


def test_the_words_that_a_logical_form_names():
    source = ["Emma", "saw", "the", "cake", "on", "a", "table", "."]
    form = (
        f"* cake ( x _ 3 ) ; {AGENT} AND see . theme ( x _ 1 , x _ 3 ) AND cake . nmod . on ( x _ 3 , x _ 6 )"
    )
    assert cogs.named_words(source, form.split()) == [3, 1, 0, 1, 3, 3, 4, 6]
    primitive = "LAMBDA a . LAMBDA e . touch . theme ( e , a )"
    assert cogs.named_words(["touch"], primitive.split()) == [0]


@pytest.mark.parametrize("phrases", range(6))
def test_definite_nouns_in_prepositional_phrases_are_not_separable(phrases):
    """Their conjuncts come first in the logical form, and they are named again at its end."""
    expected = "not separable" if phrases else "separable"
    assert needed_order(cogs.named_words(*nested(phrases, definite=True))) == expected
    assert needed_order(cogs.named_words(*nested(phrases, definite=False))) == "separable"


def test_public_files_are_imported_as_pairs_and_by_category(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "COGS-main" / "data"
    folder.mkdir(parents=True)
    line = "Emma ran .\trun . agent ( x _ 1 , Emma )\t"
    for name in ("train", "dev", "test"):
        (folder / f"{name}.tsv").write_text(f"{line}in_distribution\n")
    (folder / "gen.tsv").write_text(f"{line}cp_recursion\n{line}pp_recursion\n{line}cp_recursion\n")
    assert run_here("data", "import", "COGS-main", "--to", "data").code == 0
    written = {str(path.relative_to("data/cogs")) for path in Path("data/cogs").rglob("*.tsv")}
    assert written == {
        *("train.tsv", "dev.tsv", "test.tsv", "gen.tsv", "gen/cp_recursion.tsv", "gen/pp_recursion.tsv")
    }
    assert len(read_pairs(Path("data/cogs/gen.tsv"))) == 3
    assert len(read_pairs(Path("data/cogs/gen/cp_recursion.tsv"))) == 2
    assert run_here("data", "import", "data", "--to", "copy").code == 0, "pairs are left as they are"


def test_a_bad_line_is_named(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("Emma ran .\trun\tin_distribution\nEmma ran .\n")
    with pytest.raises(DataError, match=r"train.tsv:2: expected sentence, logical form and category"):
        cogs.convert(path)


def test_other_train_files_are_not_taken_for_it():
    dataset = DATASETS["cogs"]
    assert dataset.file_at(["home", "COGS", "data", "train.tsv"]) == "cogs/train.tsv"
    assert dataset.file_at(["data", "cogs", "gen.tsv"]) == "cogs/gen.tsv"
    for other in (["mirror", "train.tsv"], ["data", "train.tsv"], ["COGS", "train.tsv"]):
        assert dataset.file_at(other) is None
