"""The search of a transducer over output lengths: scores, best outputs, and outputs of a grammar."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import Tensor

from ftor.networks import decoding
from ftor.networks.decoding import decode
from ftor.text.encoded_pairs import EncodedPairs
from support.small_networks import DECODERS, ORDERS, PAIRS, transducer, whole_batch


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("k", [1, 4])
def test_scores_are_log_probabilities_of_the_outputs(order, decoder, k):
    network, vocabularies = transducer(order, decoder)
    decoded = decode(network, vocabularies.source_batch([pair.source for pair in PAIRS]), k)
    batch = whole_batch(vocabularies, PAIRS)
    losses = network(replace(batch, target=decoded.choices, target_lengths=decoded.lengths))
    torch.testing.assert_close(decoded.scores, -(losses.tokens + losses.length), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(decoded.length_scores, -losses.length)


@pytest.mark.parametrize("order", ORDERS)
def test_independent_outputs_are_the_best_of_their_length(order):
    network, vocabularies = transducer(order, "independent")
    batch = vocabularies.source_batch([("b",)])
    decoded = decode(network, batch)
    length = int(decoded.lengths[0])
    reading = EncodedPairs([PAIRS[2]], vocabularies).batch(torch.tensor([0]))
    best = -math.inf
    for classes in product(range(len(vocabularies.target)), repeat=length):
        gold = replace(reading, target=torch.tensor([classes]), target_lengths=decoded.lengths)
        losses = network(gold)
        best = max(best, -(losses.tokens + losses.length).item())
    assert float(decoded.scores[0]) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("decoder", DECODERS)
def test_more_lengths_never_give_a_worse_output(decoder):
    network, vocabularies = transducer("fertility-reordering", decoder)
    batch = vocabularies.source_batch([pair.source for pair in PAIRS])
    scores = torch.stack([decode(network, batch, k).scores for k in (1, 2, 5, 40)])
    assert bool((scores.diff(dim=0) >= 0).all())
    assert bool((scores[-1] > scores[0]).any()), "the example should have a better length than the first"


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("decoder", DECODERS)
def test_long_outputs_are_decoded_in_parts_with_the_same_result(order, decoder, monkeypatch):
    network, vocabularies = transducer(order, decoder, copying=True)
    batch = vocabularies.source_batch([pair.source for pair in PAIRS])
    together = decode(network, batch, 3)
    monkeypatch.setattr(decoding, "SPLITS_AT_ONCE", 1)
    for whole, parts in zip(together, decode(network, batch, 3), strict=True):
        torch.testing.assert_close(whole, parts)


def only(allowed: list[set[int]]):
    """A search among outputs whose o-th column is one of allowed[o], for lengths that it has."""

    def search(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        best, found = torch.zeros(len(lengths)), torch.full(scores.shape[:2], -1)
        for row, length in enumerate(lengths.tolist()):
            if length > len(allowed):
                best[row] = -math.inf
                continue
            for o in range(length):
                column = max(allowed[o], key=lambda c: float(scores[row, o, c]))
                best[row] += scores[row, o, column]
                found[row, o] = column
        return best, found

    return search


@pytest.mark.parametrize("order", ORDERS)
def test_a_search_finds_the_best_of_the_outputs_that_it_knows(order):
    network, vocabularies = transducer(order, "independent", copying=True)
    terminals = ["x", "q", "y"]
    batch = vocabularies.source_batch([("q", "a"), ("b", "a", "c", "a")], terminals)
    found = decode(network, batch, 3, only([{0, 2}, {1, 4}]), torch.tensor([False, True, True]))
    V = len(vocabularies.target)
    x, y = (vocabularies.target.get(token, -1) for token in "xy")
    for row, (choices, length) in enumerate(zip(found.choices.tolist(), found.lengths.tolist(), strict=True)):
        assert length in (1, 2)
        assert choices[0] in (x, y)
        if length == 2:  # q is what the first source has at 1; column 4 is a copy of token 1, after the start
            assert choices[1] == V + 1 or (row == 1 and choices[1] == int(batch.copies.choices[1, 1]))
    plain = decode(network, batch, 3, None, torch.tensor([False, True, True]))
    assert bool((plain.scores >= found.scores - 1e-6).all())


def test_where_a_search_finds_nothing_any_output_will_do():
    network, vocabularies = transducer("fertility-reordering", "independent")
    batch = vocabularies.source_batch([pair.source for pair in PAIRS], ["x"])
    nothing = decode(network, batch, 2, only([]))
    for found, wanted in zip(nothing, decode(network, batch, 1), strict=True):
        assert torch.equal(found, wanted)


def test_lengths_that_no_source_can_reach_are_no_reason_to_fail():
    network, vocabularies = transducer("fertility-reordering", "independent")
    batch = vocabularies.source_batch([pair.source for pair in PAIRS])
    far = torch.zeros(200, dtype=torch.bool)
    far[13] = True  # four tokens and the start reach 15, the others not 13
    found = decode(network, batch, 1, None, far)
    assert found.lengths.tolist()[3] == 13
    assert found.lengths.tolist()[:3] == decode(network, batch, 1).lengths.tolist()[:3]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("rows", [1, 64])
@pytest.mark.parametrize("k", [2, 5, 40])
def test_lengths_that_are_skipped_or_tried_side_by_side_do_not_change_the_best(
    order, decoder, rows, k, monkeypatch
):
    monkeypatch.setattr(decoding, "ROWS_AT_ONCE", rows)
    network, vocabularies = transducer(order, decoder)
    batch = vocabularies.source_batch([pair.source for pair in PAIRS])
    found = decode(network, batch, k)
    reading = network.read(batch)
    top = reading.fertility.top_lengths(k)
    scores = []
    for log_probs, lengths in zip(top.log_probs.T, top.lengths.T, strict=True):
        p = network.best_tokens(batch, reading, lengths)[1]
        real = torch.arange(p.shape[1]) < lengths[:, None]
        scores.append(log_probs + torch.where(real, p.log(), 0.0).sum(1))
    best, ranks = torch.stack(scores).max(0)
    torch.testing.assert_close(found.scores, best, rtol=1e-9, atol=1e-9)
    assert torch.equal(found.lengths, top.lengths.gather(1, ranks[:, None]).squeeze(1))


def test_a_sure_answer_spares_the_other_lengths(monkeypatch):
    network, vocabularies = transducer("fertility-reordering", "independent")
    batch = vocabularies.source_batch([("b",)])
    with torch.no_grad():  # one copy of every token, and the first class for all of them
        network.fertility.mlp[-1].bias.copy_(torch.tensor([-50.0, 50.0, -50.0, -50.0]))
        network.decoder.output.bias.view(3, -1)[:] = torch.tensor([80.0] + [0.0] * (network.classes - 1))
    tried = []
    tokens = network.best_tokens
    monkeypatch.setattr(network, "best_tokens", lambda *args: tried.append(args[2]) or tokens(*args))
    decode(network, batch, 5)
    assert len(tried) == 1
