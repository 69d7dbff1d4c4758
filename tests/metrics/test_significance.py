"""Intervals and tests against scipy, and against every resample of small cases."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ftor.metrics.significance import (
    Sample,
    bootstrap,
    compare,
    mcnemar,
    same_mean,
    share,
    share_of_runs,
    student_tail,
    tail,
)

COUNTS = st.integers(0, 60)


class TestBootstrap:
    @pytest.mark.parametrize("values", [[0, 1], [0, 1, 1, 1], [-1, 0, 0, 1, 1], [0, 2, 5, 5]])
    def test_the_interval_is_that_of_all_resamples(self, values):
        means = [np.mean(resample) for resample in product(values, repeat=len(values))]
        found = bootstrap(values, level=0.8)
        assert found.value == np.mean(values)
        assert found[1:] == pytest.approx(np.quantile(means, [0.1, 0.9], method="inverted_cdf"), abs=1e-12)

    def test_the_interval_of_a_share_is_binomial(self):
        """The number of right ones in a resample is binomial."""
        right = np.arange(200) < 130
        wanted = stats.binom(200, 0.65).ppf([0.025, 0.975]) / 200
        assert share(right)[1:] == pytest.approx(wanted, abs=0.0051)  # one example more or less

    def test_the_interval_agrees_with_that_of_scipy(self):
        values = np.random.default_rng(1).integers(0, 7, 150)
        wanted = stats.bootstrap(
            (values,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(2)
        ).confidence_interval
        assert bootstrap(values)[1:] == pytest.approx(wanted, abs=0.03)

    def test_the_same_seed_gives_the_same_interval(self):
        values = [0, 1, 1, 5, 9] * 9
        assert bootstrap(values) == bootstrap(values)
        assert bootstrap(values) != bootstrap(values, seed=1)

    def test_no_values(self):
        for estimate in (bootstrap, share):
            with pytest.raises(ValueError, match="values: there are none"):
                estimate(np.array([], bool))

    @pytest.mark.parametrize("right", [True, False])
    @pytest.mark.parametrize("count", [1, 7, 300])
    def test_shares_of_0_and_1_have_exact_bounds(self, right, count):
        wanted = stats.binomtest(count if right else 0, count).proportion_ci(0.95, method="exact")
        assert share(np.full(count, right)) == pytest.approx((float(right), wanted.low, wanted.high))


class TestMcNemar:
    @given(COUNTS, COUNTS)
    def test_it_is_the_binomial_test(self, one, other):
        wanted = stats.binomtest(one, one + other).pvalue if one + other else 1.0
        assert mcnemar(one, other) == pytest.approx(wanted, rel=1e-9)

    def test_no_sum_is_too_large(self):
        assert mcnemar(3000, 3000) == 1
        assert mcnemar(0, 5000) == 0  # less than the smallest number that a computer writes


class TestCompare:
    def test_counts_and_estimates(self):
        first = np.array([1, 1, 1, 0, 0, 0, 0, 0], bool)
        second = np.array([1, 1, 0, 1, 1, 1, 1, 0], bool)
        found = compare(first, second)
        assert (found.both, found.only_first, found.only_second, found.neither) == (2, 1, 4, 1)
        assert (found.first.value, found.second.value, found.difference.value) == (3 / 8, 6 / 8, 3 / 8)
        assert found.p_value == pytest.approx(stats.binomtest(1, 5).pvalue)

    def test_the_interval_is_that_of_resampled_pairs(self):
        """Each resample draws examples, with the answers of both models."""
        first, second = np.array([1, 1, 0, 0, 0], bool), np.array([1, 0, 1, 1, 0], bool)
        differences = [
            np.mean(second[list(rows)]) - np.mean(first[list(rows)]) for rows in product(range(5), repeat=5)
        ]
        wanted = np.quantile(differences, [0.025, 0.975], method="inverted_cdf")
        assert compare(first, second).difference[1:] == pytest.approx(wanted, abs=1e-12)

    def test_equal_answers(self):
        found = compare(np.array([True, False]), np.array([True, False]))
        assert (found.difference, found.p_value) == ((0, 0, 0), 1)

    def test_different_numbers_of_examples(self):
        with pytest.raises(ValueError, match="second: expected 2 verdicts, as many as first, found 1"):
            compare(np.array([True, False]), np.array([True]))


class TestTail:
    @given(st.data())
    def test_it_is_the_hypergeometric_tail(self, data):
        examples = data.draw(st.integers(1, 80))
        draws, marked = (data.draw(st.integers(0, examples)) for _ in range(2))
        hits = data.draw(st.integers(0, examples))
        wanted = stats.hypergeom(examples, marked, draws).sf(hits - 1)
        assert tail(hits, draws, marked, examples) == pytest.approx(wanted, rel=1e-7, abs=1e-12)

    def test_every_drawing_of_a_small_case(self):
        """Two of four sentences have a word, and two are wrong."""
        wrong = Counter(bin(mask & 0b0011).count("1") for mask in range(16) if bin(mask).count("1") == 2)
        assert tail(2, 2, 2, 4) == pytest.approx(wrong[2] / 6)
        assert tail(1, 2, 2, 4) == pytest.approx((wrong[1] + wrong[2]) / 6)


@pytest.mark.parametrize("freedom", [1, 1.5, 2, 4, 7.3, 30])
@pytest.mark.parametrize("t", [0.0, 0.1, 1.0, 2.5, 12.0])
def test_students_distribution(t, freedom):
    assert student_tail(t, freedom) == pytest.approx(2 * stats.t.sf(t, freedom), abs=1e-6)


@pytest.mark.parametrize(
    ("one", "other"), [((80.0, 2.0, 5), (83.0, 1.0, 3)), ((50.0, 10.0, 5), (50.5, 0.1, 2))]
)
def test_two_means_by_welch(one, other):
    expected = stats.ttest_ind_from_stats(*one, *other, equal_var=False).pvalue
    assert same_mean(Sample(*one), Sample(*other)) == pytest.approx(expected, abs=1e-6)


def test_an_unknown_deviation_is_that_of_the_other():
    one, known = Sample(80.0, None, 1), Sample(83.0, 2.0, 5)
    expected = 2 * stats.t.sf(3 / (2 * (1 + 1 / 5) ** 0.5), 4)
    assert same_mean(one, known) == same_mean(known, one) == pytest.approx(expected, abs=1e-6)
    assert same_mean(one, Sample(81.0, None, 5)) is None
    assert same_mean(Sample(1.0, 0.0, 5), Sample(1.0, 0.0, 3)) == 1.0
    assert same_mean(Sample(1.0, 0.0, 5), Sample(2.0, 0.0, 3)) == 0.0


def test_runs_on_the_same_examples():
    right = np.array([[1, 1, 0, 0, 1], [1, 0, 0, 1, 1]], bool)
    assert share_of_runs(right) == bootstrap(right.mean(0))
    assert share_of_runs(np.ones((3, 10), bool)) == share(np.ones(10, bool))
    assert share_of_runs(np.zeros((3, 10), bool)) == share(np.zeros(10, bool))
