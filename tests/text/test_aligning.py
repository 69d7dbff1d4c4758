"""The aligners against plain loops, and IBM model 1 against the published counts on the real files."""

import io
import os
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from ftor.show.progress import TerminalReport
from ftor.text.aligning import ALIGNERS, common_token_positions, confident, ibm1, poisson, sparse
from ftor.text.reading import Pair, read_pairs

PAIRS = [
    Pair(("the", "house"), ("das", "haus"), 1),
    Pair(("the", "book"), ("das", "buch"), 2),
    Pair(("a", "book"), ("ein", "buch", "buch"), 3),
]


def by_loops(pairs, aligner: str, iterations: int) -> list[list[list[float]]]:
    table = defaultdict(lambda: 1.0)

    def posterior(pair, i, j):
        return table[pair.source[i], pair.target[j]] / sum(
            table[word, pair.target[j]] for word in pair.source
        )

    for _ in range(iterations):
        counts = defaultdict(float)
        for pair in pairs:
            for i, word in enumerate(pair.source):
                for j, other in enumerate(pair.target):
                    counts[word, other] += posterior(pair, i, j)
        totals = defaultdict(float)
        if aligner == "ibm1":
            for (word, _), count in counts.items():
                totals[word] += count
        else:
            for pair in pairs:
                for word in pair.source:
                    totals[word] += 1
            totals = {word: total + 1 for word, total in totals.items()}
        table = {words: count / totals[words[0]] for words, count in counts.items()}
    return [
        [[posterior(pair, i, j) for j in range(len(pair.target))] for i in range(len(pair.source))]
        for pair in pairs
    ]


@pytest.mark.parametrize("aligner", ["ibm1", "poisson"])
@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_posteriors_are_those_of_plain_loops(aligner, iterations):
    found = ALIGNERS[aligner](PAIRS, iterations, start_token=False)
    for posterior, expected in zip(found, by_loops(PAIRS, aligner, iterations), strict=True):
        np.testing.assert_allclose(posterior, expected, rtol=1e-12)


def test_of_words_that_are_always_together_the_sparse_model_takes_one():
    """The Poisson model shares `-` between `from` and `to`, and IBM model 1, too."""
    pairs = [Pair(("from", a, "to", b), (a.upper(), "-", b.upper()), 0) for a in "pqrs" for b in "pqrs"]
    pairs += [Pair((a,), (a.upper(),), 0) for a in "pqrs"]
    shared, found = (align(pairs, 100, start_token=False)[1] for align in (poisson, sparse))
    assert shared[[0, 2], 1] == pytest.approx([0.5, 0.5], abs=0.01)
    assert found[:, 1].max() > 0.9
    rows = {posterior[:, 1].argmax() for posterior in sparse(pairs, 100, start_token=False)[:16]}
    assert len(rows) == 1


def test_a_word_of_the_same_spelling_is_preferred():
    pairs = [Pair(("from", a, "to", b), (a.upper(), "to", b.upper()), 0) for a in "pqrs" for b in "pqrs"]
    for pair, posterior in zip(pairs, sparse(pairs, 100, start_token=True), strict=True):
        assert (("^", *pair.source))[posterior[:, 1].argmax()] == "to"


def test_of_equal_words_the_one_near_the_words_of_its_neighbours_is_taken():
    pairs = [
        Pair((a, "of", b, "and", c, "of", d), (b.upper(), ".", a.upper(), ",", d.upper(), ".", c.upper()), 0)
        for a, b, c, d in product("pq", "rs", "tu", "vw")
    ]
    shared, found = (align(pairs, 100, start_token=False) for align in (poisson, sparse))
    for few, many in zip(shared, found, strict=True):
        assert few[[1, 5], 1] == pytest.approx([few[1, 1]] * 2)
        assert many[:, [1, 5]].argmax(0).tolist() == [1, 5]
        assert many.sum(0) == pytest.approx(1.0)


