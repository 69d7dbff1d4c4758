"""What holds for every network that writes outputs from left to right."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch

from ftor.networks.network import FLOOR
from support.small_networks import SEQ2SEQ, SHORT_PAIRS, log_probability, read, seq2seq, steps, whole_batch

pytestmark = pytest.mark.parametrize("architecture", SEQ2SEQ)


def test_no_example_depends_on_the_rest_of_its_batch(architecture):
    network, vocabularies = seq2seq(architecture)
    together = network(whole_batch(vocabularies, SHORT_PAIRS)).tokens
    for row, pair in enumerate(SHORT_PAIRS):
        alone = network(whole_batch(vocabularies, [pair])).tokens
        torch.testing.assert_close(alone[0], together[row])


def test_probabilities_of_all_outputs_sum_to_one(architecture):
    network, vocabularies = seq2seq(architecture)
    V = len(vocabularies.target)
    short = [tokens for length in range(3) for tokens in product(range(V), repeat=length)]
    total = sum(math.exp(log_probability(network, vocabularies, ("a", "c"), t)) for t in short)
    # What is left is the probability of outputs of three tokens or more, which begin with each of these.
    longer = 0.0
    memory = read(network, vocabularies, ("a", "c"))
    for tokens in product(range(V), repeat=3):
        longer += math.exp(sum(steps(network, memory, tokens)))
    assert total + longer == pytest.approx(1)


def test_steps_with_cached_states_are_teacher_forcing(architecture):
    network, vocabularies = seq2seq(architecture)
    for pair in SHORT_PAIRS:
        tokens = [vocabularies.target.get(token, -1) for token in pair.target]
        found = sum(steps(network, read(network, vocabularies, pair.source), [*tokens, network.classes]))
        assert found == pytest.approx(log_probability(network, vocabularies, pair.source, tokens))


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
