"""Copy rules."""

import pytest

from ftor.config import Config
from ftor.text.copying import Copying


@pytest.mark.parametrize(
    ("rules", "copies"),
    [
        (Copying(), ["High", "top"]),
        (Copying(any_case=True), ["High", "high", "top", "TOP"]),
        (Copying(any_case=True, never=frozenset({"TOP"})), ["High", "high", "top"]),
        (Copying(never=frozenset({"top"})), ["High"]),
    ],
    ids=["same case", "any case", "any case but TOP", "all but top"],
)
def test_which_tokens_are_copies(rules, copies):
    keys = rules.keys(["find", "High", "top"])
    assert [token for token in ("High", "high", "top", "TOP", "x") if rules.is_copy(token, keys)] == copies


def test_copies_are_written_in_all_forms():
    assert Copying().copies(["new", "york"]) == ("new", "york")
    assert Copying(forms=("snake",)).copies(["new", "york"]) == ("new", "new_york", "york")


def test_the_rules_of_a_configuration():
    settings = ['data.copy_vocabulary="closed"', 'data.copy_case="any"', 'data.no_copy=["a", "b"]']
    config = Config.load("transducer", ["model.copying=true", *settings])
    assert Copying.of(config.data) == Copying(open=False, any_case=True, never=frozenset({"a", "b"}))
    assert Copying.of(Config.load("transducer").data) == Copying()
