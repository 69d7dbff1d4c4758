"""Words that are copied in other forms: the rules, what they explain, and models that follow them."""

import pytest
import torch

import ftor
from ftor.config import Config, ConfigError
from ftor.config.sections import FORMS as NAMES
from ftor.text.copying import Copying
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.forms import FORMS, SNAKE, explained, form, snake
from ftor.text.inflecting import INFLECTIONS
from ftor.text.reading import Pair, write_pairs
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import COPY
from ftor.tuning.look import look
from support.tiny import run_here, set_arguments


def pairs_of(*texts):
    split = ((source.split(), target.split()) for source, target in texts)
    return [Pair(tuple(s), tuple(t), n, None, " ".join(t)) for n, (s, t) in enumerate(split, 1)]


DAYS = pairs_of(
    *((f"meet me on the {day} please", f"day {number} end") for day, number in
      [("seventh", 7), ("8th", 8), ("twenty-first", 21), ("thirtieth", 30), ("2nd", 2), ("twelfth", 12)])
)  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "word", "wanted"),
    [
        ("cardinal", "Two", "2"),
        ("cardinal", "ninety-nine", "99"),
        ("cardinal", "too", None),
        ("ordinal", "first", "1"),
        ("ordinal", "twentieth", "20"),
        ("ordinal", "thirty-third", "33"),
        ("ordinal", "22nd", "22"),
        ("ordinal", "22", None),
        ("hour", "12am", "0"),
        ("hour", "12pm", "1200"),
        ("hour", "7:05pm", "1905"),
        ("hour", "13pm", None),
        ("underscores", "new-york", "new_york"),
        ("underscores", "-", None),
        ("double-quotes", "bob", '"bob"'),
    ],
)
def test_rules(rule, word, wanted):
    assert FORMS[rule](word) == wanted
    assert form(word, [rule]) == (wanted or word)


def test_the_first_rule_that_applies_counts():
    assert form("two", ["ordinal", "cardinal", "double-quotes"]) == "2"
    assert form("bob", ["ordinal", "cardinal", "double-quotes"]) == '"bob"'
    assert form("bob", ["snake", "double-quotes"]) == '"bob"'
    assert (*FORMS, SNAKE, *INFLECTIONS) == NAMES


def test_what_rules_explain():
    (ordinal,) = explained(DAYS)
    assert (ordinal.rule, ordinal.times, ordinal.follows) == ("ordinal", 6, True)
    assert ("seventh", "7") in ordinal.examples
    others = pairs_of(*((f"the {word} of them", "all") for word in ("third", "fourth", "fifth")))
    assert not explained(DAYS + others)[0].follows, "three of nine words are not written as numbers"
    assert not explained([DAYS[0]] * 6)[0].follows, "one word only, and every pair has it"
    assert explained(pairs_of(("add 7 and 7th", "7"))) == [], "a plain copy"


def test_quotes_change_the_words_that_targets_quote():
    names = pairs_of(*((f"call {name} now", f'call "{name}"') for name in ("ann", "bob", "cyd")))
    (quotes,) = explained(names)
    assert (quotes.rule, quotes.times, quotes.follows) == ("double-quotes", 3, True)


def test_copies_are_written_in_their_form():
    copying = Copying(forms=("ordinal",))
    vocabularies = Vocabularies.of(DAYS, copying)
    assert vocabularies.target.tokens == ["day", "end"]
    source = ("on", "the", "ninth", "or", "4th")
    classes = len(vocabularies.target)
    assert vocabularies.output([classes + 3, classes + 5], ("@start@", *source)) == ("9", "4")
    assert vocabularies.choices(("day", "9"), source)[1] == classes + 3
    assert vocabularies.spelled(source) == ["on", "the", "9", "or", "4"]
    assert vocabularies.target_classes(DAYS[0].source, DAYS[0].target)[1] == COPY
    batch = EncodedPairs(DAYS, vocabularies).batch(torch.arange(2))
    assert batch.copyable[0, :, 1].nonzero().flatten().tolist() == [5], "after the start: `seventh` is 7"


CITIES = pairs_of(
    *((f"fly to {name} now", f"go {name.lower().replace(' ', '_').replace('-', '_')}") for name in
      ["san francisco", "Los Angeles", "new york city", "salt lake city", "paris", "stoke-on-trent mill"])
)  # fmt: skip


