"""Units of plain tokens: lossless, deterministic, and never with names or copied words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ftor.text.programs import ProgramError, TokenUnits, UnitSettings

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "a·b", "b·c", "'", "·"]), min_size=1, max_size=8).map(
    " ".join
)
SETTINGS = st.builds(
    UnitSettings, st.sampled_from([0.5, 0.98, 2.0]), st.sampled_from([0.5, 0.98, 2.0]), st.integers(1, 3)
)


@given(st.lists(TEXTS, min_size=1, max_size=8), TEXTS, SETTINGS)
def test_every_target_comes_back(training, other, settings):
    units = TokenUnits.learn(training, settings)
    again = TokenUnits.from_dict(json.loads(json.dumps(units.to_dict())))
    for text in training:
        assert units.decode(units.encode(text)) == text
        assert again.encode(text) == units.encode(text)
    try:
        names = units.encode(other)
    except ProgramError as error:
        assert "is the name of a unit" in str(error)  # noqa: PT017
    else:
        assert units.decode(names) == other


@given(st.lists(TEXTS, min_size=1, max_size=8), SETTINGS)
def test_the_order_of_targets_does_not_matter(training, settings):
    assert (
        TokenUnits.learn(training, settings).to_dict() == TokenUnits.learn(training[::-1], settings).to_dict()
    )


TARGETS = [f"select {what} from table where {key} = 1" for what in ("size", "name") for key in ("x", "y")] * 5


def test_tokens_that_come_together_are_one_unit():
    units = TokenUnits.learn(TARGETS)
    assert units.encode(TARGETS[0]) == ["select", "size", "from·table·where", "x", "=·1"]
    assert units.encode("from x") == ["from", "x"]  # single tokens can still be written


def test_each_direction_has_its_share():
    targets = ["a b", "a b", "c b", "d e", "d e", "d f"] * 3  # a predicts b, and e predicts d

    def units(share, child_share):
        learned = TokenUnits.learn(targets, UnitSettings(share, child_share, count=5))
        return learned.encode("a b d e")

    assert units(0.9, 0.9) == ["a", "b", "d", "e"]
    assert units(0.9, 0.6) == ["a·b", "d", "e"]
    assert units(0.9, 2) == ["a·b", "d", "e"]
    assert units(2, 0.9) == ["a", "b", "d·e"]
    assert units(2, 2) == ["a", "b", "d", "e"]


def test_rare_pairs_stay_apart():
    assert TokenUnits.learn(["a b"] * 4, UnitSettings(count=5)).encode("a b") == ["a", "b"]


def test_copied_words_and_names_in_quotes_stay_apart():
    units = TokenUnits.learn(["city = ' salt lake city ' ;", "state = 'new york' ;"] * 9, copied={"state"})
    assert units.encode("= ' salt lake city ' ;")[1:5] == ["'", "salt", "lake", "city"]
    assert units.encode("state = 'new york' ;") == ["state", "=", "'new", "york'", ";"]


def test_an_apostrophe_opens_no_name():
    targets = ["the dog 's tail wags", "it is the dog 's tail"] * 9
    assert TokenUnits.learn(targets).encode("the dog 's tail") == ["the·dog·'s·tail"]


def test_a_token_that_is_the_name_of_a_unit():
    units = TokenUnits.learn(["a b"] * 9)
    with pytest.raises(ProgramError, match="'a·b' is the name of a unit"):
        units.encode("a·b c")


def test_a_unit_is_shown_as_its_tokens():
    units = TokenUnits.learn(["a b c", "a b d", "a b e"] * 4)
    (name, _) = units.encode("a b c")
    assert units.show(name) == "a b"
    assert units.show("copied") == "copied"


def test_tokens_that_are_apart_are_never_in_one_unit():
    targets = ["place mount mckinley high", "river mount mckinley low"] * 5
    units = TokenUnits.learn(targets, apart={("mount", "mckinley")})
    assert units.encode(targets[0]) == ["place", "mount", "mckinley", "high"]
    assert TokenUnits.learn(targets).encode(targets[0]) == ["place", "mount·mckinley", "high"]
