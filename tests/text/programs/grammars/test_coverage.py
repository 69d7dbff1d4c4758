"""What grammars of nine tenths of the programs accept of the last tenth."""

import pytest

from ftor.text.programs import UnitSettings
from ftor.text.programs.grammars.coverage import coverage
from ftor.text.reading import Pair

NO_JOINS = UnitSettings(share=2, child_share=2)


def pairs_of(targets):
    return [Pair(("x",), tuple(text.split()), line, None, text) for line, text in enumerate(targets, 1)]


@pytest.fixture
def targets():
    """Give programs whose tenth 0 has one known, one new and one ill-typed program."""
    usual = [f"(set (lamp {room}) {state})" for room in ("hall", "attic") for state in ("on", "off")]
    return [
        *("(set (lamp hall) on)", *usual, *usual, "(set (fan hall) on)"),
        *("(set (fan attic) off)", *usual, *usual, usual[0]),
        *("(set (lamp on) hall)", *usual, *usual, usual[0]),
    ]


def test_more_general_grammars_accept_more(targets):
    typed, union, arity = coverage(pairs_of(targets), "s-expression", False, settings=NO_JOINS)
    assert (typed.held_out, typed.unseen) == (3, 2)
    assert (typed.accepted, union.accepted, arity.accepted) == (2, 2, 3)
    assert (typed.accepted_unseen, arity.accepted_unseen) == (1, 2)
    assert typed.programs < arity.programs
    assert typed.longest == 4


def test_other_tenths(targets):
    typed, *_ = coverage(pairs_of(targets), "s-expression", False, fold=3, settings=NO_JOINS)
    assert (typed.accepted, typed.held_out, typed.unseen) == (3, 3, 0)
    assert "accepts 100.0 % of 3 programs held out, – of the 0 unseen ones" in str(typed)


def test_names_of_several_words_are_put_together_anew():
    names = ["west haven", *["west york", "new york", "new haven"] * 6, *["york", "haven"] * 6]
    pairs = [
        Pair(("in", *name.split()), (), line, None, f"answer stateid {name}")
        for line, name in enumerate(names)
    ]
    typed, *_ = coverage(pairs, "prefix", False)
    assert (typed.accepted_unseen, typed.unseen) == (1, 1)


def test_units_are_those_of_a_model():
    books = ["Nova", "Luna"] * 9
    pairs = [
        Pair(tuple(source.split()), (), line, None, target)
        for line, (source, target) in enumerate(
            [
                ("who sold Iris", "(sold Iris)"),
                *(("who copied Iris", "(copy_of Iris)") for _ in range(8)),
                *((f"who copied {book}", f"(copy_of {book})") for book in books[:6]),
                *((f"who sold {book}", f"(sold {book})") for book in books),
            ]
        )
    ]
    typed, *_ = coverage(pairs, "s-expression", False)
    assert (typed.accepted_unseen, typed.unseen) == (1, 1)
