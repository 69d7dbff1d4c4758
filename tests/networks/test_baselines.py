"""The baselines through the same commands as the transducer: train, go on, predict, evaluate."""

import json
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from accelerate.state import AcceleratorState

import ftor
from ftor.config import Config
from ftor.grammar import Grammar
from ftor.model.tensors import load_tensors
from ftor.networks import Constraint
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair
from ftor.text.subwords import SubwordVocabularies
from ftor.training.trainer import Trainer
from support import tiny_bart
from support.tiny import assert_same_run, run_here

ARCHITECTURES = ("lstm", "transformer", "bart")
SENTENCES = ["a b c", "k", "d d e a b c", "f g h i"]
SIZES = {
    "lstm": {"width": 8, "hidden": 6, "decoder_layers": 2, "max_steps": 12},
    "transformer": {"width": 8, "heads": 2, "layers": 1, "hidden": 8, "max_steps": 12, "beam": 5},
    "bart": {"max_steps": 12},
}


@pytest.fixture(scope="module")
def pretrained(data, tmp_path_factory):
    """Give the folder of a tiny BART. Read only."""
    pytest.importorskip("transformers")
    lines = (data / "train.tsv").read_text().replace("\t", "\n").splitlines()
    return tiny_bart.write(tmp_path_factory.mktemp("pretrained"), lines)


@pytest.fixture(scope="module")
def arguments(data, request):
    """What to give to `ftor` for a run of an architecture."""

    def make(architecture, out, **settings):
        model = {"architecture": architecture, **SIZES[architecture]}
        if architecture == "bart":
            model["pretrained"] = str(request.getfixturevalue("pretrained"))
        values = {f"model.{key}": value for key, value in model.items()}
        values |= {"training.epochs": 2, "training.batch_size": 8}
        values |= {key.replace("__", "."): value for key, value in settings.items()}
        splits = ("train", "dev", "test")
        files = [part for split in splits for part in (f"--{split}", data / f"{split}.tsv")]
        chosen = [part for key, value in values.items() for part in ("--set", f"{key}={json.dumps(value)}")]
        return ["train", "transducer", *files, "--out", out, *chosen]

    return make


@pytest.fixture
def run(arguments, tmp_path):
    """Train a baseline with some settings; gives the folder."""

    def train(architecture, name="run", **settings):
        finished = run_here(*arguments(architecture, tmp_path / name, **settings))
        assert finished.code == 0, finished.err
        return tmp_path / name

    return train


class Folders(dict):
    """The folders of finished runs, each trained when it is first asked for."""

    def __init__(self, arguments, parent):
        self.arguments, self.parent = arguments, parent

    def __missing__(self, architecture):
        folder = self.parent / architecture
        finished = run_here(*self.arguments(architecture, folder))
        assert finished.code == 0, finished.err
        self[architecture] = folder
        return folder


@pytest.fixture(scope="module")
def folders(arguments, tmp_path_factory):
    """Give the folder of a finished run of each architecture. Read only."""
    return Folders(arguments, tmp_path_factory.mktemp("trained"))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
