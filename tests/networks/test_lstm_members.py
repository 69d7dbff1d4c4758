"""Several LSTMs: each token has the mean of their probabilities, in scores and in the search."""

from itertools import product

import pytest
import torch

import ftor
from ftor.config import LSTMConfig
from ftor.networks.lstm import LSTMSeq2Seq
from ftor.networks.lstm_members import LSTMMembers
from ftor.networks.network import UNCONSTRAINED
from support.small_networks import SHORT_PAIRS, seq2seq, whole_batch
from support.tiny import run_here, train_arguments


@pytest.fixture
def several():
    torch.manual_seed(3)
    made = [seq2seq("lstm", max_steps=4) for _ in range(3)]
    return LSTMMembers([network for network, _ in made]).double().eval(), made[0][1]


@torch.no_grad()
def test_losses_are_those_of_the_mean_probability(several):
    network, words = several
    batch = whole_batch(words, SHORT_PAIRS)
    mean = torch.stack([(-member.losses(batch)).exp() for member in network.lstms]).mean(0)
    torch.testing.assert_close(network.losses(batch), -mean.log())
    each = torch.stack([member(batch).tokens for member in network.lstms])
    torch.testing.assert_close(network(batch).tokens, each.mean(0))


@torch.no_grad()
def test_the_search_finds_the_best_of_all_outputs(several):
    network, words = several
    batch = words.source_batch([pair.source for pair in SHORT_PAIRS])
    found = network.beam(batch, UNCONSTRAINED, 200)
    outputs = [list(o) for length in range(4) for o in product(range(network.classes), repeat=length)]
    for row, some in enumerate(found):
        same = batch.take(torch.tensor([row] * len(outputs)))
        scores = [sum(score.tokens) + score.end for score in network.score(same, outputs)]
        best = max(range(len(outputs)), key=scores.__getitem__)
        assert some[0].choices == outputs[best]
        assert some[0].score == pytest.approx(scores[best])


def test_members_are_trained_saved_and_loaded(data, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} 0.1 {number} -1\n" for number, word in enumerate("abcdefghijk")))
    sizes = {"model.architecture": "lstm", "model.width": 8, "model.hidden": 6, "model.members": 2}
    settings = sizes | {"data.vectors": str(vectors), "training.epochs": 1}
    finished = run_here(*train_arguments(data, tmp_path / "run", settings))
    assert finished.code == 0, finished.err
    model = ftor.load(tmp_path / "run")
    first, second = model.network.lstms
    assert first.vectors.weight.shape[1] == 3
    assert not torch.equal(first.output.weight, second.output.weight)
    assert "2 LSTMs" in (tmp_path / "run" / "README.md").read_text()
    sentences = ["a b c", "k", "b a b a"]
    for sentence, one in zip(sentences, model.predict(sentences), strict=True):
        (alone,) = model.predict([sentence])
        assert (alone.text, alone.score) == (one.text, pytest.approx(one.score, abs=1e-4))


def test_each_table_gets_new_words_once():
    """Also if some of them follow another one already, as in a committee of such models."""
    made = [LSTMSeq2Seq(LSTMConfig(architecture="lstm", width=4, hidden=3), 5, 4, 3) for _ in range(3)]
    LSTMMembers(made[1:])
    together = LSTMMembers(made)
    together.add_vectors(torch.ones(1, 3))
    together.add_vectors(torch.zeros(1, 3))
    for network in made:
        assert network.vectors(torch.tensor([5, 6])).shape == (2, 4)
        with pytest.raises(IndexError):
            network.vectors(torch.tensor([7]))
    together.forget_vectors()
    with pytest.raises(IndexError):
        made[2].vectors(torch.tensor([5]))
