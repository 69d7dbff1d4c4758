"""A rescorer ranks exactly the candidates that the transducer and the LSTM give."""

import itertools
import math
from statistics import fmean

import pytest
import torch

from ftor.config import Config, ConfigError
from ftor.grammar import Grammar
from ftor.networks import Constraint, rescored
from ftor.networks.n_best import n_best_outputs
from ftor.networks.network import FLOOR
from ftor.networks.rescored import WEIGHTS, Rescored, RescoredCommittee
from ftor.text.batches import SourceBatch
from ftor.text.reading import Pair
from ftor.text.vocabularies import Vocabularies

SIZES = ["model.width=8", "model.fertility_hidden=4", "model.decoder_hidden=4", "model.scorer_hidden=8"]
PAIRS = [Pair(("a", "b"), ("x", "y", "z"), 1), Pair(("b",), ("y",), 2)]
GRAMMAR = Grammar.parse("S -> 'x' | 'y' S | 'z' S S")


def network(*overrides):
    settings = [*SIZES, "model.rescorer=lstm", "model.rescorer_hidden=4", "model.max_fertility=2", *overrides]
    config = Config.load("transducer", settings)
    words = Vocabularies.of(PAIRS, None, True, False, GRAMMAR.terminals)
    made, words = Rescored.build(config, words)
    assert isinstance(made, Rescored)
    return made.eval(), words


def constraint(words, sources):
    def lengths(most):
        return torch.tensor(GRAMMAR.lengths(most))

    def accepts(row, choices):
        return GRAMMAR.accepts(words.output(choices, sources[row]))

    return Constraint(lengths, GRAMMAR.best, accepts, GRAMMAR.n_best)


def every_string(words, longest):
    for length in range(1, longest + 1):
        for choices in itertools.product(range(len(words.target)), repeat=length):
            if GRAMMAR.accepts(words.output(choices, ())):
                yield list(choices)


def log_probabilities(made, batch, strings):
    """Log P(y|x) of the transducer and of the LSTM, one string at a time from the losses."""
    from ftor.text.batches import Batch

    for choices in strings:
        gold = torch.tensor([choices])
        one = Batch(
            batch.source,
            batch.source_lengths,
            gold,
            torch.tensor([len(choices)]),
            None,
            None,
            torch.arange(1),
        )
        both = made(one)
        lstm = made._mean_losses(one)
        yield float(-(both.tokens - lstm) - both.length), float(-lstm * (len(choices) + 1))


@torch.no_grad()
def test_n_best_outputs_are_the_best_of_all_strings():
    made, words = network()
    batch = words.source_batch([("a", "b")], GRAMMAR.terminals)
    strings = list(every_string(words, 6))
    scores = dict(zip(map(tuple, strings), log_probabilities(made, batch, strings), strict=True))
    (outputs,) = n_best_outputs(made, batch, 6, 5, GRAMMAR.n_best, torch.tensor(GRAMMAR.lengths(6)))
    for length in range(1, 7):
        of_length = sorted((score for s, (score, _) in scores.items() if len(s) == length), reverse=True)[:5]
        found = [output.score for output in outputs if len(output.choices) == length]
        assert found == pytest.approx(of_length, abs=1e-3)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
@torch.no_grad()
def test_the_best_by_both_scores_is_chosen(weight):
    made, words = network(f"model.rescoring_weight={weight}", "model.candidates=200")
    batch = words.source_batch([("a", "b")], GRAMMAR.terminals)
    strings = list(every_string(words, 6))
    mixed = [
        (weight * transducer + (1 - weight) * lstm, string)
        for string, (transducer, lstm) in zip(strings, log_probabilities(made, batch, strings), strict=True)
    ]
    (output,) = made.decode(batch, 6, constraint(words, [("a", "b")]))
    assert output.choices == max(mixed)[1]


def mean_of_probabilities(one, other):
    return torch.tensor([one, other]).logsumexp(0).item() - math.log(2)


@pytest.mark.parametrize("weights", [(0.0, 0.0), (0.2, 0.4), (1.0, 1.0)])
@torch.no_grad()
def test_a_committee_ranks_by_the_means_of_its_members(weights):
    """Over all strings: means of the transducers' logarithms, and of the LSTMs' probabilities, by token."""
    made = [network("model.candidates=200", f"model.rescoring_weight={weight}")[0] for weight in weights]
    words, together = network()[1], RescoredCommittee(made).eval()
    batch = words.source_batch([("a", "b")], GRAMMAR.terminals)
    rows = torch.zeros(1, dtype=torch.int64)
    mixed = []
    for string in every_string(words, 6):
        tokens = [one.rescorer.output_losses(one.rescorer.read(batch), rows, [string])[0] for one in made]
        lstms = sum(mean_of_probabilities(-one, -other) for one, other in zip(*tokens, strict=True))
        lengths = torch.tensor([len(string)])
        each = []
        for one in made:
            reading = one.read(batch)
            p = one.token_probabilities(batch, reading, lengths)[0, range(len(string)), string]
            each.append(reading.fertility.log_prob_length(lengths).item() + (p + FLOOR).log().sum().item())
        mixed.append((fmean(weights) * fmean(each) + (1 - fmean(weights)) * lstms, string))
    (output,) = together.decode(batch, 6, constraint(words, [("a", "b")]))
    assert output.choices == max(mixed)[1]
    assert output.rank_score == pytest.approx(max(mixed)[0], abs=1e-3)


