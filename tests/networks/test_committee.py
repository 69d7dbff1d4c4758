"""The best outputs of a committee against the enumeration of all outputs under the mean of its members."""

import math
from itertools import product

import pytest
import torch

from ftor.grammar import Grammar
from ftor.networks import Constraint
from ftor.networks.committee import Committee
from ftor.networks.network import FLOOR
from support.small_networks import ORDERS, PAIRS, transducer, whole_batch

FREE = Constraint()
MEANS = ("log", "arithmetic")


def committee(mean, copying=False, orders=ORDERS, decoder="independent"):
    """Give transducers of several orders, and the committee of them."""
    members = []
    for seed, order in enumerate(orders):
        torch.manual_seed(seed)
        network, vocabularies = transducer(order, decoder, copying)
        members.append(network)
    return members, Committee(members, mean).eval(), vocabularies


def mean_of(scores, mean):
    """The mean of log-probabilities, one number at a time."""
    if mean == "log":
        return sum(scores) / len(scores)
    return math.log(sum(map(math.exp, scores)) / len(scores))


def length_scores(members, batch, mean):
    """Log P(l) of each length but 0."""
    each = [member.read(batch).fertility.length_log_probs[0].tolist() for member in members]
    return {length: mean_of(scores, mean) for length, scores in enumerate(zip(*each, strict=True)) if length}


def enumerated(members, batch, lengths, mean, columns=None):
    """Every output of some lengths with its score, best first; or those of some choices under a grammar."""
    of_length, found = length_scores(members, batch, mean), {}
    for length in lengths:
        target = torch.tensor([length])
        readings = [member.read(batch) for member in members]
        p = torch.stack(
            [m.token_probabilities(batch, r, target)[0] for m, r in zip(members, readings, strict=True)]
        ).double()
        floor = FLOOR if columns else 0.0
        averaged = ((p + FLOOR).log().mean(0).exp() - FLOOR) if mean == "log" else p.mean(0)
        rows = (averaged + floor).clamp(min=1e-300).log().tolist()
        for choices in product(columns or range(p.shape[-1]), repeat=length):
            score = sum(row[choice] for row, choice in zip(rows, choices, strict=True))
            found[choices] = of_length[length] + score
    return sorted(found.items(), key=lambda item: -item[1])


