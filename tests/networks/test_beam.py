"""Beam search: by hand, and against the enumeration of all outputs of small networks."""

import math

import pytest
import torch

from ftor.networks.beam import beam_search
from ftor.networks.network import Constraint
from support.small_networks import SEQ2SEQ, SHORT_PAIRS, beginnings, log_probabilities, read, seq2seq


class TestByHand:
    """A decoder that looks at the token before only, with three tokens and an end."""

    FIRST = (0.5, 0.3, 0.2, 1e-9)
    AFTER = ((0.4, 0.3, 0.2, 0.1), (1e-3, 1e-3, 1e-3, 0.997), (0.1, 0.2, 0.6, 0.1), FIRST)

    def found(self, beam, expansions, accepts=None):
        def step(memory, state, previous):
            return torch.tensor([[self.AFTER[p] for p in row] for row in previous.tolist()]).log(), state

        memory, state = (torch.zeros(1, 1),), (torch.zeros(1, 1, 1),)
        return beam_search(step, memory, state, 3, beam, expansions, 2, accepts)[0][0]

    def test_of_one_is_greedy(self):
        assert self.found(1, 4)[:2] == ([0, 0], pytest.approx(math.log(0.5 * 0.4)))

    def test_of_two_finds_what_begins_badly(self):
        assert self.found(2, 1)[:2] == ([1], pytest.approx(math.log(0.3 * 0.997)))

    @pytest.mark.parametrize(("expansions", "tokens"), [(2, [1]), (3, [0, 2])])
    def test_looks_at_so_many_continuations_of_each_output_only(self, expansions, tokens):
        assert self.found(16, expansions, lambda _, output: output == [0, 2]).choices == tokens

    def test_looks_at_as_many_first_tokens_as_it_is_wide(self):
        assert self.found(3, 1, lambda _, output: output == [2, 2]).choices == [2, 2]

    def test_asks_about_each_output_once(self):
        asked = []
        self.found(16, 4, lambda _, output: asked.append(tuple(output)))
        assert len(asked) == len(set(asked)) == 13  # the empty one, three of one token, nine of two


@pytest.mark.parametrize("architecture", SEQ2SEQ)
class TestNetworks:
    @pytest.mark.parametrize("batch", [1, 4])
    def test_a_wide_beam_finds_the_best_of_all_outputs(self, architecture, batch):
        network, vocabularies = seq2seq(architecture, beam=400, expansions=5, max_steps=4)
        sources = [pair.source for pair in SHORT_PAIRS][:batch]
        for source, found in zip(sources, network.decode(vocabularies.source_batch(sources)), strict=True):
            scores = log_probabilities(network, vocabularies, source, 3)
            unfinished = beginnings(network, read(network, vocabularies, source), 4)
            best = max((scores | unfinished).items(), key=lambda item: item[1])
            assert (tuple(found.choices), found.score) == (best[0], pytest.approx(best[1]))

    def test_what_is_not_accepted_is_passed_over(self, architecture):
        network, vocabularies = seq2seq(architecture, grammar_beam=400, max_steps=4)
        source = SHORT_PAIRS[0].source
        scores = log_probabilities(network, vocabularies, source, 3)
        wanted = sorted(scores, key=scores.__getitem__)[len(scores) // 2]
        batch = vocabularies.source_batch([source, SHORT_PAIRS[1].source])
        constraint = Constraint(accepts=lambda row, choices: row == 0 and tuple(choices) == wanted)
        found = network.decode(batch, 1, constraint)
        assert tuple(found[0].choices) == wanted
        assert found[0].score == pytest.approx(scores[wanted])
        wide, _ = seq2seq(architecture, beam=400, max_steps=4)
        assert found[1].choices == wide.decode(batch)[1].choices, "where none is accepted it is the best"

    @pytest.mark.parametrize("beam", [1, 2, 5])
    def test_outputs_do_not_depend_on_the_rest_of_the_batch(self, architecture, beam):
        network, vocabularies = seq2seq(architecture, beam=beam, expansions=2, max_steps=7)
        sources = [pair.source for pair in SHORT_PAIRS]
        together = network.decode(vocabularies.source_batch(sources))
        for source, found in zip(sources, together, strict=True):
            (alone,) = network.decode(vocabularies.source_batch([source]))
            assert (alone.choices, alone.score) == (found.choices, pytest.approx(found.score))
