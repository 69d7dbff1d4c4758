"""Every architecture: its entry in the registry, and its runs through the commands of the transducer."""

import json
import signal
from functools import partial

import pytest

import ftor
from ftor.config import Config
from ftor.config.architectures import ARCHITECTURES
from ftor.grammar import Grammar
from ftor.model.tensors import load_tensors
from ftor.networks import Network, build, registry
from ftor.text.vocabularies import Vocabularies
from ftor.training.trainer import Trainer
from support.small_networks import PAIRS
from support.tiny import assert_half_precision_is_close, assert_same_run, run_here

BASELINES = ("lstm", "transformer", "bart")
SENTENCES = ["a b c", "k", "d d e a b c", "f g h i"]


SETTINGS = {
    "transducer": ["model.width=8"],
    "committee": ["model.width=8", "model.members=2"],
    "rescored": ["model.width=8", "model.rescorer=lstm"],
    "rescored-committee": ["model.width=8", "model.rescorer=lstm", "model.members=2"],
    "lstm": ["model.architecture=lstm", "model.width=8"],
    "lstm-members": ["model.architecture=lstm", "model.width=8", "model.members=2"],
    "transformer": ["model.architecture=transformer", "model.width=8"],
    "bart": ["model.architecture=bart"],
    "pretrained": ["model.architecture=pretrained", "model.pretrained=google-t5/t5-small"],
}


def test_every_network_has_a_section():
    assert {name: Config.load("transducer", SETTINGS[name]).model.network for name in registry._NETWORKS} == {
        name: name for name in registry._NETWORKS
    }
    assert ARCHITECTURES.keys() <= registry._NETWORKS.keys()


OURS = ["transducer", "committee", "rescored", "rescored-committee", "lstm", "lstm-members"]


@pytest.mark.parametrize("name", [*OURS, "transformer"])
def test_a_network_is_built_from_its_section(name):
    config, words = Config.load("transducer", SETTINGS[name]), Vocabularies.of(PAIRS)
    network, vocabularies = build(config, words)
    assert isinstance(network, Network)
    assert f"{type(network).__module__}:{type(network).__name__}" == registry._NETWORKS[name]
    assert vocabularies is words
    assert (network.config, network.classes) == (config.model, len(words.target))
    assert network.vectors is None


@pytest.mark.parametrize("name", OURS)
def test_a_network_with_word_vectors_has_an_embedding_of_their_size(name):
    network, _ = build(Config.load("transducer", SETTINGS[name]), Vocabularies.of(PAIRS), vector_size=5)
    assert network.vectors.weight.shape[1] == 5


@pytest.mark.parametrize("architecture", BASELINES)
class TestBaselines:
    def test_the_folder_is_like_any_other(self, baseline, architecture):
        folder = baseline(architecture)
        names = {path.name for path in folder.iterdir() if "checkpoint" not in path.name}
        wanted = {"config.toml", "vocab.json", "model.safetensors", "metrics.json", "log.jsonl", "README.md"}
        wanted |= {"judgements.json.gz"} | ({"pretrained"} if architecture == "bart" else set())
        assert names == wanted
        metrics = json.loads((folder / "metrics.json").read_text())
        assert {"length_error", "by_length", "exact_match"} <= set(metrics["test"])
        assert "baseline" in (folder / "README.md").read_text()
        assert "ftor explain" not in (folder / "README.md").read_text()

    @pytest.mark.slow
    def test_the_same_seed_gives_the_same_run_also_when_resumed(self, run, architecture):
        """Stopped in the middle of an epoch, with rates that depend on the step."""
        settings = {"training__schedule": "linear", "training__warmup_steps": 3, "training__epochs": 3}
        whole = run(architecture, "whole", **settings)
        count, step = [], Trainer.step

        def interrupted(self, rows):
            count.append(rows)
            if len(count) == 6:
                signal.raise_signal(signal.SIGINT)
            return step(self, rows)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Trainer, "step", interrupted)
            with pytest.raises(AssertionError, match="stopped; to resume"):
                run(architecture, "stopped", **settings)
        folder = whole.parent / "stopped"
        assert load_tensors(folder / "checkpoint.safetensors")[1]["step"] == 2
        finished = run_here("train", "--resume", folder)
        assert finished.code == 0, finished.err
        assert_same_run(folder, whole)

    def test_a_loaded_model_predicts_what_was_evaluated(self, baseline, data, architecture):
        finished = run_here("evaluate", baseline(architecture), data / "test.tsv", "--json")
        assert finished.code == 0, finished.err
        found, metrics = (
            json.loads(finished.out),
            json.loads((baseline(architecture) / "metrics.json").read_text()),
        )
        assert found == metrics["test"]

    @pytest.mark.parametrize(
        "command",
        [
            ["explain", "DIR", "a b"],
            ["predict", "DIR", "a b", "--tree"],
            ["predict", "DIR", "a b", "--fertilities"],
            ["predict", "DIR", "a b", "--lengths", "3"],
        ],
        ids=["explain", "tree", "fertilities", "lengths"],
    )
    def test_what_only_transducers_have_is_refused(self, baseline, architecture, command):
        finished = run_here(*(baseline(architecture) if part == "DIR" else part for part in command))
        assert (finished.code, finished.out) == (1, "")
        assert f"this model is not a transducer: {architecture} has no" in finished.err

    def test_predict_writes_json_lines(self, baseline, architecture):
        finished = run_here("predict", baseline(architecture), *SENTENCES)
        assert finished.code == 0, finished.err
        lines = [json.loads(line) for line in finished.out.splitlines()]
        assert [line["source"] for line in lines] == SENTENCES
        assert all(line["tokens"] == line["prediction"].split() for line in lines)


