"""What holds for every network that writes outputs from left to right."""

import math
from dataclasses import replace

import pytest
import torch

from ftor.networks.network import FLOOR
from support.small_networks import (
    SEQ2SEQ,
    SHORT_PAIRS,
    beginnings,
    log_probabilities,
    read,
    seq2seq,
    whole_batch,
)

pytestmark = pytest.mark.parametrize("architecture", SEQ2SEQ)


def test_no_example_depends_on_the_rest_of_its_batch(architecture):
    network, vocabularies = seq2seq(architecture)
    together = network(whole_batch(vocabularies, SHORT_PAIRS)).tokens
    for row, pair in enumerate(SHORT_PAIRS):
        alone = network(whole_batch(vocabularies, [pair])).tokens
        torch.testing.assert_close(alone[0], together[row])


def test_probabilities_of_all_outputs_sum_to_one(architecture):
    network, vocabularies = seq2seq(architecture)
    finished = log_probabilities(network, vocabularies, ("a", "c"), 2)
    # The other outputs have three tokens or more.
    longer = beginnings(network, read(network, vocabularies, ("a", "c")), 3)
    assert sum(map(math.exp, (finished | longer).values())) == pytest.approx(1)


def test_steps_with_cached_states_are_teacher_forcing(architecture):
    """The probability of a beginning is that of ending there and of all continuations."""
    network, vocabularies = seq2seq(architecture)
    for pair in SHORT_PAIRS:
        memory = read(network, vocabularies, pair.source)
        finished = log_probabilities(network, vocabularies, pair.source, 3)
        three, four = (beginnings(network, memory, length) for length in (3, 4))
        for tokens, score in three.items():
            continued = sum(math.exp(four[*tokens, token]) for token in range(network.classes))
            assert math.exp(finished[tokens]) + continued == pytest.approx(math.exp(score))


def test_all_parameters_learn(architecture):
    network, vocabularies = seq2seq(architecture)
    network(whole_batch(vocabularies, SHORT_PAIRS)).tokens.sum().backward()
    without = [n for n, p in network.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert without == []


def test_unknown_gold_tokens_cost_the_floor(architecture):
    network, vocabularies = seq2seq(architecture)
    batch = whole_batch(vocabularies, SHORT_PAIRS)
    unknown = batch.target.clone()
    unknown[3, 1] = -1
    changed = network(replace(batch, target=unknown)).tokens.detach()
    assert float(changed[3]) > -math.log(2 * FLOOR) / (3 if architecture != "transformer" else 1)
    torch.testing.assert_close(changed[:3], network(batch).tokens.detach()[:3])