class TestAll:
    def test_the_folder_is_like_any_other(self, folders, architecture):
        folder = folders[architecture]
        names = {path.name for path in folder.iterdir() if "checkpoint" not in path.name}
        wanted = {"config.toml", "vocab.json", "model.safetensors", "metrics.json", "log.jsonl", "README.md"}
        assert names == wanted | ({"pretrained"} if architecture == "bart" else set())
        metrics = json.loads((folder / "metrics.json").read_text())
        assert {"length_error", "by_length", "exact_match"} <= set(metrics["test"])
        assert "baseline" in (folder / "README.md").read_text()
        assert "ftor explain" not in (folder / "README.md").read_text()

    def test_the_same_seed_gives_the_same_run_also_when_gone_on_with(self, run, architecture):
        """Stopped in the middle of an epoch, with rates that depend on the step."""
        settings = {"training__schedule": "linear", "training__warmup_steps": 3, "training__epochs": 3}
        whole = run(architecture, "whole", **settings)
        count, step = [], Trainer._step

        def interrupted(self, rows):
            count.append(rows)
            if len(count) == 6:
                signal.raise_signal(signal.SIGINT)
            return step(self, rows)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Trainer, "_step", interrupted)
            with pytest.raises(AssertionError, match="stopped; to resume"):
                run(architecture, "stopped", **settings)
        folder = whole.parent / "stopped"
        assert load_tensors(folder / "checkpoint.safetensors")[1]["step"] == 2
        finished = run_here("train", "--resume", folder)
        assert finished.code == 0, finished.err
        assert_same_run(folder, whole)

    def test_more_epochs_are_those_of_a_longer_run(self, run, architecture):
        folder = run(architecture, "short", training__epochs=1)
        finished = run_here("train", "--resume", folder, "--set", "training.epochs=2")
        assert finished.code == 0, finished.err
        assert_same_run(folder, run(architecture, "long"))

    def test_a_loaded_model_predicts_what_was_evaluated(self, folders, data, architecture):
        finished = run_here("evaluate", folders[architecture], data / "test.tsv", "--json")
        assert finished.code == 0, finished.err
        found, metrics = (
            json.loads(finished.out),
            json.loads((folders[architecture] / "metrics.json").read_text()),
        )
        assert found == metrics["test"]

    def test_predictions_do_not_depend_on_the_rest_of_the_batch(self, folders, architecture):
        model = ftor.load(folders[architecture])
        together = model.predict(SENTENCES)
        for batch_size in (1, 3):
            for one, other in zip(model.predict(SENTENCES, batch_size=batch_size), together, strict=True):
                assert one.tokens == other.tokens
                assert one.score == pytest.approx(other.score, abs=1e-4)
        assert all(found.score < 0 and found.length_score is None for found in together)

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
    def test_what_only_transducers_have_is_refused(self, folders, architecture, command):
        finished = run_here(*(folders[architecture] if part == "DIR" else part for part in command))
        assert (finished.code, finished.out) == (1, "")
        assert f"this model is not a transducer: {architecture} has no" in finished.err

    def test_predict_writes_json_lines(self, folders, architecture):
        finished = run_here("predict", folders[architecture], *SENTENCES)
        assert finished.code == 0, finished.err
        lines = [json.loads(line) for line in finished.out.splitlines()]
        assert [line["source"] for line in lines] == SENTENCES
        assert all(line["tokens"] == line["prediction"].split() for line in lines)

    def test_a_grammar_chooses_from_the_beam(self, folders, architecture):
        """What it refuses is passed over, in the order of scores."""
        model = ftor.load(folders[architecture])
        batch = model.vocabularies.source_batch([("a", "b"), ("c",)])
        asked = {0: [], 1: []}

        def accepts(row, tokens):
            asked[row].append(tokens)
            return len(asked[row]) == 4 * (row + 1)

        found = model.network.decode(batch, 1, Constraint(accepts=accepts))
        assert [one.choices for one in found] == [asked[0][-1], asked[1][-1]]
        assert [len(asked[row]) for row in (0, 1)] == [4, 8]
        plain = model.network.decode(batch)
        assert all(one.score < best.score for one, best in zip(found, plain, strict=True))


@pytest.mark.parametrize("architecture", ["lstm", "transformer"])
def test_any_grammar_can_choose(folders, architecture):
    model = ftor.load(folders[architecture])
    (plain,) = model.predict(["a b c"])
    wanted = "W" if len(plain.tokens) != 1 else "W W"
    (found,) = model.predict(["a b c"], grammar=Grammar.parse(f"S -> {wanted}\nW -> {words(model)}"))
    assert found.well_formed
    assert len(found.tokens) == len(wanted.split())
    assert found.score < plain.score


def words(model):
    return " | ".join(f"'{token}'" for token in model.vocabularies.target.tokens)


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
    chosen = [part for key, value in settings.items() for part in ("--set", f"{key}={json.dumps(value)}")]
    path = tmp_path / "pairs.tsv"
    out = tmp_path / "run"
    finished = run_here("train", "transducer", "--train", path, "--dev", path, "--out", out, *chosen)
    assert finished.code == 0, finished.err
    assert json.loads((out / "metrics.json").read_text())["dev"]["exact_match"] > 0.9


