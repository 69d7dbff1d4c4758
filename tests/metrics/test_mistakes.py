"""Classes of mistakes: exclusive, exhaustive, and as their descriptions say."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats

from ftor.metrics.mistakes import Mistake, classify, confusions, suspects

OUTPUTS = [tuple(output) for length in range(5) for output in product("abc", repeat=length)]


@pytest.mark.parametrize(
    ("gold", "output", "mistake"),
    [
        ("a b c", "c b a", "wrong order"),
        ("a b a", "a a b", "wrong order"),
        ("a b c", "a x c", "one part confused"),
        ("a b c", "b a x", "several parts confused"),
        ("a b c", "c a x", "several parts confused"),
        ("a b c", "a c", "missing parts"),
        ("a b c", "c a", "missing parts"),
        ("a b c", "", "missing parts"),
        ("a b", "a b b", "extra parts"),
        ("a b", "b c a", "extra parts"),
        ("a b c", "a x", "wrong length"),
        ("a b c", "a b x y", "wrong length"),
    ],
)
def test_examples(gold, output, mistake):
    assert classify(gold.split(), output.split()) == mistake


def slow_mistakes(gold, output):
    """Every class whose description fits, from removing parts one by one."""
    missing, rest = [], list(output)
    for part in gold:
        if part in rest:
            rest.remove(part)
        else:
            missing.append(part)
    same_length, places = len(gold) == len(output), sum(map(str.__ne__, gold, output))
    fits = {
        "wrong order": not missing and not rest,
        "one part confused": same_length and places == 1,
        "missing parts": bool(missing) and not rest,
        "extra parts": bool(rest) and not missing,
        "wrong length": not same_length and bool(missing) and bool(rest),
        "several parts confused": same_length and bool(missing) and places > 1,
    }
    return [mistake for mistake, fit in fits.items() if fit]


@pytest.mark.parametrize("gold", [(), ("a",), ("a", "b", "c"), ("a", "b", "a", "c")], ids=str)
def test_each_wrong_output_fits_one_class(gold):
    for output in OUTPUTS:
        if output != gold:
            assert slow_mistakes(gold, output) == [classify(gold, output)]


def test_causes_come_before_effects():
    assert classify(["a"], ["b"], unknown=True) == "unknown words"
    assert classify(["a"], [], unknown=True, answered=False) == "no answer"


def test_every_class_has_a_meaning():
    assert all(mistake.meaning.endswith(".") for mistake in Mistake)


def test_suspects():
    sentences = [["the", "bad", "bad"], ["the", "bad"], ["the", "good"], ["the"], ["the", "good"], ["the"]]
    found = suspects(sentences, np.array([1, 1, 0, 0, 0, 0], bool), most=0.1)
    p_value = stats.fisher_exact([[2, 0], [0, 4]], "greater").pvalue
    assert [(one.item, one.wrong, one.count) for one in found] == [("bad", 2, 2)]
    assert found[0].p_value == pytest.approx(p_value) == pytest.approx(1 / 15)


def test_suspects_are_in_order_and_nothing_else_is_suspected():
    sentences = [["a", "b"]] * 5 + [["a"]] * 2 + [["c"]] * 10
    found = suspects(sentences, np.arange(17) < 6)
    assert [one.item for one in found] == ["a", "b"]
    assert found[0].p_value < found[1].p_value
    assert suspects(sentences, np.zeros(17, bool)) == suspects(sentences, np.ones(17, bool)) == []


def test_confusions():
    golds = [["a", "b", "c"], ["a", "b"], ["a"], ["a"]]
    outputs = [["a", "x", "c"], ["a", "x"], ["a", "y"], []]
    wanted = Counter({("b", "x"): 2, ("", "y"): 1, ("a", ""): 1})
    assert confusions(golds, outputs) == wanted


def test_one_example_is_no_suspicion():
    sentences = [["once"]] + [["other"]] * 99
    assert suspects(sentences, np.arange(100) < 1) == []
