"""What inferred grammars accept of programs held out, and how many programs they derive."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log10

from ftor.grammar import Grammar
from ftor.grammar.inferring import Generality, count_programs
from ftor.reporting import percent
from ftor.text.programs import ProgramError, Programs, UnitSettings
from ftor.text.programs.grammars.inferring import inferred_grammar
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair

HELD_OUT = 10
"""Every tenth program is held out."""
LONGEST = 100
"""Programs of more units are not counted: it takes cubic time, and the numbers have thousands of digits."""
GENERALITIES: tuple[Generality, ...] = ("typed", "union", "arity")


@dataclass(frozen=True)
class Coverage:
    """What a grammar of most programs does with the others.

    Attributes:
        generality: how general the grammar is.
        accepted, held_out: how many of how many programs held out it accepts.
        accepted_unseen, unseen: the same for those that are not among the programs of the grammar.
        programs: the common logarithm of the number of programs that it derives, up to `longest` units.
        longest: the units of the longest program that it is inferred from, at most `LONGEST`.
    """

    generality: Generality
    accepted: int
    held_out: int
    accepted_unseen: int
    unseen: int
    programs: float
    longest: int

    def __str__(self) -> str:
        return (
            f"{self.generality}: accepts {_share(self.accepted, self.held_out)} of {self.held_out} programs "
            f"held out, {_share(self.accepted_unseen, self.unseen)} of the {self.unseen} unseen ones; "
            f"derives {self._number()} of up to {self.longest} units"
        )

    def _number(self) -> str:
        return "no program" if self.programs == -inf else f"10^{self.programs:.1f} programs"


def _share(part: int, whole: int) -> str:
    return percent(part / whole) if whole else "–"


def coverage(
    pairs: Sequence[Pair], notation: str, copies: bool, fold: int = 0, settings: UnitSettings | None = None
) -> list[Coverage]:
    """Hold every tenth program out, and try a grammar of the others in each generality.

    Args:
        pairs: pairs whose targets are programs, not yet in units.
        notation: the name of their notation.
        copies: whether words of sources may be copied.
        fold: which tenth is held out, 0..9.
        settings: when units are joined.
    """
    rest = [pair for number, pair in enumerate(pairs) if number % HELD_OUT != fold]
    copied = {word for pair in rest for word in pair.source} if copies else set()
    targets = [pair.target_text for pair in rest]
    sentences = [pair.source for pair in rest]
    programs = Programs.learn(targets, notation, settings, copied, sentences=sentences)
    known = {pair.target_text for pair in rest}
    encoded = encode_pairs(programs, rest)
    longest = min(max(len(pair.target) for pair in encoded), LONGEST)
    others = [(pair, _units(programs, pair)) for pair in pairs[fold::HELD_OUT]]
    found = []
    for generality in GENERALITIES:
        grammar = Grammar.parse(inferred_grammar(encoded, programs, copies, generality), generality)
        accepted = [
            pair for pair, units in others if units is not None and grammar.accepts(units, pair.source)
        ]
        derived = sum(count_programs(grammar.rules, longest))
        found.append(
            Coverage(
                generality,
                len(accepted),
                len(others),
                sum(pair.target_text not in known for pair in accepted),
                sum(pair.target_text not in known for pair, _ in others),
                log10(derived) if derived else -inf,
                longest,
            )
        )
    return found


def _units(programs: Programs, pair: Pair) -> list[str] | None:
    """The units of a program, or None if it cannot be read."""
    try:
        return programs.encode(pair.target_text)
    except ProgramError:
        return None
