"""Earley's parser (1970) for any context-free grammar, with the rules as they are written.

It recognises strings and shows their structure. Decoding needs scores, and uses `ftor.ops.cyk`.

One word of look-ahead keeps lists linear: in `Items -> Item | Item ',' Items` the items are complete only
where something follows that can follow the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ftor.grammar.normal_form import nullable_symbols
from ftor.grammar.reading import COPY, EMPTY, Part, Rule, Words


@dataclass(frozen=True)
class ParseTree:
    """A rule's name and what it derives: parse trees and words, from left to right."""

    name: str
    children: tuple[ParseTree | str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The string that the tree derives."""
        words: list[str] = []
        waiting: list[ParseTree | str] = [self]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                words.append(node)
            else:
                waiting.extend(reversed(node.children))
        return tuple(words)

    def __str__(self) -> str:
        """On one line: `(Query answer (Num size (State stateid (StateName utah))))`."""
        pieces: list[str] = []
        waiting: list[ParseTree | str | None] = [self]  # a loop: deep trees overflow Python's stack
        while waiting:
            node = waiting.pop()
            if node is None:
                pieces.append(")")
            elif isinstance(node, str):
                pieces.append(f" {node}")
            else:
                pieces.append(f" ({node.name}" + (f" {EMPTY}" if not node.children else ""))
                waiting += [None, *reversed(node.children)]
        return "".join(pieces).lstrip()


_Item = tuple[int, int, int, int]  # rule, number of its parts that are complete, start, end
_Span = tuple[str, int, int]  # name, start, end


class EarleyParser:
    """The rules, indexed for parsing."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.nullable = nullable_symbols([(rule.name, rule.parts) for rule in rules])
        self.by_name: dict[str, list[int]] = {}
        for number, rule in enumerate(rules):
            self.by_name.setdefault(rule.name, []).append(number)
        self._first_words: dict[str, tuple[set[str], bool]] = {}
        self._index_first_words()
        self._index_following_words()

    def _index_first_words(self) -> None:
        """Which rules of a name can start with a word, with a copied word, or be empty."""
        self._by_word: dict[tuple[str, str], list[int]] = {}
        self._by_copy: dict[str, list[int]] = {name: [] for name in self.by_name}
        self._empty: dict[str, list[int]] = {name: [] for name in self.by_name}
        for number, rule in enumerate(self.rules):
            words, copy = self._first(rule.parts)
            for word in words:
                self._by_word.setdefault((rule.name, word), []).append(number)
            if copy:
                self._by_copy[rule.name].append(number)
            if self.nullable.issuperset(rule.parts):
                self._empty[rule.name].append(number)

    def _index_following_words(self) -> None:
        """Which words can follow the strings of a name; `COPY` for a copied word, None for the end."""
        self._following: dict[str, set[str | None]] = {name: set() for name in self.by_name}
        self._following[self.rules[0].name].add(None)
        ends: dict[str, set[str]] = {name: set() for name in self.by_name}  # names that a name can end with
        for rule in self.rules:
            for place, part in enumerate(rule.parts):
                if isinstance(part, str):
                    rest = rule.parts[place + 1 :]
                    words, copy = self._first(rest)
                    self._following[part] |= words | ({COPY} if copy else set())
                    if self.nullable.issuperset(rest):
                        ends[rule.name].add(part)
        changed = list(ends)
        while changed:
            name = changed.pop()
            for last in ends[name]:
                if not self._following[name] <= self._following[last]:
                    self._following[last] |= self._following[name]
                    changed.append(last)

    def can_follow(self, name: str, word: str | None, copied: bool) -> bool:
        """Whether a word, or the end if None, can come after a string of `name`."""
        following = self._following[name]
        return word in following or (copied and COPY in following)

    def _first(self, parts: Sequence[Part]) -> tuple[set[str], bool]:
        """The words that strings of `parts` can start with, and whether a copied word is one of them."""
        words: set[str] = set()
        copy = False
        for part in parts:
            first, copied = self._first_of(part)
            words |= first
            copy = copy or copied
            if part not in self.nullable:
                break
        return words, copy

    def _first_of(self, part: Part) -> tuple[set[str], bool]:
        """The same for one part."""
        if isinstance(part, Words):
            return set(part.words), part.copy
        if part not in self._first_words:
            words: set[str] = set()
            copy = False
            seen, waiting = {part}, [part]
            while waiting:
                for number in self.by_name[waiting.pop()]:
                    for begin in self.rules[number].parts:
                        if isinstance(begin, Words):
                            words.update(begin.words)
                            copy = copy or begin.copy
                        elif begin not in seen:
                            seen.add(begin)
                            waiting.append(begin)
                        if begin not in self.nullable:
                            break
            self._first_words[part] = words, copy
        return self._first_words[part]

    def accepts(self, tokens: Sequence[str], sentence: Sequence[str]) -> bool:
        """Whether the start derives `tokens`."""
        if not tokens:
            return self.rules[0].name in self.nullable
        return (self.rules[0].name, 0, len(tokens)) in _Chart(self, tokens, sentence).rule_of

    def tree(self, tokens: Sequence[str], sentence: Sequence[str]) -> ParseTree | None:
        """One parse tree, or None."""
        chart = _Chart(self, tokens, sentence)
        root = (self.rules[0].name, 0, len(tokens))
        return chart.tree(root) if root in chart.rule_of else None

    def stuck(self, tokens: Sequence[str], sentence: Sequence[str]) -> tuple[int, list[str]]:
        """How many tokens at the start can begin a string, and the words that could come after them."""
        place = max((end for *_, end in _Chart(self, tokens, sentence).seen), default=0)
        following: dict[Part, None] = {} if place else {self.rules[0].name: None}
        if place:  # anew without the word that does not fit, so that nothing is left out because of it
            for number, dot, _, end in _Chart(self, tokens[:place], sentence, whole=False).seen:
                if end == place:
                    following |= dict.fromkeys(self.rules[number].parts[dot : dot + 1])
        words: dict[str, None] = {}
        for part in following:
            first, copy = self._first_of(part)
            words |= dict.fromkeys([*sorted(first), *[COPY] * copy])
        return place, list(words)

    def candidates(self, name: str, word: str | None, copied: bool) -> list[int]:
        """The rules of `name` that can come before `word`, in the order of the grammar."""
        numbers = set(self._empty[name])
        if word is not None:
            numbers.update(self._by_word.get((name, word), ()))
        if copied:
            numbers.update(self._by_copy[name])
        return sorted(numbers)


class _Chart:
    """The chart of one string.

    For each item and each complete span the chart keeps the first way to derive it, from earlier ones only.
    So trees are finite, even if the grammar has cycles. Unless the tokens are the `whole` string, anything
    may follow them.
    """

    def __init__(
        self, parser: EarleyParser, tokens: Sequence[str], sentence: Sequence[str], whole: bool = True
    ) -> None:
        self.rules = parser.rules
        self.rule_of: dict[_Span, int] = {}  # the rule of each complete span, children before parents
        self.before: dict[_Item, tuple[_Item, _Span | str]] = {}  # the item one part before, and the part
        self._parser = parser
        self._tokens, self._sentence, self._whole = tokens, frozenset(sentence), whole
        self.seen: set[_Item] = set()
        self._agenda: list[_Item] = []
        self._waiting: dict[tuple[str, int], list[_Item]] = {}  # the items that need a name at a position
        self._ends: dict[tuple[str, int], list[int]] = {}  # where a name that starts at a position can end
        self._next: list[_Item] = []
        self._predict(parser.rules[0].name, 0)
        for _ in range(len(tokens) + 1):
            while self._agenda:
                self._advance(self._agenda.pop())
            self._agenda, self._next = self._next, []

    def _predict(self, name: str, at: int) -> None:
        word = self._tokens[at] if at < len(self._tokens) else None
        for number in self._parser.candidates(name, word, word in self._sentence):
            self._add((number, 0, at, at))

    def _add(self, item: _Item, before: tuple[_Item, _Span | str] | None = None) -> None:
        if item not in self.seen:
            self.seen.add(item)
            self._agenda.append(item)
            if before is not None:
                self.before[item] = before

    def _advance(self, item: _Item) -> None:
        number, dot, start, end = item
        parts = self.rules[number].parts
        if dot == len(parts):
            self._complete(number, start, end)
            return
        part = parts[dot]
        if isinstance(part, Words):
            if end < len(self._tokens) and part.matches(self._tokens[end], self._sentence):
                moved = (number, dot + 1, start, end + 1)
                if moved not in self.seen:
                    self.seen.add(moved)
                    self._next.append(moved)
                    self.before[moved] = item, self._tokens[end]
            return
        waiting = self._waiting.setdefault((part, end), [])
        waiting.append(item)
        if len(waiting) == 1:
            self._predict(part, end)
        for stop in self._ends.get((part, end), ()):
            self._add((number, dot + 1, start, stop), (item, (part, end, stop)))

    def _complete(self, number: int, start: int, end: int) -> None:
        name = self.rules[number].name
        span = name, start, end
        if span in self.rule_of or not self._fits(name, end):
            return
        self.rule_of[span] = number
        self._ends.setdefault(span[:2], []).append(end)
        for item in self._waiting.get(span[:2], ()):
            self._add((item[0], item[1] + 1, item[2], end), (item, span))

    def _fits(self, name: str, end: int) -> bool:
        """Whether what comes next can follow a string of `name` that ends here."""
        if end == len(self._tokens):
            return not self._whole or self._parser.can_follow(name, None, False)
        word = self._tokens[end]
        return self._parser.can_follow(name, word, word in self._sentence)

    def _children(self, span: _Span) -> list[_Span | str]:
        _, start, end = span
        number = self.rule_of[span]
        item = (number, len(self.rules[number].parts), start, end)
        children: list[_Span | str] = []
        while item in self.before:
            item, child = self.before[item]
            children.append(child)
        return children[::-1]

    def tree(self, root: _Span) -> ParseTree:
        children = {}
        waiting = [root]
        while waiting:
            span = waiting.pop()
            if span not in children:
                children[span] = self._children(span)
                waiting.extend(child for child in children[span] if not isinstance(child, str))
        trees: dict[_Span, ParseTree] = {}
        for span in self.rule_of:
            if span in children:
                trees[span] = ParseTree(
                    span[0],
                    tuple(child if isinstance(child, str) else trees[child] for child in children[span]),
                )
        return trees[root]
