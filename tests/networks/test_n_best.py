"""The n best outputs against the enumeration of all outputs, and the scores of given outputs."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch

from ftor.grammar import Grammar
from ftor.networks import Constraint, decoding
from ftor.networks.n_best import best_combinations, n_best_outputs
from ftor.networks.network import FLOOR
from support.small_networks import (
    DECODERS,
    ORDERS,
    PAIRS,
    SEQ2SEQ,
    SHORT_PAIRS,
    beginnings,
    log_probabilities,
    read,
    seq2seq,
    transducer,
    whole_batch,
)

FREE = Constraint()


def enumerated(probabilities, length, n, columns=None):
    """The n best sequences and their log-probabilities, one by one: all possible ones, or of columns."""
    rows = (probabilities[:length].double() + (FLOOR if columns else 0)).log().tolist()
    scores = {
        choices: sum(row[choice] for row, choice in zip(rows, choices, strict=True))
        for choices in product(columns or range(probabilities.shape[1]), repeat=length)
    }
    possible = {choices: score for choices, score in scores.items() if score > -math.inf}
    return sorted(possible.items(), key=lambda item: -item[1])[:n]


class TestCombinations:
    @pytest.mark.parametrize("n", [1, 2, 7, 300])
    @pytest.mark.parametrize("seed", range(3))
    def test_are_the_best_of_all(self, n, seed):
        generator = torch.Generator().manual_seed(seed)
        p = torch.rand(3, 4, 4, generator=generator).softmax(-1)
        p[0, 1, 2] = 0
        lengths = torch.tensor([4, 1, 3])
        scores, choices = best_combinations(p, lengths, n)
        for row, length in enumerate(lengths.tolist()):
            wanted = enumerated(p[row], length, n)
            assert scores[row, : len(wanted)].tolist() == pytest.approx([s for _, s in wanted], abs=1e-5)
            assert bool(scores[row, len(wanted) :].isneginf().all())
            found = [tuple(c[:length]) for c in choices[row, : len(wanted)].tolist()]
            assert found == [c for c, _ in wanted]
            assert choices[row, :, length:].count_nonzero() == 0

    def test_of_equal_ones_the_first_choices_come_first(self):
        p = torch.tensor([[[0.25, 0.25, 0.5], [0.5, 0.5, 0.0]]])
        scores, choices = best_combinations(p, torch.tensor([2]), 7)
        assert choices[0, :6].tolist() == [[2, 0], [2, 1], [0, 0], [0, 1], [1, 0], [1, 1]]
        assert scores[0].exp().tolist() == pytest.approx([0.25, 0.25, 0.125, 0.125, 0.125, 0.125, 0])

    def test_of_uniform_choices_any_number_is_a_beginning_of_more(self):
        p = torch.full((1, 6, 50), 1 / 50)
        lengths = torch.tensor([6])
        _, many = best_combinations(p, lengths, 40)
        for n in (1, 3, 17):
            assert torch.equal(best_combinations(p, lengths, n)[1], many[:, :n])


def top_lengths(network, batch, k, mask=None):
    reading = network.read(batch)
    return reading.fertility.top_lengths(k, mask)[1].tolist()


def all_outputs(network, batch, row, lengths, columns=None):
    """Every output of some lengths of a source with its score, best first; or those of some choices."""
    one = batch.take(torch.tensor([row]))
    reading = network.read(one)
    scores = {}
    for length in lengths:
        target = torch.tensor([length])
        p = network.token_probabilities(one, reading, target)[0]
        of_length = reading.fertility.log_prob_length(target).item()
        scores |= {c: of_length + score for c, score in enumerated(p, length, None, columns)}
    return sorted(scores.items(), key=lambda item: -item[1])


class TestTransducer:
    @pytest.mark.parametrize("order", ORDERS)
    @pytest.mark.parametrize("copying", [False, True])
    @pytest.mark.parametrize("k", [1, 4])
    def test_independent_outputs_are_the_best_of_all(self, order, copying, k):
        network, vocabularies = transducer(order, "independent", copying)
        batch = vocabularies.source_batch([("b",), ("q",)])
        found = network.n_best(batch, k, 12, FREE)
        for row, outputs in enumerate(found):
            wanted = all_outputs(network, batch, row, top_lengths(network, batch, k)[row])[:12]
            assert [output.score for output in outputs] == pytest.approx([s for _, s in wanted], abs=1e-5)
            assert [tuple(output.choices) for output in outputs] == [c for c, _ in wanted]

    @pytest.mark.parametrize("order", ORDERS)
    @pytest.mark.parametrize("decoder", DECODERS)
    @pytest.mark.parametrize("copying", [False, True])
    def test_the_first_is_the_answer(self, order, decoder, copying, monkeypatch):
        network, vocabularies = transducer(order, decoder, copying)
        batch = vocabularies.source_batch([pair.source for pair in PAIRS])
        answers = network.decode(batch, 3)
        found = network.n_best(batch, 3, 5, FREE)
        for answer, outputs in zip(answers, found, strict=True):
            assert outputs[0] == answer
            others = [output.score for output in outputs[1:]]
            assert others == sorted(others, reverse=True)
            assert len({tuple(output.choices) for output in outputs}) == len(outputs) == 5
        monkeypatch.setattr(decoding, "SPLITS_AT_ONCE", 1)
        for whole, parts in zip(found, network.n_best(batch, 3, 5, FREE), strict=True):
            assert [o.choices for o in whole] == [o.choices for o in parts]

    @pytest.mark.parametrize("order", ORDERS)
    def test_a_beam_that_holds_all_outputs_finds_the_best(self, order):
        network, vocabularies = transducer(order, "autoregressive")
        batch = vocabularies.source_batch([("b",)])
        gold = whole_batch(vocabularies, [PAIRS[2]])
        (found,) = n_best_outputs(network, batch, 6, 150)
        for length in (1, 2, 3):
            scores = {}
            for classes in product(range(len(vocabularies.target)), repeat=length):
                target = replace(gold, target=torch.tensor([classes]), target_lengths=torch.tensor([length]))
                losses = network(target)
                scores[classes] = -(losses.tokens + losses.length).item()
            wanted = sorted(scores.items(), key=lambda item: -item[1])
            some = [output for output in found if len(output.choices) == length]
            assert [tuple(output.choices) for output in some] == [c for c, _ in wanted][:150]
            assert [output.score for output in some] == pytest.approx([s for _, s in wanted][:150], abs=1e-5)

    @pytest.mark.parametrize("order", ORDERS)
    @pytest.mark.parametrize("copying", [False, True])
    def test_outputs_of_a_grammar_are_the_best_that_it_derives(self, order, copying):
        grammar = Grammar.parse("S -> 'x' | 'a' S | @copy S | 'y' 'y'")
        network, vocabularies = transducer(order, "independent", copying)
        source = ("q",)
        batch = vocabularies.source_batch([source], grammar.terminals)
        read_source = ("@start@", *source)
        constraint = Constraint(
            lambda most: torch.tensor(grammar.lengths(most, None, copying)),
            grammar.best,
            lambda _, choices: grammar.accepts(vocabularies.output(choices, read_source), source),
            grammar.n_best,
        )
        (found,) = network.n_best(batch, 3, 6, constraint)
        (answer,) = network.decode(batch, 3, constraint)
        assert (found[0].choices, found[0].score) == (answer.choices, pytest.approx(answer.score))
        mask = decoding.reachable(constraint.lengths(6), batch, network.config)
        columns = sorted({choice for choice in batch.columns[0].tolist() if choice >= 0})
        lengths = top_lengths(network, batch, 3, mask)[0]
        wanted = [
            (choices, score)
            for choices, score in all_outputs(network, batch, 0, lengths, columns)
            if grammar.accepts(vocabularies.output(choices, read_source), source)
        ][:6]
        assert len(wanted) > 1
        assert [tuple(output.choices) for output in found] == [c for c, _ in wanted]
        assert [output.score for output in found] == pytest.approx([s for _, s in wanted], abs=1e-3)

    def test_where_a_grammar_derives_nothing_there_is_the_answer(self):
        grammar = Grammar.parse("S : unheard")
        network, vocabularies = transducer(ORDERS[0], "independent")
        batch = vocabularies.source_batch([("a", "b")], grammar.terminals)
        constraint = Constraint(None, grammar.best, lambda *_: False, grammar.n_best)
        (found,) = network.n_best(batch, 2, 4, constraint)
        assert found == network.decode(batch, 2, constraint)


@pytest.mark.parametrize("architecture", SEQ2SEQ)
class TestBeams:
    def test_a_wide_beam_finds_the_best_of_all_outputs(self, architecture):
        network, vocabularies = seq2seq(architecture, beam=400, expansions=5, max_steps=4)
        sources = [pair.source for pair in SHORT_PAIRS]
        found = network.n_best(vocabularies.source_batch(sources), 1, 9, FREE)
        for source, outputs in zip(sources, found, strict=True):
            scores = log_probabilities(network, vocabularies, source, 3)
            scores |= beginnings(network, read(network, vocabularies, source), 4)
            wanted = sorted(scores.items(), key=lambda item: -item[1])[:9]
            assert [tuple(output.choices) for output in outputs] == [c for c, _ in wanted]
            assert [output.score for output in outputs] == pytest.approx([s for _, s in wanted])

    @pytest.mark.parametrize("beam", [1, 3, 8])
    def test_the_first_is_the_answer(self, architecture, beam):
        network, vocabularies = seq2seq(architecture, beam=beam, max_steps=6)
        batch = vocabularies.source_batch([pair.source for pair in SHORT_PAIRS])
        for answer, outputs in zip(network.decode(batch), network.n_best(batch, 1, 5, FREE), strict=True):
            assert (outputs[0].choices, outputs[0].score) == (answer.choices, pytest.approx(answer.score))
            assert 1 < len({tuple(output.choices) for output in outputs}) == len(outputs) <= 5

    def test_only_accepted_outputs_are_found_if_there_are_any(self, architecture):
        network, vocabularies = seq2seq(architecture, grammar_beam=400, expansions=5, max_steps=4)
        source = SHORT_PAIRS[0].source
        batch = vocabularies.source_batch([source])
        even = Constraint(accepts=lambda _, choices: len(choices) % 2 == 0)
        (found,) = network.n_best(batch, 1, 7, even)
        scores = log_probabilities(network, vocabularies, source, 3)
        scores |= beginnings(network, read(network, vocabularies, source), 4)
        wanted = sorted((s for c, s in scores.items() if len(c) % 2 == 0), reverse=True)[:7]
        assert [output.score for output in found] == pytest.approx(wanted)
        nothing = Constraint(accepts=lambda *_: False)
        (found,) = network.n_best(batch, 1, 3, nothing)
        assert len(found) == 3
        assert found[0] == network.decode(batch, 1, nothing)[0]

    def test_scores_of_given_outputs_are_those_of_the_search(self, architecture):
        network, vocabularies = seq2seq(architecture, beam=400, expansions=5, max_steps=4)
        (source,) = sources = [SHORT_PAIRS[0].source]
        (found,) = network.n_best(vocabularies.source_batch(sources), 1, 60, FREE)
        finished = [output for output in found if len(output.choices) < 4]  # the others have no end
        assert finished
        batch = vocabularies.source_batch([source] * len(finished))
        scores = network.score(batch, [output.choices for output in finished])
        assert [one.total for one in scores] == pytest.approx([output.score for output in finished])
        assert [len(one.tokens) for one in scores] == [len(output.choices) for output in finished]
        assert all(one.length is None and one.end <= 0 for one in scores)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("copying", [False, True])
def test_scores_of_given_outputs_are_those_of_the_search(order, decoder, copying, monkeypatch):
    network, vocabularies = transducer(order, decoder, copying)
    batch = vocabularies.source_batch([pair.source for pair in PAIRS])
    for outputs in zip(*network.n_best(batch, 3, 4, FREE), strict=True):
        given = [output.choices for output in outputs]
        scores = network.score(batch, given)
        assert [one.total for one in scores] == pytest.approx([output.score for output in outputs], abs=1e-6)
        assert [one.length for one in scores] == pytest.approx([output.length_score for output in outputs])
        assert [len(one.tokens) for one in scores] == [len(output.choices) for output in outputs]
        with monkeypatch.context() as patched:
            patched.setattr(decoding, "SPLITS_AT_ONCE", 1)
            parts = network.score(batch, given)
        assert [one.total for one in parts] == pytest.approx([one.total for one in scores])
