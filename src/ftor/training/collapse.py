"""Notices models that collapse: they are sure of wrong orders, or words write nothing or all that they can.

The paper meets the first on Geoquery: within an epoch, all orders are that of the source. Such a model learns
little, and one with another seed may not collapse.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ftor.networks import Network
from ftor.nn.padding import inside
from ftor.reporting import percent
from ftor.text.encoded_pairs import EncodedPairs

PAIRS, LONGEST = 32, 40
"""How many pairs are looked at, and their longest target."""
ALL = 0.95
"""Share of the pairs, or of the words, that is as good as all."""
SURE = 0.05
"""Entropy in nats of the place that a token moves to, below which a model has made up its mind."""
BADLY = 0.4
"""−log P in nats of each target token above which a model has not learnt what it should."""
EPOCHS = 3
"""A model that learns is sure before it is right, but not for so many epochs."""


def sampled(pairs: EncodedPairs) -> torch.Tensor:
    """The rows of some pairs that are not long, evenly spread and always the same."""
    rows = (pairs.lengths("target") <= LONGEST).nonzero().squeeze(1)
    return rows[:: max(1, len(rows) // PAIRS)][:PAIRS]


@torch.no_grad()
def measure(network: Network, pairs: EncodedPairs, rows: torch.Tensor) -> dict[str, float]:
    """How a transducer aligns some pairs, for the log of a run. Nothing is drawn at random.

    Returns:
        `sample_tokens`: −log P of a target token; `fertility_bound`: share of the source tokens whose most
        likely fertility is 0 or the largest. With a reordering `reordering_entropy`, of the place that a
        token moves to, and `identity`: share of the pairs each of whose tokens most likely keeps its place.
        Empty if the network is not a transducer.
    """
    if not len(rows):
        return {}
    batch = pairs.batch(rows).to(next(network.parameters()).device)
    network.eval()
    some = [pairs.pairs[row] for row in rows.tolist()]
    sources = pairs.vocabularies.source_batch(
        [pair.source for pair in some], emphasis=[pair.emphasis for pair in some]
    )
    explained = network.explain(sources.to(batch.source.device), batch.target_lengths)
    if explained is None:
        return {}
    reading, alignment = explained
    fertility = reading.fertility
    best = fertility.given(batch.target_lengths).argmax
    real = inside(fertility.source_lengths, fertility.n)
    at_bound = ((best == 0) | (best == fertility.d)) & real
    found = {
        "sample_tokens": float(network(batch).tokens.sum() / batch.target_lengths.sum()),
        "fertility_bound": float(at_bound.sum() / real.sum()),
    }
    if alignment.permutation is not None:
        # Many trees keep the order, so the entropy of trees would not tell; that of each token's place does.
        moves, lengths = alignment.permutation.marginals, alignment.permutation.lengths
        tokens = inside(lengths, moves.shape[1])
        places = torch.arange(moves.shape[1], device=moves.device)
        kept = ((moves.argmax(-1) == places) | ~tokens).all(1)[lengths > 1]  # one token has one order
        entropy = torch.special.entr(moves).sum(-1)
        found["reordering_entropy"] = float(entropy[tokens].mean())
        found["identity"] = float(kept.float().mean()) if len(kept) else 0.0
    return found


def collapse(history: Sequence[Mapping[str, Any]]) -> str:
    """What has collapsed by the records of epochs, in words. Empty if nothing has."""
    last = history[-EPOCHS:]
    if len(last) < EPOCHS or any(record.get("sample_tokens", 0.0) < BADLY for record in last):
        return ""  # a task may need no reordering
    record = last[-1]
    if all(record.get("reordering_entropy", SURE) < SURE for record in last):
        kept = percent(record["identity"], 0)
        return f"the reordering is sure of its orders, {kept} of which keep all tokens in their places"
    if all(record["fertility_bound"] >= ALL for record in last):
        share = percent(record["fertility_bound"], 0)
        return f"{share} of the words write nothing, or as much as model.max_fertility allows"
    return ""
