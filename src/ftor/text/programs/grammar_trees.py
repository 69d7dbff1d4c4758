"""Programs as nodes by the parse trees of a user's grammar, for targets in any notation.

The words of a rule are a node's unit, what its names derive are the node's children, and the name of the rule
is the kind of the node. A *row* is a rule such as `Query -> Clause | Clause Query`: its clauses are the items
of one list. There may be separators between them: see `grammar_rows`. A row of words, such as
`Name -> @copy | @copy Name`, is one leaf.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import groupby, zip_longest
from typing import TypeGuard

from ftor.grammar import Grammar
from ftor.grammar.earley import ParseTree
from ftor.grammar.reading import Rule, Words
from ftor.text.programs.grammar_rows import find_rows
from ftor.text.programs.lexing import ProgramError
from ftor.text.programs.nodes import Child, Node

SLOT = "_"
Tokens = tuple[str, ...]


class GrammarTrees:
    """Reads the tokens of programs into nodes."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar, self._terminals = grammar, frozenset(grammar.terminals)
        self._trees: dict[tuple[Tokens, Tokens], ParseTree | None] = {}
        self._rows = find_rows(grammar.rules)
        plain = {name for name, row in self._rows.items() if not (row.separator or row.may_be_empty)}
        self._values = _values(grammar.rules, plain)
        self._names = self._values & _copying(grammar.rules)

    def derives(self, target: Sequence[str], source: Sequence[str] = ()) -> bool:
        """Whether the grammar derives a target."""
        return self._tree(target, source) is not None

    def why_not(self, target: Sequence[str], source: Sequence[str] = ()) -> str:
        """Why the grammar does not derive a target."""
        return self._grammar.why_not(target, self._sentence(target, source))

    def _tree(self, target: Sequence[str], source: Sequence[str]) -> ParseTree | None:
        key = tuple(target), tuple(source)
        if key not in self._trees:
            self._trees[key] = self._grammar.tree(target, self._sentence(target, source))
        return self._trees[key]

    def _sentence(self, target: Sequence[str], source: Sequence[str]) -> list[str]:
        """The words that may be copied: those of the source, and copies in other letters, or of nothing."""
        return [*source, *(word for word in target if word not in self._terminals)]

    def nodes(self, target: Sequence[str], source: Sequence[str]) -> list[Node]:
        """The nodes of a program in prefix order. Raises `ProgramError` if the grammar does not derive it."""
        tree = self._tree(target, source)
        if tree is None:
            raise ProgramError(f"{self._grammar.name} does not derive it: {' '.join(target)}")
        nodes: list[Node] = []
        at = 0

        def read(tree: ParseTree) -> Node:
            nonlocal at
            while (
                not self._is_row(tree) and len(tree.children) == 1 and isinstance(tree.children[0], ParseTree)
            ):
                tree = tree.children[0]
            node = Node("", at, kind=tree.name)
            nodes.append(node)
            pattern: list[str] = []
            if tree.name in self._values:
                node.unit, node.end = " ".join(tree.words), at + len(tree.words)
                at = node.end
                node.is_name = tree.name in self._names
                return node
            parts = (tree,) if self._is_row(tree) else tree.children
            for part, after in zip_longest(parts, parts[1:]):
                if self._is_row(part) and (self._rows[part.name].separator or not self._is_structure(part)):
                    read_row(part, node, len(pattern))
                    pattern.append(SLOT)
                elif isinstance(part, ParseTree) and self._goes_on(after):
                    separator = self._rows[after.name].separator
                    node.children.append(Child(len(pattern), True, read(part), separator))
                elif isinstance(part, str) or self._is_structure(part):
                    node.choices += [] if isinstance(part, str) else [at]
                    words = [part] if isinstance(part, str) else part.words
                    pattern += words
                    at += len(words)
                else:
                    node.children.append(Child(len(pattern), False, read(part)))
                    pattern.append(SLOT)
            node.unit, node.end = " ".join(pattern), at
            return node

        def read_row(tree: ParseTree, node: Node, slot: int) -> None:
            nonlocal at
            row = self._rows[tree.name]
            for member in row.members(tree):
                if isinstance(member, ParseTree):
                    node.children.append(Child(slot, True, read(member), row.separator))
                else:
                    node.gaps.append((at, at + len(member)))
                    at += len(member)

        try:
            read(tree)
        except RecursionError:
            raise ProgramError("it is nested too deeply") from None
        return nodes

    def runs(self, target: Sequence[str], source: Sequence[str] = ()) -> list[tuple[str, ...]]:
        """The tokens of a program. Adjacent words of a node are one run, up to its second choice.

        Each word of a name is alone.
        """
        nodes = self.nodes(target, source)
        owner = [(0, 0)] * len(target)
        for number, node in enumerate(nodes):  # children after their parents
            for place in range(node.start, node.end):
                run = place if node.is_name else bisect_right(node.choices[1:], place)
                owner[place] = number, run
            for start, end in node.gaps:
                owner[start:end] = [(number, -1 - start)] * (end - start)
        return [
            tuple(target[place] for place in places)
            for _, places in groupby(range(len(target)), key=lambda place: owner[place])
        ]

    def _is_row(self, tree: ParseTree | str | None) -> TypeGuard[ParseTree]:
        """Whether a tree is a list of trees. A row of words is none."""
        return isinstance(tree, ParseTree) and tree.name in self._rows and tree.name not in self._values

    def _goes_on(self, tree: ParseTree | str | None) -> TypeGuard[ParseTree]:
        """Whether a tree is a row whose list begins with an item before it."""
        return self._is_row(tree) and self._rows[tree.name].follows_item

    def _is_structure(self, tree: ParseTree) -> bool:
        """Whether a tree is one word that is no name."""
        return isinstance(_word(tree), str) and tree.name not in self._names


def _word(tree: ParseTree | str) -> ParseTree | str:
    """A tree, or its word if it is one."""
    one = tree
    while isinstance(one, ParseTree) and len(one.children) == 1:
        one = one.children[0]
    return one if isinstance(one, str) else tree


def _copying(rules: Sequence[Rule]) -> set[str]:
    """The names of rules that may derive a copied word."""
    found = {rule.name for rule in rules if any(isinstance(part, Words) and part.copy for part in rule.parts)}
    size = -1
    while size != (size := len(found)):
        found |= {rule.name for rule in rules if found.intersection(rule.parts)}
    return found


def _values(rules: Sequence[Rule], rows: set[str]) -> set[str]:
    """The names of rules that derive words alone: a choice of words, or a row of them."""
    found = {rule.name for rule in rules}
    size = -1
    while size != (size := len(found)):
        for rule in rules:
            names = [part for part in rule.parts if isinstance(part, str) and part != rule.name]
            is_row = rule.name in rows and len(rule.parts) == 2 and rule.parts[1] == rule.name
            if not found.issuperset(names) or (names and len(rule.parts) > 1 and not is_row):
                found.discard(rule.name)
    return found
