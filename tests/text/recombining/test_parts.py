"""Parts of programs with their phrases."""

from ftor.text.reading import Pair
from ftor.text.recombining.parts import Place

PAIR = Pair(("show", "files", "by", "Anna", "today"), ("GET", "files", "OWNER", "anna"), line=1)


def place(first, last):
    """The part `OWNER anna` with these words as its phrase."""
    return Place(("item", ("Clause",)), 0, 2, 4, 4, 4, first, last, 0, 0)


def test_a_part_has_its_copies_if_its_phrase_has():
    assert place(2, 4).has_its_copies(PAIR)
    assert not place(2, 3).has_its_copies(PAIR)  # `by` without the name
    assert place(2, 3).has_its_copies(Pair(("show", "files", "by", "her"), PAIR.target, line=1))
