"""Readers whose last layers are trained: the same vectors before training, saved and loaded after it."""

import json
import signal

import pytest
import torch

import ftor
from ftor.config import Config, ConfigError, TrainingConfig
from ftor.datasets.mirror import mirror
from ftor.errors import FtorError
from ftor.model import folder as model_folder
from ftor.model.tensors import load_tensors
from ftor.text import readers
from ftor.text.readers import Reader, TrainedReader
from ftor.text.reading import write_pairs
from ftor.training.joining import join
from ftor.training.schedule import parameter_groups
from ftor.training.trainer import Trainer
from support import tiny_encoder
from support.tiny import assert_same_run, run_here, train_arguments

pytest.importorskip("transformers")

SENTENCES = [("a", "bcd", "e"), ("bcd",), ("k", "a", "a", "jih"), ("a",) * 40]


@pytest.fixture(scope="module", params=tiny_encoder.KINDS)
def encoder(request, tmp_path_factory):
    """Give the folder of an encoder of two layers. Read only."""
    return tiny_encoder.write(tmp_path_factory.mktemp(request.param), kind=request.param)


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return tiny_encoder.write(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def train(bert, data, tmp_path, monkeypatch):
    return tiny_encoder.training(bert, data, tmp_path, monkeypatch, layers=1)


@pytest.mark.parametrize("trained", [1, 2])
@pytest.mark.parametrize("start", [True, False])
def test_before_training_vectors_are_those_of_the_frozen_reader(encoder, tmp_path, trained, start):
    wanted = Reader(str(encoder), tmp_path / "cache").batch(SENTENCES, start).values
    reader = TrainedReader(str(encoder), trained)
    top = reader.top_layers().eval()
    top.load_state_dict(reader.top_weights())
    pieces, positions = reader.batch(SENTENCES, start)
    found = top(pieces, positions, wanted.shape[1])
    for row, tokens in enumerate(SENTENCES):
        length = len(tokens) + start
        torch.testing.assert_close(found[row, :length], wanted[row, :length], atol=1e-5, rtol=1e-4)


def test_only_the_last_layers_are_trained_and_saved(train, bert):
    folder = train(training__reader_learning_rate=0.01)
    before = load_tensors(bert / "model.safetensors")[0]
    weights, _ = load_tensors(folder / "model.safetensors")
    prefix = "encoder.layer.1."
    layer = {name.removeprefix(prefix): tensor for name, tensor in before.items() if name.startswith(prefix)}
    saved = {name: tensor for name, tensor in weights.items() if name.startswith("reader.")}
    assert len(saved) == len(layer) > 0, "one layer of two, without embeddings"
    for name, tensor in layer.items():
        assert not saved[f"reader.encoder.encoder.layer.0.{name}"].equal(tensor), name
    after = load_tensors(bert / "model.safetensors")[0]
    assert all(tensor.equal(after[name]) for name, tensor in before.items())
    count = sum(tensor.numel() for tensor in layer.values())
    recorded = json.loads((folder / "metrics.json").read_text())["reader"]
    assert (recorded["trained"], recorded["parameters"] > count) == (count, True)


def test_a_loaded_model_gives_the_same_scores(train):
    folder = train(training__reader_learning_rate=0.01)
    sentences = ["a b c", "k", "b a b a"]
    model = ftor.load(folder)
    together = model.predict(sentences, n_best=2)
    for sentence, one in zip(sentences, together, strict=True):
        (alone,) = ftor.load(folder).predict([sentence], n_best=2)
        assert alone.text == one.text
        assert alone.score == pytest.approx(one.score, abs=1e-4)
    logged = json.loads((folder / "log.jsonl").read_text().splitlines()[-1])
    assert logged["dev_loss"] > 0
    other = folder.parent / "other"
    model.save(other)
    assert ftor.load(other).predict(sentences)[0].score == pytest.approx(together[0].score, abs=1e-5)


def test_everything_is_there_after_loading(encoder, data, tmp_path, monkeypatch):
    """Also what is not saved, such as the frequencies of rotary positions."""
    folder = tiny_encoder.training(encoder, data, tmp_path, monkeypatch, layers=1)()
    (predicted,) = ftor.load(folder).predict(["a b c"])
    reader = ftor.load(folder).network.reader
    assert {tensor.device.type for tensor in (*reader.parameters(), *reader.buffers())} == {"cpu"}
    assert predicted.score <= 0


def test_the_same_seed_gives_the_same_model_with_averaged_weights(train):
    folders = [train(name, training__average_epochs=1.0) for name in ("one", "two")]
    one, other = (load_tensors(folder / "model.safetensors")[0] for folder in folders)
    assert all(tensor.equal(other[name]) for name, tensor in one.items())


def test_a_run_that_was_stopped_and_resumed_ends_with_the_same_weights(tmp_path, bert, monkeypatch):
    step, steps = Trainer.step, []

    def interrupt(*arguments):
        steps.append(arguments)
        if len(steps) == 4:
            signal.raise_signal(signal.SIGINT)
        return step(*arguments)

    for split in ("train", "dev", "test"):  # much padding
        write_pairs(mirror(25, range(1, 20), seed=len(split)), tmp_path / f"{split}.tsv")
    train = tiny_encoder.training(bert, tmp_path, tmp_path, monkeypatch, layers=1)
    whole = train("whole", training__reader_learning_rate=0.01)
    model_folder._reader.cache_clear()  # as in a process of its own
    settings = {"model.reader": str(bert), "model.reader_layers": 1, "training.reader_learning_rate": 0.01}
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "step", interrupt)
        stopped = run_here(*train_arguments(tmp_path, tmp_path / "stopped", settings))
    assert (stopped.code, len(steps)) == (1, 4)
    model_folder._reader.cache_clear()
    resumed = run_here("train", "--resume", tmp_path / "stopped")
    assert resumed.code == 0, resumed.err
    assert_same_run(tmp_path / "stopped", whole)


