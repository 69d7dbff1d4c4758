"""The examples in the docstrings of the distributions."""

import doctest
import sys

import pytest

from ftor.distributions import Fertility, SeparablePermutation


@pytest.mark.parametrize("shown", [Fertility, SeparablePermutation])
def test_the_example_in_the_docstring_is_true(shown: type) -> None:
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(shown, globs=vars(sys.modules[shown.__module__])):
        assert runner.run(example).failed == 0
    assert runner.tries > 3