@torch.no_grad()
def test_two_equal_members_answer_as_one(monkeypatch):
    monkeypatch.setattr(rescored, "AT_ONCE", 3)
    made, words = network()
    together = RescoredCommittee([made, made]).eval()
    sources = [("a", "b"), ("b",), ("a", "a", "b")]
    batch = words.source_batch(sources, GRAMMAR.terminals)
    rule = constraint(words, sources)
    for one, other in zip(made.n_best(batch, 3, 4, rule), together.n_best(batch, 3, 4, rule), strict=True):
        assert [output.choices for output in one] == [output.choices for output in other]


def test_fitting_a_committee_sets_the_weight_of_all_members():
    together = RescoredCommittee([network()[0], network()[0]])
    together.fit_to_dev(lambda: together.rescored[1].weight.item())
    assert [one.weight.item() for one in together.rescored] == [max(WEIGHTS)] * 2
    names = {name.split(".")[0] for name in together.state_dict()}
    assert names == {"members"}  # the LSTMs are saved once


@torch.no_grad()
def test_a_batch_gives_the_same_as_one_by_one():
    made, words = network()
    sources = [("a", "b"), ("b",), ("a", "a", "b")]
    together = made.decode(words.source_batch(sources, GRAMMAR.terminals), 3, constraint(words, sources))
    for source, output in zip(sources, together, strict=True):
        (alone,) = made.decode(
            words.source_batch([source], GRAMMAR.terminals), 3, constraint(words, [source])
        )
        assert alone.choices == output.choices


@torch.no_grad()
def test_few_rows_at_a_time_give_the_same(monkeypatch):
    made, words = network()
    sources = [("a", "b"), ("b",), ("a", "a", "b")]
    batch = words.source_batch(sources, GRAMMAR.terminals)
    together = made.decode(batch, 3, constraint(words, sources))
    monkeypatch.setattr("ftor.networks.decoding.SPLITS_AT_ONCE", 1)
    monkeypatch.setattr("ftor.networks.rescored.SPLITS_AT_ONCE", 1)
    apart = made.decode(batch, 3, constraint(words, sources))
    assert [output.choices for output in apart] == [output.choices for output in together]


@pytest.mark.parametrize("other", ["model.copying=true", 'model.decoder="autoregressive"'])
def test_candidates_are_tokens_that_the_lstm_knows(other):
    with pytest.raises(ConfigError, match="rescorer: needs copying = false"):
        network(other)


def test_both_networks_are_trained():
    made, words = network()
    from ftor.text.encoded_pairs import EncodedPairs

    losses = made.train()(EncodedPairs(PAIRS, words).batch(torch.arange(2)))
    (losses.tokens + losses.length).sum().backward()
    without = [name for name, value in made.named_parameters() if value.grad is None]
    assert without == []


def test_the_weight_of_the_best_dev_score_is_kept_and_saved():
    made, _ = network("model.rescoring_weight=0.5")
    scores = {0.2: 0.7, 0.3: 0.7}
    assert made.fit_to_dev(lambda: scores.get(round(made.weight.item(), 3), 0.1))
    assert made.state_dict()["weight"].item() == pytest.approx(0.3)  # nearer to 0.5


@torch.no_grad()
def test_candidates_are_searched_once_for_all_weights(monkeypatch):
    made, words = network()
    sources = [("a", "b"), ("b",), ("a", "a", "b")]
    batch = words.source_batch(sources, GRAMMAR.terminals)
    expected = {}
    for weight in WEIGHTS:
        made.weight.fill_(weight)
        expected[weight] = made.decode(batch, 3, constraint(words, sources))
    searches, found = [], []
    search = made._candidates
    monkeypatch.setattr(made, "_candidates", lambda *given: searches.append(given) or search(*given))

    def score():
        found.append(made.decode(batch, 3, constraint(words, sources)))
        return 0.0

    made.fit_to_dev(score)
    assert len(searches) == 1
    assert found == list(expected.values())
    made.decode(batch, 3, constraint(words, sources))
    assert len(searches) == 2  # nothing is kept afterwards


def test_the_rescorer_reads_the_same_vectors_as_the_transducer():
    config = Config.load("transducer", [*SIZES, "model.rescorer=lstm", "model.rescorer_hidden=4"])
    words = Vocabularies.of(PAIRS, None, True, False, GRAMMAR.terminals)
    made, _ = Rescored.build(config, words, vector_size=3)
    assert made.vectors is not None
    table = torch.rand(len(words.source), 3)
    made.vectors.fill(table, 0.5, 0.1)
    torch.testing.assert_close(made.rescorer.vectors.weight, table)
    batch = SourceBatch(torch.tensor([[len(words.source)]]), torch.tensor([1]))
    with pytest.raises(IndexError):
        made.rescorer.read(batch)
    made.vectors.add(torch.rand(1, 3))  # the word after the last known one
    made.rescorer.read(batch)
    made.vectors.forget()
    with pytest.raises(IndexError):
        made.rescorer.read(batch)