def test_any_grammar_can_choose_from_the_beam(baseline):
    model = ftor.load(baseline("lstm"))
    (plain,) = model.predict(["a b c"])
    assert (plain.length_score, plain.structure) == (None, None)
    wanted = "W" if len(plain.tokens) != 1 else "W W"
    (found,) = model.predict(["a b c"], grammar=Grammar.parse(f"S -> {wanted}\nW -> {words(model)}"))
    assert found.well_formed
    assert len(found.tokens) == len(wanted.split())
    assert found.score < plain.score


def words(model):
    return " | ".join(f"'{token}'" for token in model.vocabularies.target.tokens)


def test_a_grammar_that_accepts_nothing_in_the_beam_is_reported(baseline, tmp_path):
    (tmp_path / "other.cfg").write_text("S -> 'other'")
    finished = run_here("predict", baseline("lstm"), "a b c", "--grammar", tmp_path / "other.cfg")
    assert finished.code == 0
    assert "1 of 1 outputs do not derive from the grammar, which derives none of those" in finished.err
    assert json.loads(finished.out)["well_formed"] is False


@pytest.mark.slow
def test_own_grammar_is_evaluated_with_a_beam(run, tmp_path):
    grammar = tmp_path / "two.cfg"
    grammar.write_text("S -> W W\nW -> " + " | ".join(f"'{symbol}'" for symbol in "abcdefghijk"))
    folder = run("lstm", decoding__grammar=str(grammar))
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["test_grammar"]["shares"]["well_formed"] == 1.0
    assert metrics["test"]["shares"]["well_formed"] < 1.0
    assert (folder / "grammar.cfg").is_file()
    assert Config.load(folder / "config.toml").model.grammar_beam == 50


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["lstm", "transformer"])
def test_a_task_is_learned(tmp_path, architecture):
    """Reversing up to three of four symbols: the 84 strings themselves."""
    strings = ["a b c d"[i] for i in (0, 2, 4, 6)]
    every = [(x, y, z) for x in [*strings, ""] for y in [*strings, ""] for z in strings if x == "" or y != ""]
    lines = [" ".join(filter(None, t)) for t in every]
    (tmp_path / "pairs.tsv").write_text("".join(f"{s}\t{' '.join(s.split()[::-1])}\n" for s in lines))
    settings = {
        "model.architecture": architecture, "model.width": 32, "model.hidden": 32,
        "training.epochs": 25, "training.batch_size": 16, "training.learning_rate": 0.003,
        **({"model.layers": 2, "model.dropout": 0.0} if architecture == "transformer" else {}),
    }  # fmt: skip
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={json.dumps(value)}")]
    path = tmp_path / "pairs.tsv"
    out = tmp_path / "run"
    finished = run_here("train", "transducer", "--train", path, "--dev", path, "--out", out, *options)
    assert finished.code == 0, finished.err
    assert json.loads((out / "metrics.json").read_text())["dev"]["exact_match"] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("architecture", BASELINES)
def test_half_precision_comes_close(run, architecture):
    dropouts = (
        {"model__layer_dropout": 0.0, "model__recurrent_dropout": 0.0} if architecture == "lstm" else {}
    )
    dropouts |= {"model__dropout": 0.0} if architecture == "transformer" else {}
    assert_half_precision_is_close(partial(run, architecture, **dropouts))
