"""Collapses: measured as defined, noticed in a run that collapses, and not in one that learns."""

import math
import random

import pytest
import torch

from ftor.config import Config
from ftor.networks import build
from ftor.reporting import Report
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.vocabularies import Vocabularies
from ftor.training.collapse import LONGEST, collapse, measure, sampled
from ftor.training.run import Run
from support.pairs import pairs_of

SMALL = ["model.width=64", "model.scorer_hidden=128", "model.fertility_hidden=64", "model.decoder_hidden=64"]
BAD = {"sample_tokens": 2.0, "reordering_entropy": 0.0, "identity": 1.0, "fertility_bound": 0.2}
GOOD = BAD | {"sample_tokens": 0.1}
UNSURE = BAD | {"reordering_entropy": 1.0}


def encoded(rows, order):
    torch.manual_seed(0)
    config = Config.load("transducer", [*SMALL, f'model.order="{order}"'])
    pairs = pairs_of(rows)
    network, vocabularies = build(config, Vocabularies.of(pairs))
    return network, EncodedPairs(pairs, vocabularies)


@pytest.mark.parametrize("order", ["fertility-reordering", "reordering-fertility", "fertility"])
def test_measures_are_those_of_single_pairs(order):
    """The oracle: each pair alone, its tokens one by one."""
    network, pairs = encoded([("a b c", "x y"), ("b", "y y z"), ("c a", "z x")], order)
    at_bound, kept, entropies, losses = [], [], [], []
    for row in range(len(pairs)):
        batch = pairs.batch(torch.tensor([row]))
        network.eval()
        with torch.no_grad():
            reading, alignment = network.explain(batch, batch.target_lengths)
            losses += [float(network(batch).tokens)]
        fertilities = reading.fertility.given(batch.target_lengths).argmax[0].tolist()
        at_bound += [fertility in (0, 4) for fertility in fertilities]
        if alignment.permutation is not None:
            moves = alignment.permutation.marginals[0].tolist()
            entropies += [-sum(p * math.log(p) for p in places if p > 0) for places in moves]
            if len(moves) > 1:
                kept.append(all(places.index(max(places)) == k for k, places in enumerate(moves)))
    found = measure(network, pairs, torch.arange(3))
    assert found["sample_tokens"] == pytest.approx(sum(losses) / 7)
    assert found["fertility_bound"] == pytest.approx(sum(at_bound) / len(at_bound))
    if order == "fertility":
        assert "identity" not in found
    else:
        assert found["reordering_entropy"] == pytest.approx(sum(entropies) / len(entropies), abs=1e-5)
        assert found["identity"] == pytest.approx(sum(kept) / len(kept))


def test_nothing_is_drawn():
    network, pairs = encoded([("a b c", "x y")], "fertility-reordering")
    before = torch.get_rng_state()
    assert measure(network, pairs, torch.arange(1)) == measure(network, pairs, torch.arange(1))
    assert torch.equal(before, torch.get_rng_state())


def test_long_pairs_are_not_looked_at():
    long = " ".join("ab" * LONGEST)
    network, pairs = encoded([(long, long), ("a", "b")] * 50, "fertility-reordering")
    rows = sampled(pairs)
    assert len(rows) == 32
    assert set(rows.remainder(2).tolist()) == {1}
    assert measure(network, pairs, rows[:0]) == {}


@pytest.mark.parametrize(
    ("history", "word"),
    [
        ([BAD] * 3, "100 % of which keep all tokens"),
        ([GOOD, BAD, BAD, BAD], "reordering is sure"),
        ([BAD] * 2, ""),
        ([BAD, BAD, GOOD], ""),
        ([BAD, UNSURE, BAD], ""),
        ([UNSURE | {"fertility_bound": 1.0}] * 3, "100 % of the words write nothing"),
        ([{"sample_tokens": 2.0, "fertility_bound": 0.5}] * 3, ""),
        ([{}] * 5, ""),
    ],
)
def test_what_is_a_collapse(history, word):
    found = collapse(history)
    assert word in found
    assert bool(found) == bool(word)


class Warnings(Report):
    def __init__(self):
        self.warned = []

    def warn(self, text):
        self.warned.append(text)


def some_reversed(count, seed):
    """Words in capitals, in their order after `say` and reversed after `rev`."""
    draw = random.Random(seed)
    for _ in range(count):
        words = [draw.choice("abcdefghij") for _ in range(draw.randint(3, 7))]
        turned = draw.random() < 0.2
        target = " ".join(reversed(words) if turned else words).upper()
        yield f"{'rev' if turned else 'say'} {' '.join(words)}\t{target}\n"


@pytest.mark.slow
@pytest.mark.parametrize(("rates", "collapses"), [((0.001, 0.5), True), ((0.005, 0.005), False)])
def test_a_run_that_collapses_is_noticed_once(tmp_path, rates, collapses):
    """A scorer that learns far too fast makes up its mind before the words are known: all orders are kept."""
    for name, count in (("train", 300), ("dev", 20)):
        (tmp_path / f"{name}.tsv").write_text("".join(some_reversed(count, count)))
    files = [f'data.{name}="{tmp_path / name}.tsv"' for name in ("train", "dev")]
    training = [f"training.learning_rate={rates[0]}", f"training.scorer_learning_rate={rates[1]}"]
    training += ["training.epochs=5", "training.batch_size=16"]
    report = Warnings()
    config = Config.load("transducer", [*SMALL, *files, *training])
    Run(config, tmp_path / "run").train(None, report, None)
    assert ["the reordering is sure of its orders, 100 % of" in text for text in report.warned] == (
        [True] if collapses else []
    )
