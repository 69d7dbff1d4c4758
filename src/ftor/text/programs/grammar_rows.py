"""Rules of a grammar that derive lists: items in a row, with one separator between all of them or none.

A *row* is a name such as `Conds -> Cond | Cond 'AND' Conds`. It may also be left-recursive, end with `()`, or
have its separators before or after all items. A row such as `Rest -> () | 'AND' Cond Rest` goes on with the
items of a list whose first one stands before it, as in `'WHERE' Cond Rest`.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ftor.grammar.earley import ParseTree
from ftor.grammar.reading import Part, Rule, Words

Tokens = tuple[str, ...]


class Row(NamedTuple):
    """How a name derives a list.

    Attributes:
        separator: the words between two items.
        fixed: names that write a part of the separator.
        step: the name of an item together with its separator, if the grammar has one.
        follows_item: whether the first item of the list stands before the row.
        may_be_empty: whether the row can have no item.
    """

    separator: Tokens = ()
    fixed: frozenset[str] = frozenset()
    step: str = ""
    follows_item: bool = False
    may_be_empty: bool = False

    def members(self, tree: ParseTree) -> Iterator[ParseTree | Tokens]:
        """The items, and the words of separators between them, from left to right."""
        waiting: list[ParseTree | str] = [tree]
        while waiting:
            part = waiting.pop()
            if isinstance(part, ParseTree) and part.name in (tree.name, self.step):
                waiting += reversed(part.children)
            elif self.separator and isinstance(part, str):
                yield (part,)
            elif isinstance(part, ParseTree) and part.name in self.fixed:
                yield part.words
            else:
                yield ParseTree("", (part,)) if isinstance(part, str) else part


class _Step(NamedTuple):
    """One alternative: an item, the words before and after it, and where the rest of the row is."""

    item: Part
    before: Tokens
    after: Tokens
    rest: int


def find_rows(rules: Sequence[Rule]) -> dict[str, Row]:
    """The names that derive lists."""
    return _Rows(rules).found


class _Rows:
    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._by_name: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_name.setdefault(rule.name, []).append(rule)
        self._fixed: dict[str, Tokens] = {}
        self._find_fixed()
        rows = ((name, self._row(name)) for name in self._by_name)
        self.found = {name: row for name, row in rows if row is not None}

    def _find_fixed(self) -> None:
        """The names that derive the same words always."""
        size = -1
        while size != (size := len(self._fixed)):
            for name, some in self._by_name.items():
                words = [self._words(part) for part in some[0].parts]
                if len(some) == 1 and words and None not in words:
                    self._fixed[name] = tuple(word for one in words if one for word in one)

    def _fixed_in(self, rules: Sequence[Rule]) -> frozenset[str]:
        return frozenset(
            part for rule in rules for part in rule.parts if isinstance(part, str) and part in self._fixed
        )

    def _words(self, part: Part) -> Tokens | None:
        """The words that a part always derives, if they are always the same."""
        if isinstance(part, Words):
            return part.words if len(part.words) == 1 and not part.copy else None
        return self._fixed.get(part)

    def _row(self, name: str) -> Row | None:
        """How a name derives a list, if it does: all of its alternatives are of the same list."""
        rules = self._by_name[name]
        found = [self._step(rule) for rule in rules if name in rule.parts]
        steps = [step for step in found if step is not None]
        if not steps or len(steps) < len(found):
            return None
        first = steps[0]
        if any((one.before, one.after, one.rest) != (first.before, first.after, first.rest) for one in steps):
            return None
        others = [rule for rule in rules if name not in rule.parts]
        if not all(self._is_end(rule, steps) for rule in others):
            return None
        may_be_empty = any(not rule.parts for rule in others)
        ends = may_be_empty or any(len(rule.parts) > 1 for rule in others)
        if not ends and not any(_covers(part, step.item) for part in self._alone(name) for step in steps):
            return None
        separator = first.after + first.before
        items = [step.item for step in steps] + [rule.parts[0] for rule in others if len(rule.parts) == 1]
        if separator and any(isinstance(item, Words) for item in items):
            return None  # a row of words is one leaf
        row = Row(separator, self._fixed_in(rules) - {*items}, may_be_empty=may_be_empty)
        return self._going_on(name, first, row)

    def _step(self, rule: Rule) -> _Step | None:
        """A rule that derives one item and the rest of the row, first or last."""
        name, parts = rule.name, rule.parts
        for rest, some in ((-1, parts[:-1]), (0, parts[1:])):
            if parts[rest] == name and name not in some:
                step = self._item(some)
                return None if step is None else step._replace(rest=rest)
        return None

    def _item(self, parts: Sequence[Part]) -> _Step | None:
        """An item with fixed words around it."""
        fixed = [self._words(part) for part in parts]
        items = [place for place, words in enumerate(fixed) if words is None] or [0] * (len(parts) == 1)
        if len(items) != 1:
            return None
        (place,) = items
        before, after = (
            tuple(word for words in some if words for word in words)
            for some in (fixed[:place], fixed[place + 1 :])
        )
        return _Step(parts[place], before, after, 0)

    def _is_end(self, rule: Rule, steps: Sequence[_Step]) -> bool:
        """Whether the row may end with a rule: with `()`, one part, or an item with its separators."""
        if len(rule.parts) < 2:
            return True
        end = self._item(rule.parts)
        return end is not None and any(
            end.item == step.item and end.before in ((), step.before) and end.after in ((), step.after)
            for step in steps
        )

    def _alone(self, name: str) -> Iterator[Part]:
        """What a name derives through rules of one part."""
        seen, waiting = {name}, [name]
        while waiting:
            for rule in self._by_name.get(waiting.pop(), ()):
                if len(rule.parts) == 1:
                    (part,) = rule.parts
                    yield part
                    if isinstance(part, str) and part not in seen:
                        seen.add(part)
                        waiting.append(part)

    def _going_on(self, name: str, step: _Step, row: Row) -> Row:
        """The row, with what is known if the first item of its lists stands before it wherever it is used."""
        before = {
            rule.parts[place - 1] if place else None
            for rule in self._rules
            for place, part in enumerate(rule.parts)
            if part == name != rule.name
        }
        if len(before) != 1 or not (row.separator or row.may_be_empty):
            return row
        (first,) = before
        if first == step.item:
            return row._replace(follows_item=True)
        if not (isinstance(step.item, str) and isinstance(first, str)) or row.separator:
            return row
        rules = self._by_name.get(step.item, [])
        inner = self._item(rules[0].parts) if len(rules) == 1 else None
        if inner is None or inner.item != first:
            return row
        separator, fixed = inner.after + inner.before, self._fixed_in(rules) - {first}
        return row._replace(separator=separator, fixed=fixed, step=step.item, follows_item=True)


def _covers(part: Part, first: Part) -> bool:
    if isinstance(part, Words) and isinstance(first, Words):
        return (part.copy or not first.copy) and set(part.words) >= set(first.words)
    return part == first