def best_lengths(members, batch, mean, k):
    scores = length_scores(members, batch, mean)
    return sorted(scores, key=lambda length: -scores[length])[:k]


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("copying", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_outputs_are_the_best_of_all(mean, copying, k):
    members, network, vocabularies = committee(mean, copying)
    batch = vocabularies.source_batch([("b",)])
    wanted = enumerated(members, batch, best_lengths(members, batch, mean, k), mean)[:12]
    (found,) = network.n_best(batch, k, 12, FREE)
    assert [output.score for output in found] == pytest.approx([score for _, score in wanted], abs=1e-5)
    assert [tuple(output.choices) for output in found] == [choices for choices, _ in wanted]
    (answer,) = network.decode(batch, k)
    assert answer.choices == found[0].choices
    assert answer.score == pytest.approx(found[0].score, abs=1e-6)


@pytest.mark.parametrize("mean", MEANS)
def test_with_a_grammar_they_are_the_best_that_it_derives(mean):
    members, network, vocabularies = committee(mean)
    grammar = Grammar.parse('S -> "a" S | "b"', "ends in b")
    batch = vocabularies.source_batch([("b",)], grammar.terminals)
    constraint = Constraint(
        lambda most: torch.tensor(grammar.lengths(most, None, False)), grammar.best, None, grammar.n_best
    )
    classes = [vocabularies.target.tokens.index(word) for word in ("a", "b")]
    everything = enumerated(members, batch, best_lengths(members, batch, mean, 3), mean, classes)
    a, b = classes
    wanted = [
        (choices, score) for choices, score in everything if choices == (a,) * (len(choices) - 1) + (b,)
    ]
    (found,) = network.n_best(batch, 3, 5, constraint)
    assert [tuple(output.choices) for output in found] == [choices for choices, _ in wanted]
    assert [output.score for output in found] == pytest.approx([score for _, score in wanted], abs=1e-5)
    assert network.decode(batch, 3, constraint)[0].choices == found[0].choices


@pytest.mark.parametrize("mean", MEANS)
def test_a_committee_of_copies_is_the_member(mean):
    (member, _), network, vocabularies = committee(mean, True, ORDERS[:1] * 2)
    network = Committee([member, member], mean).eval()
    batch = vocabularies.source_batch([pair.source for pair in PAIRS])
    for one, other in zip(network.n_best(batch, 2, 4, FREE), member.n_best(batch, 2, 4, FREE), strict=True):
        assert [output.choices for output in one] == [output.choices for output in other]
        assert [o.score for o in one] == pytest.approx([o.score for o in other], abs=1e-5)


@pytest.mark.parametrize("mean", MEANS)
def test_given_outputs_have_the_scores_of_the_search(mean):
    _, network, vocabularies = committee(mean, True)
    batch = vocabularies.source_batch([pair.source for pair in PAIRS])
    answers = network.decode(batch, 2)
    scores = network.score(batch, [answer.choices for answer in answers])
    assert [score.total for score in scores] == pytest.approx([answer.score for answer in answers], abs=1e-5)


def test_losses_are_means():
    members, network, vocabularies = committee("log")
    batch = whole_batch(vocabularies, PAIRS)
    wanted = sum(member(batch).tokens for member in members) / len(members)
    assert torch.allclose(network(batch).tokens, wanted)


def scores_after(members, batch, mean, written, length):
    """Log-probabilities of the next token after `written`, each member asked alone."""
    lengths = torch.tensor([length])
    each = []
    for member in members:
        writer = member.writer(batch, member.read(batch), lengths)
        for choice in written:
            writer.advance(torch.tensor([choice]))
        each.append((writer.next()[0].double() + FLOOR).log().tolist())
    scores = [mean_of(some, mean) for some in zip(*each, strict=True)]
    return [math.log(max(math.exp(one) - FLOOR, 1e-300)) for one in scores]


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("copying", [False, True])
def test_autoregressive_members_agree_on_each_token(mean, copying):
    members, network, vocabularies = committee(mean, copying, decoder="autoregressive")
    batch = vocabularies.source_batch([("b", "a")])
    (length,) = best_lengths(members, batch, mean, 1)
    written, total = (), length_scores(members, batch, mean)[length]
    for _ in range(length):
        scores = scores_after(members, batch, mean, written, length)
        best = max(range(len(scores)), key=scores.__getitem__)
        written, total = (*written, best), total + scores[best]
    with torch.no_grad():
        (answer,) = network.decode(batch, 1)
        (scored,) = network.score(batch, [answer.choices])
    assert tuple(answer.choices) == written
    assert answer.score == pytest.approx(total, abs=1e-4)
    assert sum(scored.tokens) + scored.length == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("mean", MEANS)
def test_the_beam_of_autoregressive_members_has_all_outputs_if_it_is_wide(mean):
    members, network, vocabularies = committee(mean, decoder="autoregressive")
    batch = vocabularies.source_batch([("b",)])
    (length,) = best_lengths(members, batch, mean, 1)
    found = {(): length_scores(members, batch, mean)[length]}
    for _ in range(length):
        found = {
            (*written, choice): score + more
            for written, score in found.items()
            for choice, more in enumerate(scores_after(members, batch, mean, written, length))
        }
    with torch.no_grad():
        scores, choices = network.beam_tokens(batch, network.read(batch), torch.tensor([length]), len(found))
    wanted = sorted(found.items(), key=lambda item: -item[1])[:5]
    assert [tuple(one) for one in choices[0, :5].tolist()] == [written for written, _ in wanted]
    of_length = length_scores(members, batch, mean)[length]
    assert (scores[0, :5] + of_length).tolist() == pytest.approx([score for _, score in wanted], abs=1e-4)
