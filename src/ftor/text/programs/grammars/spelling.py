"""Writes a grammar over units as a grammar over the words of the notation, the other way of `compiling`.

A rule over units is a unit and what fills its slots. What fills a rest slot is a *row* of trees up to the
closing unit. The words of a unit stand around its slots, and a row has the notation's separator in it.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NoReturn

from ftor.grammar import Grammar, GrammarError, Rule
from ftor.grammar.inferred_rules import WORDS, RowKind
from ftor.grammar.normal_form import nullable_symbols
from ftor.grammar.reading import Part, Words, reachable_names
from ftor.grammar.writing import joined, write_cfg
from ftor.text.programs.codec import CLOSE_NAME, Programs
from ftor.text.programs.pairs import TargetUnits
from ftor.text.programs.tokens import TokenUnits
from ftor.text.programs.units import REST, slots

CLOSE = Words((CLOSE_NAME,))
_Key = tuple[tuple[Part, ...], RowKind]
"""The parts of a row, and how it is written."""


def in_notation(grammar: Grammar, programs: TargetUnits) -> Grammar:
    """The grammar of the same targets in the words of their notation, each word a token.

    Raises:
        GrammarError: if a rule is not made of whole units and what fills their slots.
    """
    rules = (
        _in_tokens(grammar, programs)
        if isinstance(programs, TokenUnits)
        else _Speller(grammar, programs).rules()
    )
    return Grammar.parse(write_cfg(rules)[0], grammar.name)


def _in_tokens(grammar: Grammar, units: TokenUnits) -> list[Rule]:
    """The rules with the tokens of each unit."""
    rules = []
    for rule in grammar.rules:
        bodies: list[tuple[Part, ...]] = [()]
        for part in rule.parts:
            options: list[tuple[Part, ...]] = [(part,)]
            if isinstance(part, Words):
                options = [tuple(Words((token,)) for token in units.spell([word])) for word in part.words]
                options += [(Words((), copy=True),)] * part.copy
            bodies = [body + option for body in bodies for option in options]
        rules += [Rule(rule.name, body, rule.line) for body in bodies]
    return rules


class _Speller:
    def __init__(self, grammar: Grammar, programs: Programs) -> None:
        self.grammar, self.programs = grammar, programs
        self.alternatives: dict[str, list[Rule]] = {}
        for rule in grammar.rules:
            self.alternatives.setdefault(rule.name, []).append(rule)
        self.closing = {name for name, balance in self._balances().items() if balance == 1}
        self.row_names = self._row_names()
        self._taken = set(self.alternatives)
        self._names: dict[_Key, str] = {}
        self._waiting: list[str | _Key] = []

    def _balances(self) -> dict[str, int]:
        """For each name, how many more lists its strings close than they open."""
        known: dict[str, int] = {}
        before = -1
        while before != (before := len(known)):
            for rule in self.grammar.rules:
                parts = [part for part in rule.parts if isinstance(part, str)]
                if rule.name not in known and known.keys() >= set(parts):
                    units = [part for part in rule.parts if isinstance(part, Words)]
                    known[rule.name] = sum(known[part] for part in parts) + sum(map(self._balance, units))
        return known

    def _balance(self, unit: Words) -> int:
        return 1 if unit == CLOSE else -self._slots(unit).count(REST)

    def _slots(self, unit: Words) -> list[str]:
        every = [slots(self.programs.unit(word)) for word in unit.words] or [[]]
        if any(one != every[0] for one in every) or (unit.copy and every[0]):
            raise GrammarError(f"{self.grammar.name}: units with different slots are one part: {unit}")
        return every[0]

    def _row_names(self) -> set[str]:
        """The names that derive rows of trees, and not one tree each."""
        rows = set(self.closing)
        before = -1
        while before != (before := len(rows)):
            for rule in self.grammar.rules:
                one = len(rule.parts) == 1 and isinstance(rule.parts[0], str) and rule.parts[0] not in rows
                first = rule.parts[0] if rule.parts else None
                tree = isinstance(first, Words) and first != CLOSE and self._end(rule, 0) == len(rule.parts)
                if not (one or tree):
                    rows.add(rule.name)
        return rows

    def _end(self, rule: Rule, at: int) -> int:
        """The place after the tree that begins with a part of a rule."""
        self._check(rule, at)
        part = rule.parts[at]
        at += 1
        for kind in self._slots(part) if isinstance(part, Words) else ():
            at = self._row(rule, at)[1] if kind == REST else self._end(rule, at)
        return at

    def rules(self) -> list[Rule]:
        """The rules over words, from the start."""
        written: list[Rule] = []
        separated: defaultdict[str, list[Rule]] = defaultdict(list)
        seen: set[str | _Key] = set()
        start = self.grammar.rules[0]
        if start.name in self.row_names:
            self._fail(start)
        self._waiting = [start.name]
        while self._waiting:
            what = self._waiting.pop()
            if what in seen:
                continue
            seen.add(what)
            if isinstance(what, str):
                alternatives = self.alternatives[what]
                written += [Rule(what, tuple(self._tree(rule, 0)[0]), rule.line) for rule in alternatives]
                continue
            separator = what[1].separator
            (written if separator is None else separated[separator]).extend(self._row_rules(what))
        for separator, some in separated.items():
            written += self._separated(some, separator)
        needed = reachable_names(written)
        return [rule for rule in written if rule.name in needed]

    def _tree(self, rule: Rule, at: int) -> tuple[list[Part], int]:
        """The words of the tree that begins with a part of a rule, and the place after it."""
        self._check(rule, at)
        part = rule.parts[at]
        if isinstance(part, str):
            self._waiting.append(part)
            return [part], at + 1
        if part == CLOSE:
            self._fail(rule)
        fillers: list[list[Part]] = []
        at += 1
        for number, kind in enumerate(self._slots(part)):
            if kind == REST:
                items, at = self._row(rule, at)
                fillers.append([self._row_name(items, self.programs.row(part.words[0], number))])
            else:
                filler, at = self._tree(rule, at)
                fillers.append(filler)
        return list(self._spelled(rule, part, fillers)), at

    def _spelled(self, rule: Rule, unit: Words, fillers: Sequence[Sequence[Part]]) -> Iterator[Part]:
        if len(unit.words) + unit.copy == 1:
            for word in self.programs.spell(unit.words[0]) if unit.words else ():
                yield from fillers[word] if isinstance(word, int) else [Words((word,))]
            if unit.copy:
                yield unit
            return
        spelled = [self.programs.spell(word) for word in unit.words]
        if any(len(words) != 1 for words in spelled):
            self._fail(rule)
        yield Words(tuple(str(words[0]) for words in spelled), unit.copy)

    def _row(self, rule: Rule, at: int) -> tuple[tuple[Part, ...], int]:
        """The parts of the row that begins at a part of a rule, and the place after what closes it."""
        items: list[Part] = []
        while True:
            self._check(rule, at)
            part = rule.parts[at]
            if part == CLOSE:
                return tuple(items), at + 1
            items.append(part)
            at += 1
            if isinstance(part, Words) and self._slots(part):
                self._fail(rule)
            if part in self.closing:
                return tuple(items), at

    def _check(self, rule: Rule, at: int) -> None:
        if at >= len(rule.parts):
            self._fail(rule)

    def _fail(self, rule: Rule) -> NoReturn:
        raise GrammarError(
            f"{self.grammar.name}:{rule.line}: rule {rule.name!r}: expected a unit and what fills its slots, "
            f"found {rule}"
        )

    def _row_name(self, items: tuple[Part, ...], kind: RowKind) -> str:
        key = items, kind
        if key not in self._names:
            base = next((part for part in items if isinstance(part, str)), "Row")
            base += kind.name if kind == WORDS else "" if base in self.row_names else "Row"
            # A row has the name of its rule, which writes no trees; any other name must be new.
            own = base in self.row_names and base not in self._names.values()
            self._names[key] = base if own else self._free(base)
            self._waiting.append(key)
        return self._names[key]

    def _free(self, base: str) -> str:
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}{number}"
        self._taken.add(name)
        return name

    def _row_rules(self, key: _Key) -> Iterator[Rule]:
        """The alternatives of a row. Its trees are words for now if a separator stands between them."""
        items, kind = key
        plain = kind.separator is None
        head = self._names[key]
        lone = items[0] if len(items) == 1 and items[0] in self.row_names else None
        bodies = [items]
        if isinstance(lone, str):
            bodies = [
                self._row(rule, 0)[0] if lone in self.closing else rule.parts
                for rule in self.alternatives[lone]
            ]
        for body in bodies:
            parts: list[Part] = []
            for part in body:
                if isinstance(part, str) and part in self.row_names:
                    parts.append(self._row_name((part,), kind))
                    continue
                if isinstance(part, str):
                    self._waiting.append(part)
                parts.append(part if plain or isinstance(part, Words) else Words((f"\0{part}",)))
            yield Rule(head, tuple(parts), 1)

    def _separated(self, rules: Sequence[Rule], word: str) -> Iterator[Rule]:
        """Rows with the separator between two trees."""
        separator = Words((word,))
        more: dict[Part, str] = {}
        rows = joined(rules)
        filled = {name: self._free(f"{name}Items") for name in rows}

        def written(part: Part) -> Part:
            if isinstance(part, str):
                return filled[part]
            return part.words[0][1:] if part.words and part.words[0].startswith("\0") else part

        empty = nullable_symbols([(rule.name, rule.parts) for rule in rules])
        for name in dict.fromkeys(rule.name for rule in rules):
            if name in empty:
                yield Rule(name, (), 1)
            if name in filled:
                yield Rule(name, (filled[name],), 1)
        for name, some in rows.items():
            for row in some:
                parts: list[Part] = []
                for number, (part, optional) in enumerate(row):
                    if optional:
                        if part not in more:
                            more[part] = self._free(f"{filled[str(part)]}More")
                        parts.append(more[part])
                    else:
                        parts += [*[separator] * (number > 0), written(part)]
                yield Rule(filled[name], tuple(parts), 1)
        for part, name in more.items():
            yield Rule(name, (), 1)
            yield Rule(name, (separator, written(part)), 1)
