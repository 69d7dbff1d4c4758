"""Turns program texts into units and units into program texts."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Self

from ftor.grammar.inferred_rules import WORDS, RowKind
from ftor.text.programs.finding import find_and_read
from ftor.text.programs.heads import Head, curried_heads, list_heads, uncurried
from ftor.text.programs.lexing import Dialect, ProgramError
from ftor.text.programs.names import constants_named_apart, edges, neighbours_in_sources, words_of_names
from ftor.text.programs.notations import Notation, learn_and_read
from ftor.text.programs.parsing import NAME_KINDS, Node, Program
from ftor.text.programs.units import (
    ANY,
    CLOSE,
    JOINER,
    REST,
    Forest,
    Fragments,
    Joins,
    Symbol,
    Tree,
    Unfinished,
    Unit,
    UnitSettings,
    flatten,
    join,
    learn_units,
    unflatten,
)

CLOSE_NAME = ")"
LIST_KINDS = NAME_KINDS | {"array", "object", "sequence"}
SHORT_NAMES = frozenset({"json"})
"""Notations in which most names are quoted: a close for each would make programs far longer."""


class Programs:
    """A notation, what its heads take, and the units that training showed.

    Args:
        notation: how programs are written.
        curried: heads whose first argument is part of the head, such as `call` in `( call f x y )`.
        lists: heads that take any number of children.
        several: heads whose names need the number of their children.
        fragments: the joins of units.
        units: the units of training.
        short_names: whether a quoted name of one word is a symbol with one slot, not a list that is closed.
    """

    def __init__(
        self,
        notation: Notation,
        curried: Collection[str] = (),
        lists: Collection[Head] = (),
        several: Collection[str] = (),
        fragments: Fragments | None = None,
        units: Iterable[Unit] = (),
        short_names: bool = False,
    ) -> None:
        self.short_names = short_names
        self.notation, self.curried, self.lists = notation, frozenset(curried), frozenset(lists)
        self.several, self.fragments = frozenset(several), fragments or Fragments()
        self._symbol_of: dict[Node, tuple[Symbol, int]] = {}
        self._names: dict[Unit, str] = {CLOSE: CLOSE_NAME}
        self.units: dict[str, Unit] = {CLOSE_NAME: CLOSE}
        self._encoded: dict[str, list[str]] = {}  # files are checked, counted and then encoded
        for unit in units:
            self.name(unit)

    @classmethod
    def learn(
        cls,
        targets: Sequence[str],
        notation: str | None = None,
        settings: UnitSettings | None = None,
        copied: Collection[str] = (),
        *,
        arities: Mapping[str, int] | None = None,
        sentences: Sequence[Sequence[str]] = (),
        dialects: bool = True,
    ) -> Self:
        """Learn everything from training targets.

        Args:
            targets: the texts.
            notation: the name of a notation; found from the targets if None.
            settings: when units are joined.
            copied: words that are copied from sources. They stay units of their own.
            arities: the number of arguments of each symbol of prefix order that takes some. They are found
                from the targets if None.
            sentences: the words of the source of each target, if they are known. A constant that a word of
                its own names stays a unit of its own. In prefix order, so do the words of longer names.
            dialects: whether arguments can have names, and lines several programs. A grammar of the user's
                own knows neither.

        Raises:
            ProgramError: if the targets are not programs; says which line and why.
        """
        if notation is not None or arities is not None:
            how, read = learn_and_read(notation or "prefix", targets, arities, dialects)
        else:
            known, read, reasons = find_and_read(targets, dialects)
            if known is None:
                raise ProgramError("\n".join(f"{name}: {reason}" for name, reason in reasons.items()))
            how = known
        programs = dict(zip(targets, read, strict=True))
        curried = curried_heads(programs.values())
        programs = {text: uncurried(program, curried) for text, program in programs.items()}
        codec = cls(how, curried, *list_heads(programs.values()), short_names=how.name in SHORT_NAMES)
        forest, roots, counts = Forest(), Counter[Tree](), Counter(targets)
        trees = {text: forest.add(codec._symbols(program)) for text, program in programs.items()}
        for text, tree in trees.items():
            roots[tree] += counts[text]
        singles = dict.fromkeys(tree.unit for tree in forest.trees)
        names, apart = frozenset[str](), set[Unit]()
        if sentences:
            apart = constants_named_apart(sentences, [set(edges(trees[text])) for text in targets])
        if sentences and how.name == "prefix":
            words = zip(sentences, map(str.split, targets), strict=True)
            names = words_of_names(neighbours_in_sources(words), how.arities)
        never = frozenset(unit for unit in singles if unit in apart or _stays_alone(unit, copied, names))
        codec.fragments = learn_units(forest, roots, settings or UnitSettings(), never)
        for text, tree in trees.items():
            codec._encoded[text] = [codec.name(unit) for unit in flatten(tree)]
        for unit in singles:
            codec.name(unit)
        return codec

    def encode(self, text: str) -> list[str]:
        """The names of a program's units. Raises `ProgramError` if the text is not a program."""
        names = self._encoded.get(text)
        if names is None:
            names = self._encoded[text] = [self.name(unit) for unit in flatten(self.tree(text))]
        return list(names)

    def tree(self, text: str) -> Tree:
        """A program as a tree of units."""
        forest = Forest()
        tree = forest.add(self._symbols(uncurried(self.notation.read(text), self.curried)))
        self.fragments.apply(forest)
        return tree

    def decode(self, names: Sequence[str], strict: bool = True) -> str:
        """The text of units. An unknown name is an atom, such as a word that was copied.

        Raises `ProgramError` if the units are not one program. Unless `strict`, `?` stands for what is
        missing, and units that fit nowhere are left out.
        """
        try:
            symbols = unflatten([self.unit(name) for name in names], strict)
            nodes = [Node(symbol.kind, symbol.text, children) for symbol, children in symbols]  # type: ignore[arg-type]
            return self.notation.write(nodes)
        except (Unfinished, ProgramError) as error:
            if strict:
                raise ProgramError(f"{error}: {' '.join(names)}") from None
            return " ".join(names)

    @property
    def symbols(self) -> set[Symbol]:
        """The symbols that the units consist of."""
        return {part for unit in self.units.values() for part in unit if isinstance(part, Symbol)}

    def unit(self, name: str) -> Unit:
        """The unit of a name; an atom if the name is unknown."""
        return self.units.get(name, (Symbol("atom", name, 0),))

    def name(self, unit: Unit) -> str:
        """The name of a unit: its symbols in prefix order, `_` for open slots but the last ones."""
        name = self._names.get(unit)
        if name is None:
            last = max(place for place, part in enumerate(unit) if isinstance(part, Symbol))
            parts = [
                self._symbol_name(part) if isinstance(part, Symbol) else "_"
                for part in unit[: last + 1]
                if part != REST
            ]
            name = re.sub(r"\s", JOINER, JOINER.join(parts))
            while name in self.units:
                name += "′"
            self._names[unit], self.units[name] = name, unit
        return name

    def size(self, names: Iterable[str]) -> int:
        """The number of nodes that units stand for."""
        return sum(isinstance(part, Symbol) for name in names for part in self.unit(name))

    def spell(self, name: str) -> list[str | int]:
        """The words of a unit in its notation, with the number of each open slot where the slot stands."""
        return self.spell_unit(self.unit(name))

    def spell_unit(self, unit: Unit) -> list[str | int]:
        """The same for a unit itself."""
        nodes = _nodes(unit, [f"\0{slot}" for slot in range(len(unit))])
        for place in range(1, len(nodes)):
            if nodes[place - 1].kind in NAME_KINDS:  # quotes stand apart from words
                nodes[place] = nodes[place]._replace(text=f" {nodes[place].text} ")
        words = [word for text in self.notation.words(nodes) for word in text.split()]
        return [int(word[1:]) if word.startswith("\0") else word for word in words]

    def show(self, name: str) -> str:
        """A unit as people write it, with `…` for each open slot: `(set (device lamp …) …)`."""
        unit = self.unit(name)
        return self.notation.write(_nodes(unit, ["…"] * len(unit))) if unit else name

    def row(self, name: str, slot: int) -> RowKind:
        """How the subtrees of a rest slot of a unit are written."""
        unit = self.unit(name)
        places = [place for place, part in enumerate(unit) if isinstance(part, str)]
        owner = unit[places[slot] - 1]  # a rest slot follows its symbol
        assert isinstance(owner, Symbol)
        if owner.kind in NAME_KINDS:
            return WORDS
        if owner.kind == "sequence":
            return RowKind("Sequence", owner.text or None)
        return RowKind("List", self.notation.separator)

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists and strings that JSON knows."""
        used = dict.fromkeys(self.units.values())
        for joins in self.fragments.rounds:
            for parent, (_, children) in joins.items():
                used |= dict.fromkeys([parent, *children])
        numbers = {unit: number for number, unit in enumerate(used)}
        return {
            "notation": self.notation.name,
            "spacing": [[*pair, space] for pair, space in self.notation.spacing.items()],
            "arities": dict(self.notation.arities),
            "dialect": list(self.notation.dialect),
            "curried": sorted(self.curried),
            "lists": sorted(map(list, self.lists)),
            "several": sorted(self.several),
            "short_names": self.short_names,
            "units": [[part if isinstance(part, str) else list(part) for part in unit] for unit in numbers],
            "named": [numbers[unit] for unit in self.units.values() if unit != CLOSE],
            "rounds": [
                [
                    [numbers[parent], slot, [numbers[child] for child in children]]
                    for parent, (slot, children) in joins.items()
                ]
                for joins in self.fragments.rounds
            ],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` gave."""
        units: list[Unit] = [
            tuple(part if isinstance(part, str) else Symbol(*part) for part in unit)
            for unit in values["units"]
        ]

        def joined(parent: Unit, slot: int, children: Sequence[int]) -> tuple[int, dict[Unit, Unit]]:
            return slot, {units[child]: join(parent, slot, units[child]) for child in children}

        rounds: list[Joins] = [
            {units[parent]: joined(units[parent], slot, children) for parent, slot, children in joins}
            for joins in values["rounds"]
        ]
        spacing = {(before, after): space for before, after, space in values["spacing"]}
        return cls(
            Notation(values["notation"], spacing, values["arities"], Dialect(*values.get("dialect", ()))),
            values["curried"],
            [(kind, text) for kind, text in values["lists"]],
            values["several"],
            Fragments(tuple(rounds)),
            [units[number] for number in values["named"]],
            values.get("short_names", False),  # models of earlier versions do not say
        )

    def _symbols(self, program: Program) -> list[tuple[Symbol, int]]:
        """The nodes as symbols, with the number of their children."""
        known = self._symbol_of
        symbols = []
        for node in program:
            symbol = known.get(node)
            if symbol is None:
                is_short = self.short_names and node.kind == "quoted" and node.children == 1
                is_list = node.kind in LIST_KINDS or (node.kind, node.text) in self.lists
                is_list = is_list and not is_short
                arity = ANY if is_list else node.children
                symbol = known[node] = (Symbol(node.kind, node.text, arity), node.children)
            symbols.append(symbol)
        return symbols

    def _symbol_name(self, symbol: Symbol) -> str:
        if symbol.kind == "sequence":
            return "sequence("
        if symbol.arity == ANY:
            is_head = symbol.kind in ("apply", "curried") or (symbol.kind == "quoted" and self.short_names)
            return f"{symbol.text}(" if is_head else symbol.text or '"'
        if symbol.kind in ("apply", "curried") and symbol.text in self.several:
            return f"{symbol.text}/{symbol.arity}"
        return f"{symbol.text}:" if symbol.kind == "key" and symbol.text[0] == '"' else symbol.text


def _stays_alone(unit: Unit, copied: Collection[str], names: Collection[str]) -> bool:
    """Whether a unit of a single node is a copied leaf, a word in quotes or of a name."""
    symbol = unit[0]
    assert isinstance(symbol, Symbol)
    is_leaf = len(unit) == 1
    return symbol.text in names or (is_leaf and (symbol.text in copied or symbol.kind == "word"))


def _nodes(unit: Unit, fillers: Sequence[str]) -> list[Node]:
    """The nodes of a unit. Each open slot has its filler."""
    left = iter(fillers)
    return [
        Node("atom", next(left), 0)
        if isinstance(part, str)
        else Node(part.kind, part.text, 1 if part.arity == ANY else part.arity)  # type: ignore[arg-type]
        for part in unit
    ]
