"""Rules over characters without groups and repetitions, and whether their words are finitely many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ftor.errors import nearest
from ftor.grammar.expressions import (
    BLANKS,
    AnyWord,
    Choice,
    Expression,
    Name,
    Other,
    Repeat,
    Row,
    Source,
    Text,
)

Atom = Text | AnyWord | Name


@dataclass(frozen=True)
class Alternative:
    """One alternative of a rule, and its place in the file."""

    atoms: tuple[Atom, ...]
    at: int


class PlainRules:
    """Rules whose groups and repetitions are rules of their own.

    Attributes:
        alternatives: by name.
    """

    def __init__(self, rules: Mapping[str, Expression], source: Source) -> None:
        self.source, self._taken, self._known = source, set(rules), rules
        self.alternatives: dict[str, list[Alternative]] = {}
        for name, body in rules.items():
            self._add(name, name, body)

    def _add(self, name: str, rule: str, body: Expression) -> None:
        options = body.options if isinstance(body, Choice) else (body,)
        self.alternatives[name] = []
        for option in options:
            self.alternatives[name].append(Alternative(tuple(self._atoms(option, rule)), option.at))

    def _atoms(self, part: Expression, rule: str) -> Iterator[Atom]:
        if isinstance(part, Row):
            for each in part.parts:
                yield from self._atoms(each, rule)
        elif isinstance(part, Choice):
            if all(isinstance(option, Text) for option in part.options):
                yield Text(
                    tuple(text for one in part.options if isinstance(one, Text) for text in one.options)
                )
            else:
                yield self._new(part, rule)
        elif isinstance(part, Repeat):
            yield from self._repeated(part, rule)
        elif isinstance(part, Other):
            self.source.fail(
                "expected finitely many characters; all but some are only read as whole words, [^ ]+, which "
                "are copied from the sentence",
                part.at,
            )
        elif isinstance(part, Name):
            if part.name not in self._known and part.name not in self._taken:
                near = nearest(part.name, self._known)
                hint = f"; did you mean {near!r}?" if near else ""
                self.source.fail(f"expected the name of a rule, found {part.name!r}{hint}", part.at)
            yield part
        else:
            yield part

    def _new(self, body: Expression, rule: str) -> Name:
        name = self._free(rule)
        self._add(name, rule, body)
        return Name(name, body.at)

    def _free(self, rule: str) -> str:
        number = 1
        while (name := f"{rule}_{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return name

    def _repeated(self, repeat: Repeat, rule: str) -> Iterator[Atom]:
        part, at = repeat.part, repeat.at
        more = (repeat.least, repeat.most) == (1, None)
        if more and isinstance(part, Other) and {" "} <= part.excluded <= set(BLANKS):
            yield AnyWord(part.at)
            return
        atoms = tuple(self._atoms(part, rule))
        if len(atoms) != 1:
            atoms = (self._new(part, rule),)
        for _ in range(repeat.least - (repeat.most is None and repeat.least > 0)):
            yield from atoms
        if repeat.most is None:
            name = Name(self._free(rule), at)
            none = () if repeat.least == 0 else atoms
            self.alternatives[name.name] = [Alternative(none, at), Alternative((*atoms, name), at)]
            yield name
            return
        rest: tuple[Atom, ...] = ()
        for _ in range(repeat.most - repeat.least):
            name = Name(self._free(rule), at)
            self.alternatives[name.name] = [Alternative((), at), Alternative((*atoms, *rest), at)]
            rest = (name,)
        yield from rest


def check_words(rules: Mapping[str, list[Alternative]], source: Source) -> None:
    """Raise if words can be of any length: a rule repeats itself with letters and no blanks beside it."""
    letters = _derive_letters(rules)
    for direction in (1, -1):
        edges: dict[str, set[str]] = {name: set() for name in rules}
        growing: list[tuple[str, str, int]] = []
        for name, alternatives in rules.items():
            for one in alternatives:
                grows = False
                for atom in one.atoms[::direction]:
                    if isinstance(atom, Name):
                        edges[name].add(atom.name)
                        growing += [(name, atom.name, one.at)] * grows
                    kinds = _kinds(atom, letters)
                    if not kinds:
                        break
                    grows = grows or True in kinds
        for name, below, at in growing:
            if name in _reached(below, edges):
                source.fail(
                    "expected finitely many words, found words of any length; "
                    "[^ ]+ is a word that is copied from the sentence",
                    at,
                )


def _derive_letters(rules: Mapping[str, list[Alternative]]) -> dict[str, set[bool]]:
    """For each rule, whether it derives letters without blanks (True), nothing at all (False), or both."""
    known: dict[str, set[bool]] = {name: set() for name in rules}
    before = -1
    while before != (before := sum(map(len, known.values()))):
        for name, alternatives in rules.items():
            for one in alternatives:
                sums = {False}
                for atom in one.atoms:
                    sums = {a or b for a in sums for b in _kinds(atom, known)}
                known[name] |= sums
    return known


def _kinds(atom: Atom, known: Mapping[str, set[bool]]) -> set[bool]:
    if isinstance(atom, Name):
        return known[atom.name]
    if isinstance(atom, AnyWord):
        return set()
    return {bool(option) for option in atom.options if not any(letter.isspace() for letter in option)}


def _reached(name: str, edges: Mapping[str, Iterable[str]]) -> set[str]:
    reached, waiting = {name}, [name]
    while waiting:
        new = set(edges[waiting.pop()]) - reached
        reached |= new
        waiting.extend(new)
    return reached
