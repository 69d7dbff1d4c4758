"""The model card."""

import json
import re
import shlex

import pytest

import ftor
from ftor.model.card import model_card
from ftor.text.reading import Pair, read_pairs

EXAMPLE = Pair(("a", "b"), ("b",), 1)


@pytest.fixture
def card(trained):
    return (trained / "README.md").read_text()


def test_it_has_the_results(card):
    assert card.startswith("# transducer\n")
    assert re.search(r"\| test \| 6 \| [\d.]+ % \|", card)


def test_it_names_the_files(card, trained):
    files = set(re.findall(r"^\| `(.*?)` \|", card, re.M))
    assert files - {"checkpoint*.safetensors"} == {
        path.name for path in trained.iterdir() if "checkpoint" not in path.name and path.name != "README.md"
    }


def test_its_example_is_a_sentence_of_the_data(card, data):
    commands = [shlex.split(line) for line in card.splitlines() if line.startswith("    ftor ")]
    first = read_pairs(data / "dev.tsv")[0]
    assert [command[1:] for command in commands] == [
        ["predict", ".", " ".join(first.source)],
        ["explain", ".", " ".join(first.source)],
    ]


def test_an_example_with_quotes_and_a_word_to_emphasise(model, trained):
    pair = Pair(("it's", "so"), ("x",), 1, emphasis="so")
    card = model_card(model, json.loads((trained / "metrics.json").read_text()), pair)
    line = next(line for line in card.splitlines() if "ftor predict" in line)
    assert shlex.split(line) == ["ftor", "predict", ".", "it's so ; so"]


def test_it_counts_the_words_of_training(trained):
    model = ftor.load(trained)
    words = len(model.trained_words)
    model.vocabularies.source.add("new")
    card = model_card(model, json.loads((trained / "metrics.json").read_text()), EXAMPLE)
    assert f"| `vocab.json` | the {words} source tokens and" in card


def test_scores_are_columns_and_the_grammar_has_rows(model, trained):
    metrics = json.loads((trained / "metrics.json").read_text())
    scored = metrics["dev"] | {"scores": {"BLEU-1": 0.5}}
    card = model_card(model, metrics | {"dev": scored, "test": None, "dev_grammar": scored}, EXAMPLE)
    assert re.search(r"\| mean length error \| BLEU-1 \|\n(\| --- ){7}\|\n", card)
    assert re.search(r"^\| dev, with the grammar \| 8 \| .* \| 50.0 \|$", card, re.M)
    assert "| test" not in card