class TestBart:
    def test_loads_without_the_pretrained_model(self, folders, data, pretrained, tmp_path):
        folder = shutil.copytree(folders["bart"], tmp_path / "moved")
        text = (folder / "config.toml").read_text()
        (folder / "config.toml").write_text(text.replace(str(pretrained), "/nowhere"))
        found = ftor.load(folder).predict(SENTENCES)
        wanted = ftor.load(folders["bart"]).predict(SENTENCES)
        assert [one.tokens for one in found] == [one.tokens for one in wanted]

    def test_begins_with_the_pretrained_weights(self, data, pretrained, run):
        folder = run("bart", training__epochs=1, training__learning_rate=1e-30)
        weights = load_tensors(folder / "model.safetensors")[0]
        before = load_tensors(pretrained / "model.safetensors")[0]
        assert len(before) > 20
        for name, value in before.items():
            torch.testing.assert_close(weights[f"bart.{name}"], value, rtol=0, atol=1e-20)

    def test_shared_embeddings_are_kept_once_and_stay_shared(self, folders):
        weights = load_tensors(folders["bart"] / "model.safetensors")[0]
        assert (
            sum(value.shape == weights["bart.model.shared.weight"].shape for value in weights.values()) == 1
        )
        bart = ftor.load(folders["bart"]).network.bart
        assert bart.lm_head.weight is bart.model.shared.weight is bart.model.decoder.embed_tokens.weight

    def test_texts_are_read_and_written_in_subwords(self, folders):
        vocabularies = ftor.load(folders["bart"]).vocabularies
        assert isinstance(vocabularies, SubwordVocabularies)
        ids = vocabularies.target_classes((), ("a", "B", "unheard", ".", "'s"))
        assert (ids[0], ids[-1]) == (0, 2)
        assert len(ids) > 7
        assert vocabularies.output(ids, ()) == ("a", "B", "unheard", ".", "'s")

    def test_text_that_is_too_long_is_refused(self, folders):
        finished = run_here("predict", folders["bart"], "a " * 70)
        assert finished.code == 1
        assert "expected text of at most 64 subwords, found" in finished.err

    def test_labels_are_smoothed_in_training_only(self, folders):
        model = ftor.load(folders["bart"])
        network, batch = model.network, self.batch(model)
        plain = network(batch).tokens
        for module in network.modules():
            module.p = 0.0  # no dropout
        network.bart.config.dropout = network.bart.config.activation_dropout = 0.0
        logits = network.bart(
            input_ids=batch.source,
            decoder_input_ids=torch.cat([torch.tensor([[2]]), batch.target[:, :-1]], 1),
        ).logits
        log_p = logits.log_softmax(-1)[0]
        golds = log_p.gather(1, batch.target.T).squeeze(1)
        assert plain.item() == pytest.approx(-golds.mean().item(), rel=1e-5)
        smoothed = -(0.9 * golds + 0.1 * log_p.mean(1)).mean().item()
        network.training = True
        assert network(batch).tokens.item() == pytest.approx(smoothed, rel=1e-5)

    def test_scores_are_log_probabilities(self, folders):
        model = ftor.load(folders["bart"])
        batch = self.batch(model)
        (found,) = model.network.decode(model.vocabularies.source_batch([("a", "b")]))
        assert 2 not in found.choices, "the end is not one of an output's tokens"
        written = found.choices + [2] * (len(found.choices) < model.config.model.max_steps)
        length = len(written)
        gold = replace(batch, target=torch.tensor([written]), target_lengths=torch.tensor([length]))
        assert found.score == pytest.approx(-length * model.network(gold).tokens.item(), rel=1e-4)

    @staticmethod
    def batch(model):
        return EncodedPairs([Pair(("a", "b"), ("a", "b", "b", "a"), 1)], model.vocabularies).batch(
            torch.tensor([0])
        )

    def test_a_model_that_is_not_there_is_named(self, arguments, tmp_path, monkeypatch):
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        finished = run_here(*arguments("bart", tmp_path / "run", model__pretrained=str(tmp_path / "none")))
        assert finished.code == 1
        assert f"model.pretrained: expected the folder of a BART, found no folder {tmp_path}" in finished.err
        assert not (tmp_path / "run").exists()

    def test_a_name_that_is_not_there_is_named(self, arguments, tmp_path, monkeypatch):
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        finished = run_here(*arguments("bart", tmp_path / "run", model__pretrained="no-such-model"))
        assert finished.code == 1
        assert "model.pretrained: expected the folder of a BART, or its name" in finished.err
        assert "give its folder" in finished.err


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_half_precision_comes_close(run, architecture):
    dropouts = (
        {"model__layer_dropout": 0.0, "model__recurrent_dropout": 0.0} if architecture == "lstm" else {}
    )
    dropouts |= {"model__dropout": 0.0} if architecture == "transformer" else {}
    losses = []
    for precision in ("bf16", "no"):
        AcceleratorState._reset_state()  # accelerate allows one precision in a process
        folder = run(architecture, precision, training__precision=precision, **dropouts)
        lines = (folder / "log.jsonl").read_text().splitlines()
        losses.append([json.loads(line)["dev_loss"] for line in lines])
    assert losses[0] == pytest.approx(losses[1], rel=0.05)
    assert losses[0] != losses[1]


