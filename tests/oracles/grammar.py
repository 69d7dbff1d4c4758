"""Every short string of a context-free grammar, by brute force: the slow, sure answer for charts.

Independent of the library: a grammar is a table of alternatives, whose parts are names (`"S"`), words
(`"'a"`) or `"@copy"`, and its strings are enumerated from these alternatives as they stand.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import hypothesis.strategies as st

Alternatives = Mapping[str, Sequence[Sequence[str]]]
String = tuple[str, ...]


def write(grammar: Alternatives) -> str:
    """The grammar in the library's notation; the first name is the start."""
    lines = []
    for name, alternatives in grammar.items():
        bodies = [
            " ".join(f"'{part[1:]}'" if part.startswith("'") else part for part in parts) or "()"
            for parts in alternatives
        ]
        lines.append(f"{name} -> {' | '.join(bodies)}")
    return "\n".join(lines)


def words(grammar: Alternatives) -> list[str]:
    """The words in order of first appearance."""
    parts = chain.from_iterable(chain.from_iterable(grammar.values()))
    return list(dict.fromkeys(part[1:] for part in parts if part.startswith("'")))


def language(grammar: Alternatives, longest: int, copied: Iterable[str] = ()) -> set[String]:
    """Every string of at most `longest` words; any of `copied` may stand where the grammar has @copy."""
    copies = {(word,) for word in copied}
    table: dict[str, set[String]] = {name: set() for name in grammar}
    before = -1
    while before != (before := sum(map(len, table.values()))):
        for name, alternatives in grammar.items():
            for parts in alternatives:
                strings: set[String] = {()}
                for part in parts:
                    if part == "@copy":
                        options = copies
                    else:
                        options = {(part[1:],)} if part.startswith("'") else table[part]
                    strings = {a + b for a in strings for b in options if len(a) + len(b) <= longest}
                table[name] |= strings
    return table[next(iter(grammar))]


def ranked(strings: Iterable[String], scores: Sequence[Mapping[str, float]]) -> list[tuple[float, String]]:
    """The possible strings of the scores' length with their scores, best first."""
    found = []
    for string in strings:
        if len(string) == len(scores):
            score = math.fsum(scores[position][word] for position, word in enumerate(string))
            if score > -1e29:
                found.append((score, string))
    return sorted(found, reverse=True)


def is_derivation(grammar: Alternatives, tree, copied: Iterable[str] = ()) -> bool:
    """Whether every node of a parse tree (with `name` and `children`) is one of the alternatives."""

    def matches(part: str, child) -> bool:
        if isinstance(child, str):
            return part == f"'{child}" or (part == "@copy" and child in copied)
        return part == child.name and is_derivation(grammar, child, copied)

    return any(
        len(parts) == len(tree.children) and all(map(matches, parts, tree.children))
        for parts in grammar[tree.name]
    )


@st.composite
def grammars(draw) -> dict[str, list[list[str]]]:
    """Small grammars with empty alternatives, unary cycles, left recursion, ambiguity and copying."""
    names = ["S", "A", "B", "C"][: draw(st.integers(1, 4))]
    part = st.sampled_from([*names, "'a", "'b", "'c", "@copy"])
    alternatives = st.lists(st.lists(part, max_size=4), max_size=3)
    ending = st.sampled_from([[], ["'a"], ["'b"], ["@copy"], ["'c", "'a"]])
    grammar = {name: [*draw(alternatives), draw(ending)] for name in names}
    used, waiting = {"S"}, ["S"]
    while waiting:
        new = {part for parts in grammar[waiting.pop()] for part in parts if part in grammar} - used
        used |= new
        waiting.extend(new)
    return {name: alternatives for name, alternatives in grammar.items() if name in used}