def test_neighbours_may_be_far_away():
    target = ("one", *["other"] * 1500)
    pairs = [Pair(("x",), ("one",), 0), Pair(("x", "y", "z"), target, 0)]
    for posterior in sparse(pairs, 20, start_token=False):
        assert posterior.sum(0) == pytest.approx(1.0)


def test_a_word_that_makes_two_things_makes_both():
    pairs = []
    for name in ("ohio", "utah", "iowa"):
        pairs += [Pair(("how", "large", "is", name), ("size", "state", name), 0)] * 2
        pairs += [Pair(("where", "is", name), ("place", "state", name), 0)] * 2
    pairs += [
        Pair(("how", "large", "is", "it"), ("size",), 0),
        Pair(("where", "is", "it"), ("place",), 0),
    ] * 6
    by_poisson, by_ibm1 = (align(pairs, 150, start_token=False)[0] for align in (poisson, ibm1))
    assert by_poisson[3, 1] > 0.9  # the name makes "state" and itself
    assert by_ibm1[2, 1] > 0.9  # the name has to share, and "is" has nothing else to make


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_the_start_position_takes_part(aligner):
    posteriors = ALIGNERS[aligner](PAIRS, 30, start_token=True)
    assert [posterior.shape for posterior in posteriors] == [(3, 2), (3, 2), (3, 3)]
    for posterior in posteriors:
        np.testing.assert_allclose(posterior.sum(0), 1)


def test_confident_pairs_reach_the_threshold():
    assert list(confident([np.array([[0.8, 0.3], [0.2, 0.7]])], 0.7)) == [[(0, 0), (1, 1)]]


def test_progress_is_told():
    said = io.StringIO()
    # Terminals that are called dumb have no bar, whatever is forced.
    terminal = Console(
        file=said, force_terminal=True, color_system=None, width=200, _environ={"TERM": "xterm"}
    )
    report = TerminalReport(terminal)
    silent = ibm1(PAIRS, 5, start_token=True)
    for found, expected in zip(ibm1(PAIRS, 5, start_token=True, report=report), silent, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert "5/5 iterations of IBM model 1" in said.getvalue()


real_data = pytest.mark.skipif(
    not os.environ.get("FTOR_DATA"), reason="FTOR_DATA does not say where the real data is"
)


@real_data
@pytest.mark.parametrize(
    ("name", "threshold", "expected"),
    [
        ("iid", 0.8, 1418), ("iid", 0.739, 1563), ("template", 0.8, 1478), ("template", 0.739, 1583),
        ("len", 0.8, 1348), ("len", 0.739, 1449),
    ],
)  # fmt: skip
def test_as_many_pairs_as_published(name, threshold, expected):
    pairs = read_pairs(Path(os.environ["FTOR_DATA"]) / f"geo/{name}_train.tsv")
    assert sum(map(len, confident(ibm1(pairs, 150, start_token=True), threshold))) == expected


@real_data
@pytest.mark.parametrize(
    ("name", "targets", "threshold", "expected", "on_start"),
    [
        ("atis/atis_funql_train_brackets", "whitespace", 0.534977, 25570, 1282),
        ("atis/atis_funql_length4_train_brackets", "whitespace", 0.534977, 20596, 944),
        ("okapi_length2/calendar/train", "english", 0.757705, 3439, 0),
        ("okapi_length2/document/train", "english", 0.757705, 4566, 0),
        ("okapi_length2/email/train", "english", 0.617632, 6091, 0),
    ],
)
def test_as_many_english_pairs_as_published(name, targets, threshold, expected, on_start):
    pytest.importorskip("spacy")
    pairs = read_pairs(Path(os.environ["FTOR_DATA"]) / f"{name}.tsv", "english", targets)
    found = list(confident(ibm1(pairs, 150, start_token=True), threshold))
    assert sum(map(len, found)) == expected
    assert sum(i == 0 for selected in found for i, _ in selected) == on_start


def test_positions_of_the_tokens_that_all_targets_share():
    targets = [("answer", "a", "answer"), ("b", "answer"), ("answer",)]
    assert list(common_token_positions(targets)) == [[0], [1], [0]]
    assert list(common_token_positions([("a",), ("b",)])) == [[], []]
