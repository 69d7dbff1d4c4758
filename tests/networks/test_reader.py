"""Networks that read the vectors of a pretrained encoder: trained, saved, loaded, in batches and alone."""

import json
from itertools import pairwise

import pytest
import torch

import ftor
from ftor.errors import FtorError
from ftor.model.tensors import load_tensors
from ftor.nn.contextual import ContextualEmbedding
from ftor.text.batches import SourceBatch
from support import tiny_encoder
from support.small_networks import ORDERS
from support.tiny import run_here, train_arguments

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """Give the folder of an encoder. Read only."""
    return tiny_encoder.write(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def train(encoder, data, tmp_path, monkeypatch):
    return tiny_encoder.training(encoder, data, tmp_path, monkeypatch)


@pytest.mark.parametrize("order", ORDERS)
def test_a_model_is_trained_and_loaded(train, order):
    gives_the_same_in_batches_and_alone(ftor.load(train(model__order=order)))


def gives_the_same_in_batches_and_alone(model):
    sentences = ["a b c", "k", "b a b a"]
    together = model.predict(sentences, n_best=3)
    for sentence, one in zip(sentences, together, strict=True):
        (alone,) = model.predict([sentence], n_best=3)
        assert alone.text == one.text
        assert alone.score == pytest.approx(one.score, abs=1e-4)
        if one.text:  # an LSTM that has not learnt anything writes nothing, which is no output to score
            assert model.score([sentence], [one.text])[0].score == pytest.approx(one.score, abs=1e-4)
        if one.structure is not None:
            assert one.structure.alignment.shape == (len(one.source), one.length)


@pytest.mark.parametrize("layers", [0, 1])
def test_a_rescorer_reads_what_its_transducer_reads(encoder, data, tmp_path, monkeypatch, layers):
    train = tiny_encoder.training(encoder, data, tmp_path, monkeypatch, layers)
    model = ftor.load(train(model__rescorer="lstm", model__rescorer_hidden=4, model__copying=False))
    assert model.network.rescorer.contextual.mean.equal(model.network.contextual.mean)
    gives_the_same_in_batches_and_alone(model)


@pytest.mark.parametrize("members", [1, 2])
def test_an_lstm_reads_words_in_their_context(encoder, data, tmp_path, monkeypatch, members):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = {"model.architecture": "lstm", "model.hidden": 8, "model.reader": str(encoder)}
    settings["model.members"] = members
    finished = run_here(*train_arguments(data, tmp_path / "run", settings))
    assert finished.code == 0, finished.err
    model = ftor.load(tmp_path / "run")
    assert f"It needs the encoder {encoder}" in (tmp_path / "run" / "README.md").read_text()
    gives_the_same_in_batches_and_alone(model)
    scores = [model.score([f"a {word}"], ["a a"])[0].score for word in ("fed", "kiz")]
    assert scores[0] != pytest.approx(scores[1], abs=1e-4)


def test_a_word_that_training_lacks_has_a_vector_of_its_own(train):
    """Without a reader, all unknown words are the same."""
    model = ftor.load(train())
    scores = [model.score([f"a {word}"], ["a a"])[0].score for word in ("fed", "kiz")]
    assert scores[0] != pytest.approx(scores[1], abs=1e-4)


def test_each_part_reads_what_it_is_told(train, data):
    """What reads type vectors only does not see that a context changes."""
    settings = {f"model__{part}_reads": "type" for part in ("fertility", "reordering", "decoder")}
    network = ftor.load(train("types", **settings)).network
    source, lengths = torch.tensor([[2, 3, 4]]), torch.tensor([3])
    batches = [SourceBatch(source, lengths, vectors=torch.randn(1, 3, 12)) for _ in range(2)]
    one, other = map(network.read, batches)
    parts = (
        lambda reading: reading.fertility.logits,
        lambda reading: reading.inner_x,
        lambda reading: reading.context,
    )
    assert all(torch.equal(part(one), part(other)) for part in parts)
    for number, name in enumerate(settings):
        network = ftor.load(train(name, **settings | {name: "both"})).network
        one, other = map(network.read, batches)
        assert [torch.equal(part(one), part(other)) for part in parts] == [n != number for n in range(3)]


def test_the_encoder_is_not_trained_and_not_saved(train, encoder):
    before = load_tensors(encoder / "model.safetensors")[0]
    folder = train()
    weights, _ = load_tensors(folder / "model.safetensors")
    assert weights["contextual.mean"].shape == (12,)
    read = sum(tensor.numel() for name, tensor in before.items() if not name.startswith("pooler."))
    recorded = json.loads((folder / "metrics.json").read_text())["reader"]
    assert (recorded["name"], recorded["parameters"]) == (str(encoder), read)
    assert sum(tensor.numel() for tensor in weights.values()) < 20_000
    after = load_tensors(encoder / "model.safetensors")[0]
    assert all(tensor.equal(after[name]) for name, tensor in before.items())


def test_a_folder_of_its_name_in_the_data_folder_stands_for_the_hub(data, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    name = "somebody/some-encoder"
    tiny_encoder.write(tmp_path / "here" / name)
    arguments = train_arguments(data, tmp_path / "run", {"model.reader": name})
    finished = run_here(*arguments, "--data-dir", tmp_path / "here")
    assert finished.code == 0, finished.err
    recorded = json.loads((tmp_path / "run" / "metrics.json").read_text())["reader"]
    assert (recorded["name"], len(recorded["sha256"])) == (name, 64)
    sentences = ["a b c"]
    told = ftor.load(tmp_path / "run", data_folder=tmp_path / "here").predict(sentences)
    monkeypatch.setenv("FTOR_DATA", str(tmp_path / "here"))
    assert ftor.load(tmp_path / "run").predict(sentences)[0].text == told[0].text
    monkeypatch.delenv("FTOR_DATA")
    with pytest.raises(FtorError, match=r"model.reader: somebody/some-encoder: .* data folder would be read"):
        ftor.load(tmp_path / "run").predict(sentences)


def test_the_same_seed_gives_the_same_model(train):
    one, other = (load_tensors(train(name) / "model.safetensors")[0] for name in ("one", "two"))
    assert all(tensor.equal(other[name]) for name, tensor in one.items())


def test_vectors_are_centred_and_scaled():
    vectors = 3 + 5 * torch.randn(200, 6, generator=torch.Generator().manual_seed(0))
    layer = ContextualEmbedding(6, 6)
    layer.fit(vectors)
    with torch.no_grad():
        layer.projection.weight.copy_(torch.eye(6))
        layer.projection.bias.zero_()
        read = layer(vectors)
    assert read.mean(0).abs().max() < 1e-5
    assert read.std().item() == pytest.approx(0.4, abs=0.01)
    for first, second in pairwise(range(3)):
        assert torch.equal(vectors[first] > vectors[second], read[first] > read[second])


def test_committees_share_the_reader(train):
    folders = [train("one"), train("two", model__fertility_hidden=9)]
    model = ftor.load(folders)
    assert len(model.network.members) == 2
    assert json.loads(json.dumps(model.predict(["a b"])[0].record("a b")))["prediction"]
