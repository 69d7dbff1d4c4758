"""Vectors of words in their context, against the encoder itself, one sentence at a time."""

import numpy as np
import pytest
import torch

from ftor.errors import FtorError
from ftor.text import readers
from ftor.text.readers import Reader
from support import tiny_encoder

transformers = pytest.importorskip("transformers")

SENTENCES = [("a", "bcd", "e"), ("bcd",), ("k", "a", "a", "jih"), ("a", "e", "bcd")]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """Give the folder of an encoder. Read only."""
    return tiny_encoder.write(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def reader(encoder, tmp_path):
    return Reader(str(encoder), tmp_path / "cache")


def by_hand(encoder, words):
    """The mean of all layers, of the first piece and of the pieces of each word, which are its letters."""
    model = transformers.AutoModel.from_pretrained(encoder).eval()
    pieces = [piece for word in words for piece in (word[0], *(f"##{letter}" for letter in word[1:]))]
    ids = [tiny_encoder.PIECES.index(piece) for piece in ("[CLS]", *pieces, "[SEP]")]
    with torch.no_grad():
        layers = model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
    states, rows, place = torch.stack(layers).mean(0)[0], [], 1
    rows.append(states[0])
    for word in words:
        rows.append(states[place : place + len(word)].mean(0))
        place += len(word)
    return torch.stack(rows).numpy()


def test_vectors_are_means_of_pieces_and_layers(reader, encoder):
    assert reader.size == 12
    for words, found in zip(SENTENCES, reader.vectors(SENTENCES), strict=True):
        np.testing.assert_allclose(found, by_hand(encoder, words), atol=1e-5)
    first, last = (reader.vectors(SENTENCES)[row] for row in (0, 3))
    assert not np.allclose(first[1], last[1], atol=1e-3), "the same word in another context"


def test_batches_are_padded_and_may_begin_with_the_start(reader):
    with_start = reader.batch(SENTENCES[:2], start=True).values
    assert with_start.shape == (2, 4, 12)
    assert with_start[1, 2:].count_nonzero() == 0
    assert torch.equal(reader.batch(SENTENCES[:2], start=False).values, with_start[:, 1:])


def test_sentences_are_read_once_and_kept_in_a_file(reader, encoder, tmp_path, monkeypatch):
    reader.prepare(SENTENCES)
    assert len(list((tmp_path / "cache").iterdir())) == 1
    wanted = reader.vectors(SENTENCES)

    def refuse(self, sentences):
        raise AssertionError(sentences)

    monkeypatch.setattr(Reader, "_compute", refuse)
    reader.vectors(SENTENCES)
    again = Reader(str(encoder), tmp_path / "cache")
    again.prepare(SENTENCES[::-1])
    assert all(map(np.array_equal, again.vectors(SENTENCES), wanted))
    with pytest.raises(AssertionError):
        again.prepare(SENTENCES[:2])
    other = Reader(str(tiny_encoder.write(tmp_path / "other", seed=1)), tmp_path / "cache")
    with pytest.raises(AssertionError):
        other.prepare(SENTENCES)  # the same sentences, another encoder


def test_memory_is_bounded(reader, monkeypatch):
    monkeypatch.setattr(readers, "KEPT", 2)
    for words in SENTENCES:
        reader.vectors([words])
    assert len(reader._known) <= 2


def test_words_beyond_the_longest_have_a_vector(reader):
    (found,) = reader.vectors([("a",) * 40])
    assert found.shape == (41, 12)
    assert np.isfinite(found).all()


def test_what_is_no_encoder(tmp_path):
    with pytest.raises(FtorError, match=r"model.reader: .*: not a pretrained encoder: "):
        Reader(str(tmp_path)).vectors([("a",)])