def test_what_frozen_layers_compute_does_not_depend_on_other_sentences(encoder):
    together = TrainedReader(str(encoder), 1).batch(SENTENCES, start=True)
    for row, tokens in enumerate(SENTENCES):
        alone, positions = TrainedReader(str(encoder), 1).batch([tokens], start=True)
        assert torch.equal(together.values[row, : alone.shape[1]], alone[0])
        assert torch.equal(together.positions[row, : alone.shape[1]], positions[0])


def test_training_sentences_are_read_once(encoder, monkeypatch):
    reader = TrainedReader(str(encoder), 1)
    reader.prepare(SENTENCES)
    monkeypatch.setattr(TrainedReader, "_layers", lambda _, new: iter(map(pytest.fail, map(str, new))))
    reader.batch(SENTENCES[::-1], start=True)
    reader.vectors(SENTENCES)


def test_memory_is_bounded(encoder, monkeypatch):
    monkeypatch.setattr(readers, "KEPT", 2)
    reader = TrainedReader(str(encoder), 1)
    reader.prepare(SENTENCES)
    assert len(reader._known_pieces) <= 2
    for tokens in SENTENCES:
        reader.batch([tokens], start=True)
    assert len(reader._known_pieces) <= 2


def test_rescored_models_that_train_layers_of_a_reader_make_no_committee(train):
    folder = train(training__epochs=1, model__rescorer="lstm", model__rescorer_hidden=4)
    with pytest.raises(FtorError, match="expected an LSTM, or a transducer that does not have both"):
        ftor.load([folder, folder])


def test_joined_models_keep_the_layers_that_each_has_trained(train, tmp_path):
    runs = [train(str(seed), training__epochs=1, training__seed=seed) for seed in range(2)]
    join(runs, tmp_path / "joined")
    found, wanted = (ftor.load(one).predict(["a bcd e", "k a"]) for one in (tmp_path / "joined", runs))
    assert [one.score for one in found] == pytest.approx([one.score for one in wanted], abs=1e-4)


def test_the_reader_has_a_learning_rate_of_its_own(train):
    network = ftor.load(train()).network
    groups = parameter_groups(network, TrainingConfig(learning_rate=0.5, reader_learning_rate=0.25))
    sizes = {group["lr"]: sum(p.numel() for p in group["params"]) for group in groups}
    assert sizes.keys() == {0.5, 0.25}
    assert sizes[0.25] == network.reader_parameters > 0
    assert TrainingConfig().reader_learning_rate == 2e-5


def test_more_layers_than_there_are(data, tmp_path, bert):
    values = {"model.reader": str(bert), "model.reader_layers": 3}
    finished = run_here(*train_arguments(data, tmp_path / "run", values))
    assert finished.code == 1
    assert f"model.reader_layers: expected at most 2, which {bert} has, found 3" in finished.err
    with pytest.raises(ConfigError, match="reader_layers: needs a reader, found 2 without one"):
        Config.load("transducer", ["model.reader_layers=2"])


@pytest.mark.parametrize("forward", [lambda self, x, *_, **__: x + 1, lambda self: None])
def test_layers_that_compute_something_else_alone(bert, monkeypatch, forward):
    reader = TrainedReader(str(bert), 1)
    reader.prepare(SENTENCES)
    cut = readers.cut

    def cut_and_changed(encoder, *sizes):
        cut(encoder, *sizes)
        encoder.encoder.forward = forward.__get__(encoder.encoder)

    monkeypatch.setattr(readers, "cut", cut_and_changed)
    with pytest.raises(FtorError, match=r"model.reader_layers: BertModel is not a stack of layers"):
        reader.top_weights()


def test_what_is_no_stack_of_layers(bert, monkeypatch):
    reader = TrainedReader(str(bert), 1)
    monkeypatch.setattr(TrainedReader, "_from_description", lambda self: torch.nn.Linear(2, 2))
    with pytest.raises(FtorError, match=r"model.reader_layers: Linear is not a stack of layers"):
        reader.top_layers()
