"""Targets in the words of a grammar: tokens, or the brackets, separators and words of a notation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ftor.grammar import Grammar
from ftor.text.programs.lexing import ProgramError, possible_dialects
from ftor.text.programs.notations import Notation
from ftor.text.programs.units import JOINER
from ftor.text.reading import Pair

BRACKETED = ("json", "s-expression", "calls")
"""Notations whose words need no blanks between them."""


def likely_unit(grammar: Grammar) -> str | None:
    """A word of a grammar that looks like a unit, as in the `grammar.cfg` of a model of programs.

    It has several parts. Some languages have such words, too, such as Catalan `col·lecció`.
    """
    return next((word for word in grammar.terminals if JOINER in word.strip(JOINER)), None)


def has_json_strings(grammar: Grammar) -> bool:
    """Whether a grammar over the words of JSON has strings, whose quotes are words of their own."""
    words = set(grammar.terminals)
    return '"' in words and (words >= {"{", ":"} or "[" in words) and "(" not in words


@dataclass(frozen=True)
class Reading:
    """How targets were read.

    Attributes:
        notation: the name of a notation, or None for tokens.
        pairs: the pairs with targets in these words.
        rejected: those whose targets the grammar does not derive.
    """

    notation: str | None
    pairs: list[Pair]
    rejected: list[Pair]

    def __str__(self) -> str:
        return "words with blanks between them" if self.notation is None else self.notation


def read_targets(grammar: Grammar, pairs: Sequence[Pair]) -> Reading:
    """Read targets as tokens, or in the notation that fits a grammar best.

    That is the one in which it derives most targets. Of several, it has most words of the grammar.
    """
    words = set(grammar.terminals)
    best, best_fit = None, (-1, -1)
    seen: list[list[Pair]] = []
    texts = [pair.target_text for pair in pairs]
    notations = [
        Notation(name, dialect=dialect) for name in BRACKETED for dialect in possible_dialects(name, texts)
    ]
    for notation in (None, *notations):
        read = list(pairs) if notation is None else [_in_words(notation, pair) for pair in pairs]
        if read in seen:
            continue
        seen.append(read)
        rejected = [pair for pair in read if not grammar.accepts(pair.target, pair.source)]
        fit = len(read) - len(rejected), sum(word in words for pair in read for word in pair.target)
        if best is None or fit > best_fit:
            best, best_fit = Reading(notation.name if notation else None, read, rejected), fit
        if not rejected:
            break
    assert best is not None
    return best


def _in_words(notation: Notation, pair: Pair) -> Pair:
    """A pair with its target in the words of a notation. One that is no program keeps its tokens."""
    try:
        return replace(pair, target=tuple(notation.split(pair.target_text)))
    except ProgramError:
        return pair