def test_words_in_a_row_are_copied_in_snake_case():
    assert snake(("New", "York")) == "new_york"
    assert snake(("york",)) is snake(("san", ",")) is None
    copying = Copying(forms=("snake",))
    assert copying.most_words == 4
    assert copying.written(("a", "b")) == ["a", "a_b", None, None, "b", None, None, None]
    assert copying.keys(("a", "b", "a")) == {"a": 0, "b": 0, "a_b": 1, "b_a": 1, "a_b_a": 2}
    vocabularies = Vocabularies.of(CITIES, copying)
    assert vocabularies.target.tokens == ["go"], "all names are copies"
    assert vocabularies.target_classes(CITIES[2].source, CITIES[2].target) == [4, 2]
    source = ("to", "san", "jose", "san", "jose")
    new = ("go", "san_jose", "jose_san_jose", "to")
    choices = vocabularies.choices(new, source)
    assert vocabularies.output(choices, ("@start@", *source)) == new
    assert choices[1] == len(vocabularies.target) + 4 * 2 + 1, "the first of two equal copies"
    assert {"san_jose", "jose_san_jose"} < set(vocabularies.spelled(source))
    batch = EncodedPairs(CITIES, vocabularies).batch(torch.arange(len(CITIES)))
    assert batch.copyable.shape == (6, 7, 2)
    assert not batch.copyable[:, :, 0].any(), "no copy"
    assert batch.copy_classes == 4
    assert [row.nonzero().flatten().tolist() for row in batch.copyable[:, :, 1]] == [[3]] * 6
    one = vocabularies.source_batch([source], terminals=["go", "san_jose"])
    assert one.columns.shape == (1, 2 + 4 * 6)
    assert one.columns[0, :2].tolist() == [4, choices[1]], "a terminal that is a copy"
    assert one.as_trained(torch.tensor([choices[2]])).tolist() == [2]
    assert one.as_trained(torch.tensor([choices[0]])).tolist() == [4]


def test_the_look_finds_snake_case():
    found = look(CITIES)
    assert found.settings["data.copy_forms"] == "snake"
    (finding,) = (finding for finding in found.findings if finding.kind == "forms")
    assert "snake 5 times (" in finding.text


@pytest.mark.parametrize("decoder", ["independent", "autoregressive"])
def test_a_trained_model_copies_several_words_as_one(tmp_path, decoder):
    write_pairs([(" ".join(p.source), " ".join(p.target)) for p in CITIES], tmp_path / "a.tsv")
    settings = {"model.copying": True, "data.copy_forms": "snake", "model.decoder": decoder}
    finished = run_here(
        *("train", "transducer", "--train", tmp_path / "a.tsv", "--dev", tmp_path / "a.tsv"),
        *("--out", tmp_path / "run", *set_arguments(settings)),
    )
    assert finished.code == 0, finished.err
    model = ftor.load(tmp_path / "run")
    new = "fly to monte carlo now"
    scores = model.score([new] * 3, ["go monte_carlo", "go monte", "go carlo_monte"])
    assert scores[0].reason is scores[1].reason is None
    assert "'carlo_monte' is not in the vocabulary" in scores[2].reason
    found = model.predict([new], n_best=100)[0]
    outputs = {one.text: one.score for one in (found, *found.alternatives)}
    both = {text: score for text, score in outputs.items() if "monte_carlo" in text.split()}
    assert both, "it is one of the outputs of two tokens"
    for text, score in both.items():
        assert model.score([new], [text])[0].score == pytest.approx(score, abs=1e-4)


def test_the_look_finds_the_rule_and_counts_it():
    found = look(DAYS)
    assert found.settings["data.copy_forms"] == "ordinal"
    assert found.settings["model.copying"] is True
    (finding,) = (finding for finding in found.findings if finding.kind == "forms")
    assert "ordinal 6 times (" in finding.text


def test_a_trained_model_writes_only_the_form(tmp_path):
    write_pairs([(" ".join(p.source), " ".join(p.target)) for p in DAYS], tmp_path / "a.tsv")
    finished = run_here(
        *("train", "transducer", "--train", tmp_path / "a.tsv", "--dev", tmp_path / "a.tsv"),
        *("--out", tmp_path / "run", *set_arguments({"model.copying": True, "data.copy_forms": "ordinal"})),
    )
    assert finished.code == 0, finished.err
    model = ftor.load(tmp_path / "run")
    new = "meet me on the 19th please"
    scores = model.score([new] * 2, ["day 19 end", "day 19th end"])
    assert scores[0].reason is None
    assert "'19th' is not in the vocabulary" in scores[1].reason
    found = model.predict([new], n_best=50)[0]
    assert not any("19th" in one.tokens for one in (found, *found.alternatives))


def test_rules_that_do_not_exist():
    with pytest.raises(ConfigError, match=r"data.copy_forms: .*expected some of cardinal, .*, found 'roman'"):
        Config.load("transducer", ["data.copy_forms=roman"])
