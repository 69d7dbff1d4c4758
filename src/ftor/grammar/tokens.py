"""From expressions over characters to rules over words: a word is what stands between blanks.

A rule of the file can derive a part of a word, or several words of which the first or the last is not
complete. So each rule is read once for each way in which a word is open before it: with the letters of that
word, `""` after a blank, or `CLOSED` if the word is complete and a blank must come next. It is closed or left
open after the rule according to what can come next. This is exact. Words must be finitely many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ftor.grammar.expressions import AnyWord, Expression, Name, Source, Text
from ftor.grammar.plain import Alternative, Atom, PlainRules, check_words
from ftor.grammar.reading import LARGEST_RANGE, GrammarError, Part, Rule, Words, closure

CLOSED = None
_State = str | None
_NAME = re.compile(r"[^\W\d]\w*(?:[-.]\w+)*")


def token_rules(rules: Mapping[str, Expression], start: str, source: Source) -> list[Rule]:
    """The rules over words, the first of which names the start. Rules that nothing needs are left out."""
    if start not in rules:
        there = f"found {', '.join(list(rules)[:5])}" if rules else "found none"
        raise GrammarError(f"{source.name}: expected a rule {start!r}, where texts start; {there}")
    plain = PlainRules(rules, source).alternatives
    return _Reading(plain, start, source).rules()


_Request = tuple[str, _State, bool]  # a rule, the state before it, whether a letter and no blank comes next
_Variant = tuple[str, _State, _State]  # a rule, the states before and after it
_Body = tuple[Words | _Variant, ...]
_CLASS: _Body = (Words(()),)  # stands for all alternatives of one word


class _Reading:
    def __init__(self, plain: Mapping[str, list[Alternative]], start: str, source: Source) -> None:
        self.plain, self.start, self.source = plain, start, source
        productions = [
            (name, [_key(atom) for atom in one.atoms]) for name, some in plain.items() for one in some
        ]
        atoms = {atom for some in plain.values() for one in some for atom in one.atoms}
        empty = closure(productions, {atom for atom in atoms if _is_empty(atom)})
        self.nullable = {name for name in plain if name in empty}
        ending = closure(productions, {atom for atom in atoms if not isinstance(atom, Name)})
        for name, alternatives in plain.items():
            if name not in ending:
                source.fail(f"rule {name!r} derives no text, because it never ends", alternatives[0].at)
        check_words(plain, source)
        self.firsts = self._firsts()
        self.after: dict[_Request, dict[_State, None]] = {}
        self._find_states()

    def _firsts(self) -> dict[str, set[bool]]:
        """Whether each rule can start with a letter (True), with a blank (False), or with both."""
        firsts: dict[str, set[bool]] = {name: set() for name in self.plain}
        before = -1
        while before != (before := sum(map(len, firsts.values()))):
            for name, alternatives in self.plain.items():
                for one in alternatives:
                    for atom in one.atoms:
                        firsts[name] |= firsts[atom.name] if isinstance(atom, Name) else _first(atom)
                        if not self._may_be_empty(atom):
                            break
        return firsts

    def _may_be_empty(self, atom: Atom) -> bool:
        return atom.name in self.nullable if isinstance(atom, Name) else _is_empty(atom)

    def _next(self, atoms: tuple[Atom, ...], then: bool) -> set[bool]:
        """Whether a letter or a blank can come next, before `atoms` and then what `then` says."""
        found: set[bool] = set()
        for atom in atoms:
            found |= self.firsts[atom.name] if isinstance(atom, Name) else _first(atom)
            if not self._may_be_empty(atom):
                return found
        return found | {then}

    def _find_states(self) -> None:
        """The states in which words can be after each rule, until nothing new is found."""
        self.after[self.start, "", False] = {}
        before = -1
        while before != (before := len(self.after) + sum(map(len, self.after.values()))):
            for request in list(self.after):
                name, state, letter = request
                for one in self.plain[name]:
                    for _, out in self._walks(one, state, letter):
                        if out not in self.after[request]:
                            self.after[request][out] = None

    def _check_size(self, name: str) -> None:
        if len(self.after) > LARGEST_RANGE:
            self.source.fail(
                f"expected at most {LARGEST_RANGE} beginnings of words, found more", self.plain[name][0].at
            )

    def _walks(self, one: Alternative, state: _State, letter: bool) -> list[tuple[_Body, _State]]:
        """The ways through an alternative: what is written, and the state after it."""
        ways: dict[tuple[_Body, _State], None] = {((), state): None}
        for place, atom in enumerate(one.atoms):
            after = self._next(one.atoms[place + 1 :], letter)
            new: dict[tuple[_Body, _State], None] = {}
            for body, at in ways:
                for written, out in self._steps(atom, at, after):
                    new[(*body, *written), out] = None
            ways = new
            if len(ways) > LARGEST_RANGE:
                self.source.fail(f"expected at most {LARGEST_RANGE} ways to read this as words", one.at)
        return [way for way in ways if _fits(way[1], letter)]

    def _steps(self, atom: Atom, state: _State, after: set[bool]) -> Iterator[tuple[_Body, _State]]:
        if isinstance(atom, Name):
            for letter in sorted(after):
                request = atom.name, state, letter
                if request not in self.after:
                    self.after[request] = {}
                    self._check_size(atom.name)
                for out in list(self.after[request]):
                    yield ((atom.name, state, out),), out
        elif isinstance(atom, AnyWord):
            if state is CLOSED:
                return
            if state or True in after:
                self.source.fail(
                    "expected blanks around a word of any letters, found other characters", atom.at
                )
            yield (Words((), copy=True),), CLOSED
        else:
            yield from _spelled(atom.options, state, after)

    def rules(self) -> list[Rule]:
        """The rules of all variants that the start needs."""
        bodies = self._bodies()
        starts: list[_Variant] = [(self.start, "", out) for out in self.after[self.start, "", False]]
        names = _Names()
        rules: list[Rule] = []
        if len(starts) > 1:
            head = names.free(self.start)
            rules += [Rule(head, (names.of(variant),), 1) for variant in starts]
        waiting, seen = starts[::-1], set(starts)
        while waiting:
            variant = waiting.pop()
            for body, at in bodies[variant].items():
                parts: tuple[Part, ...] = tuple(p if isinstance(p, Words) else names.of(p) for p in body)
                rules.append(Rule(names.of(variant), parts, self.source.line(at)))
                new = [part for part in body if not isinstance(part, Words) and part not in seen]
                seen.update(new)
                waiting += reversed(list(dict.fromkeys(new)))
        return rules

    def _bodies(self) -> dict[_Variant, dict[_Body, int]]:
        """The alternatives of each variant and their places, without variants that write nothing."""
        bodies: dict[_Variant, dict[_Body, int]] = {}
        for (name, state, letter), outs in list(self.after.items()):
            for out in outs:
                bodies.setdefault((name, state, out), {})
            for one in self.plain[name]:
                for body, out in self._walks(one, state, letter):
                    bodies[name, state, out].setdefault(body, one.at)
        silent: set[_Variant] = set()
        while new := {variant for variant, some in bodies.items() if list(some) == [()]} - silent:
            silent |= new
            for variant, some in bodies.items():
                bodies[variant] = {tuple(p for p in body if p not in new): at for body, at in some.items()}
        for variant in bodies:
            bodies[variant] = _one_class(bodies, variant)
        return bodies


def _one_class(bodies: Mapping[_Variant, Mapping[_Body, int]], variant: _Variant) -> dict[_Body, int]:
    """The alternatives of a variant. Those of one word each, there or one rule below, become one."""
    kept: dict[_Body, int] = {}
    words: list[Words] = []
    for body, at in bodies[variant].items():
        same = [part for part in body if not isinstance(part, Words) and part in bodies]
        inner = bodies[same[0]] if len(body) == len(same) == 1 else {body: at}
        single = [one[0] for one in inner if len(one) == 1 and isinstance(one[0], Words)]
        if len(single) == len(inner):
            words += single
            kept[_CLASS] = min(at, kept.get(_CLASS, at))
        else:
            kept[body] = at
    if not words:
        return kept
    texts = dict.fromkeys(word for one in words for word in one.words)
    merged = Words(tuple(texts), copy=any(one.copy for one in words))
    return {((merged,) if body == _CLASS else body): at for body, at in kept.items()}


def _key(atom: Atom) -> str | Atom:
    return atom.name if isinstance(atom, Name) else atom


def _is_empty(atom: Atom) -> bool:
    return isinstance(atom, Text) and "" in atom.options


def _first(atom: Text | AnyWord) -> set[bool]:
    if isinstance(atom, AnyWord):
        return {True}
    return {not option[0].isspace() for option in atom.options if option}


def _fits(state: _State, letter: bool) -> bool:
    """Whether a state can be followed by a letter, or by a blank or the end."""
    return state == "" or (state is not CLOSED) == letter


def _spelled(options: tuple[str, ...], state: _State, after: set[bool]) -> Iterator[tuple[_Body, _State]]:
    """What strings write after an open word, and the state after them. Single words are one class."""
    classes: dict[_State, list[str]] = {}
    for option in options:
        for words, out in _one_spelled(option, state, after):
            if len(words) == 1:
                classes.setdefault(out, []).append(words[0])
            else:
                yield tuple(Words((word,)) for word in words), out
    for out, words in classes.items():
        yield (Words(tuple(dict.fromkeys(words))),), out


def _one_spelled(option: str, state: _State, after: set[bool]) -> Iterator[tuple[list[str], _State]]:
    if not option:
        yield [], state
        return
    if option[0].isspace():
        if state:  # an open word that a blank follows would have been closed
            return
        state = ""
    elif state is CLOSED:
        return
    *words, last = _split(state + option)
    if not last:
        yield words, ""
        return
    if True in after:
        yield words, last
    if False in after:
        yield [*words, last], CLOSED


def _split(text: str) -> list[str]:
    """The words of a text. The last one is empty if a blank is at the end."""
    return text.split() if text and not text[-1].isspace() else [*text.split(), ""]


class _Names:
    """Names of variants: that of the rule if it is free."""

    def __init__(self) -> None:
        self._names: dict[_Variant, str] = {}
        self._taken: set[str] = set()

    def of(self, variant: _Variant) -> str:
        if variant not in self._names:
            self._names[variant] = self.free(variant[0])
        return self._names[variant]

    def free(self, rule: str) -> str:
        base = rule if _NAME.fullmatch(rule) else "r_" + re.sub(r"\W+", "_", rule)
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name
