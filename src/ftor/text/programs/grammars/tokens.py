"""Compiles a grammar over tokens into a grammar over units of several tokens.

A reader of tokens writes units. Between two units it is in the state `OUTSIDE`, and after the k-th token of a
unit in a state of its own. A rule of the new grammar is a rule of the old one with the states before and
after it (Bar-Hillel, Perles and Shamir 1961). A unit is written at its first token.
"""

from collections.abc import Iterator, Mapping, Sequence

from ftor.grammar import Grammar
from ftor.grammar.reading import COPY, EMPTY, Part, Words
from ftor.grammar.writing import quoted

OUTSIDE = 0
Between = tuple[str, int, int]
"""A name with the states before and after what it derives."""
Written = tuple[str | Between, ...]
"""What a rule writes: terminals as the notation of grammars quotes them, and names."""


def grammar_over_units(grammar: Grammar, units: Mapping[str, Sequence[str]]) -> Grammar:
    """The grammar of the same targets, written in units or single tokens.

    Args:
        grammar: the grammar over tokens.
        units: the tokens of each unit, two or more, by its name.
    """
    return Grammar.parse(_Product(grammar, units).text(), grammar.name)


class _Product:
    def __init__(self, grammar: Grammar, units: Mapping[str, Sequence[str]]) -> None:
        self._start = grammar.rules[0].name
        self._rules: dict[str, list[tuple[Part, ...]]] = {}
        for rule in grammar.rules:
            self._rules.setdefault(rule.name, []).append(rule.parts)
        self._first: dict[str, list[tuple[str, int]]] = {}
        self._next: dict[int, tuple[str, int]] = {}
        for name, tokens in units.items():
            state = len(self._next) + 1
            self._first.setdefault(tokens[0], []).append((name, state))
            for token in tokens[1:]:
                self._next[state] = token, state + 1
                state += 1
            self._next[state - 1] = tokens[-1], OUTSIDE
        self._ends: dict[tuple[str, int], set[int]] = {(self._start, OUTSIDE): set()}
        size = -1
        while size != (size := len(self._ends) + sum(map(len, self._ends.values()))):
            for name, state in list(self._ends):
                self._ends[name, state].update(end for _, end in self._bodies(name, state))

    def _bodies(self, name: str, state: int) -> Iterator[tuple[Written, int]]:
        """What the rules of a name write from a state on, and the state after it."""
        for parts in self._rules[name]:
            paths: set[tuple[Written, int]] = {((), state)}
            for part in parts:
                paths = {
                    (before + written, end) for before, at in paths for written, end in self._steps(part, at)
                }
            yield from paths

    def _steps(self, part: Part, state: int) -> Iterator[tuple[Written, int]]:
        if isinstance(part, str):
            for end in tuple(self._ends.setdefault((part, state), set())):
                yield ((part, state, end),), end
        elif state != OUTSIDE:
            token, end = self._next[state]
            if token in part.words:
                yield (), end
        else:
            yield from self._outside(part)

    def _outside(self, part: Words) -> Iterator[tuple[Written, int]]:
        for word in part.words:
            yield (quoted(word),), OUTSIDE
            for name, state in self._first.get(word, ()):
                yield (quoted(name),), state
        if part.copy:
            yield (COPY,), OUTSIDE

    def text(self) -> str:
        """The rules that the start needs, as text."""
        start: Between = (self._start, OUTSIDE, OUTSIDE)
        bodies: dict[Between, set[Written]] = {}
        for name, state in self._ends:
            for written, end in self._bodies(name, state):
                bodies.setdefault((name, state, end), set()).add(written)
        _leave_out_silent(bodies)
        names = self._names(bodies)
        lines, used, waiting = list[str](), {start}, [start]
        while waiting:
            what = waiting.pop(0)
            shown = sorted(" ".join(_shown(part, names) for part in body) or EMPTY for body in bodies[what])
            lines.append(f"{names[what]} -> " + "\n  | ".join(shown))
            new = {part for body in bodies[what] for part in body if isinstance(part, tuple)} - used
            used |= new
            waiting += sorted(new)
        return "\n\n".join(lines) + "\n"

    def _names(self, all_of: Mapping[Between, object]) -> dict[Between, str]:
        """A name keeps its name if it derives whole units."""
        names: dict[Between, str] = {}
        taken = set(self._rules)
        for what in all_of:
            name, state, end = what
            if (state, end) != (OUTSIDE, OUTSIDE):
                number = 1
                while f"{name}.{number}" in taken:
                    number += 1
                name = f"{name}.{number}"
                taken.add(name)
            names[what] = name
        return names


def _shown(part: str | Between, names: Mapping[Between, str]) -> str:
    return part if isinstance(part, str) else names[part]


def _leave_out_silent(bodies: dict[Between, set[Written]]) -> None:
    """Leave out names that write nothing, because all of their tokens are inside units."""
    while silent := {what for what, written in bodies.items() if written == {()} and what[1] != OUTSIDE}:
        for what in silent:
            del bodies[what]
        for what, written in bodies.items():
            bodies[what] = {tuple(part for part in body if part not in silent) for body in written}
