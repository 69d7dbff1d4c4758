"""The model card."""

import json
import re
import shlex

import pytest

import ftor
from ftor.model.card import model_card
from ftor.model.model import Model
from ftor.text.reading import Pair, read_pairs

EXAMPLE = Pair(("a", "b"), ("b",), 1)


@pytest.fixture
def card(trained):
    return (trained / "README.md").read_text()


def test_it_has_the_results(card):
    assert "\n---\n# transducer\n" in card
    assert re.search(r"\| test \| 6 \| [\d.]+ % \([\d.]+–[\d.]+\) \|", card)


def test_a_hub_reads_the_front_matter(card, trained):
    from huggingface_hub import ModelCard

    metrics = json.loads((trained / "metrics.json").read_text())
    data = ModelCard(card).data
    assert (data.library_name, data.license, data.model_name) == ("ftor", None, "transducer")
    assert data.tags == ["ftor", "sequence-transduction"]
    (accuracy, exact) = data.eval_results
    assert (accuracy.metric_type, exact.metric_type) == ("accuracy", "exact_match")
    assert exact.metric_value == pytest.approx(100 * metrics["test"]["exact_match"], abs=0.01)
    assert (exact.dataset_name, exact.dataset_split) == ("pairs", "test")


def test_intervals_contain_the_accuracy_and_are_wide_for_few_pairs(model, trained):
    metrics = json.loads((trained / "metrics.json").read_text())
    judged = [metrics["dev"] | {"count": count, "exact_match": 0.75, "shares": {}} for count in (8, 800)]
    card = model_card(model, metrics | {"dev": judged[0], "test": judged[1]}, EXAMPLE)
    (few, many) = re.findall(r"\| 75.0 % \(([\d.]+)–([\d.]+)\) \|", card)
    assert float(few[0]) < float(many[0]) < 75 < float(many[1]) < float(few[1])
    assert 71 < float(many[0]) < float(many[1]) < 79


def test_it_says_what_the_model_is_for_and_what_not(card):
    uses, limits = (
        card.split(f"## {title}\n\n")[1].split("\n\n## ")[0] for title in ("Intended use", "Limits")
    )
    assert "sentences of the same kind" in uses
    assert "grammar" not in uses
    assert "It has learnt from 25 pairs." in limits
    assert "All words that training lacked look the same to it" in limits


def test_one_training_pair_is_one_pair(trained):
    metrics = json.loads((trained / "metrics.json").read_text())
    metrics["train"]["count"] = 1
    assert "It has learnt from 1 pair. Sentences" in model_card(Model.load(trained), metrics, EXAMPLE)


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


def test_commands_name_the_data_folder_of_an_encoder(model, trained):
    settings = model.config.model.model_copy(update={"reader": "minilm"})
    read = Model(model.config.model_copy(update={"model": settings}), model.vocabularies, model.network)
    card = model_card(read, json.loads((trained / "metrics.json").read_text()), EXAMPLE)
    commands = [line for line in card.splitlines() if line.startswith("    ftor ")]
    assert all(command.endswith("--data-dir DIR") for command in commands)
    assert "DIR is the data folder with the encoder `minilm`" in card


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