def test_a_bart_goes_on_without_the_original(run, pretrained, tmp_path):
    folder = run("bart")
    assert run_here("train", "--resume", folder, "--set", "training.epochs=3").code == 0
    with_original = load_tensors(folder / "model.safetensors")[0]
    shutil.copytree(pretrained, tmp_path / "moved")
    again = run("bart", "again", model__pretrained=str(tmp_path / "moved"))
    shutil.rmtree(tmp_path / "moved")
    finished = run_here("train", "--resume", again, "--set", "training.epochs=3")
    assert finished.code == 0, finished.err
    without = load_tensors(again / "model.safetensors")[0]
    assert all(with_original[name].equal(without[name]) for name in without)


def test_a_text_of_too_many_subwords_is_named_with_its_line(data, arguments, tmp_path):
    lines = (data / "train.tsv").read_text().splitlines()
    lines[2] = "a " * 400 + "\ta"
    (tmp_path / "long.tsv").write_text("\n".join(lines) + "\n")
    chosen = arguments("bart", tmp_path / "run")
    chosen[chosen.index("--train") + 1] = tmp_path / "long.tsv"
    finished = run_here(*chosen)
    assert finished.code == 1
    assert "line 3: expected text of at most" in finished.err


def test_a_run_whose_rates_fall_has_the_epochs_that_it_began_with(run):
    folder = run("lstm", training__schedule="linear")
    assert "training.epochs=N" not in (folder / "README.md").read_text()
    finished = run_here("train", "--resume", folder, "--set", "training.epochs=3")
    assert finished.code == 2
    assert "--set training.epochs: a resumed run keeps its settings" in finished.err


def test_no_clipping_leaves_large_gradients_alone(run):
    """Adam's steps do not depend on the gradient's scale, but on how it changes from step to step."""
    weights = [
        load_tensors(run("lstm", str(clip), training__clip_norm=clip) / "model.safetensors")[0]
        for clip in (0.0, 1e9, 0.01)
    ]
    assert all(weights[0][name].equal(weights[1][name]) for name in weights[0])
    assert not all(weights[0][name].equal(weights[2][name]) for name in weights[0])


def test_vectors_of_new_words_are_looked_up(data, tmp_path, arguments):
    lines = [f"{word} {number}.0 1.0 -1.0" for number, word in enumerate("abcdefghijkz")]
    (tmp_path / "vectors.txt").write_text("\n".join(lines))
    out = tmp_path / "run"
    finished = run_here(*arguments("lstm", out, data__vectors=str(tmp_path / "vectors.txt")))
    assert finished.code == 0, finished.err
    model = ftor.load(out)
    model.predict([["a", "z"]])
    assert model.network.embedding.weight.requires_grad
    assert model.network.embedding._later.tolist() == [[11.0, 1.0, -1.0]]


def test_a_grammar_that_accepts_nothing_in_the_beam_is_told(folders, tmp_path):
    (tmp_path / "other.cfg").write_text("S -> 'other'")
    finished = run_here("predict", folders["lstm"], "a b c", "--grammar", tmp_path / "other.cfg")
    assert finished.code == 0
    assert (
        "1 of 1 outputs do not derive from the grammar, which derives none in the model's beam"
        in finished.err
    )
    assert json.loads(finished.out)["well_formed"] is False


def test_own_grammar_is_evaluated_with_a_beam(run, tmp_path):
    grammar = tmp_path / "two.cfg"
    grammar.write_text("S -> W W\nW -> " + " | ".join(f"'{symbol}'" for symbol in "abcdefghijk"))
    folder = run("lstm", decoding__grammar=str(grammar))
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["test_grammar"]["shares"]["well_formed"] == 1.0
    assert metrics["test"]["shares"]["well_formed"] < 1.0
    assert Path(folder / "grammar.cfg").is_file()
    assert Config.load(folder / "config.toml").model.grammar_beam == 50
