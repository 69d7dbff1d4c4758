"""Programs as nodes, and which of their subtrees are interchangeable."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from ftor.grammar.nesting import is_missing
from ftor.text.programs import ProgramError, Programs
from ftor.text.programs.codec import CLOSE_NAME
from ftor.text.programs.nodes import Child, Node, Units
from ftor.text.programs.units import REST, SLOT, Symbol, owners, slots

Context = tuple[Units, Units] | tuple[str, int]
Slot = tuple[str, int]
"""A unit and the number of one of its slots."""
Argument = tuple[Symbol, int]
"""A symbol and which of its children."""
Shape = tuple[int, ...]
"""The number of arguments of a modifier, and which of them it modifies."""
SHARED = 2
"""So many shared contexts make two bases one kind."""
ROOT: Slot = ("", 0)
_END = "end"
"""Stands behind the slots of a node."""
MODIFIER = ""
"""Stands for all units that modify subtrees of their own kind."""
EXPECTED = 3.0
"""A modifier is not put where chance would have put it so often, but training never has it."""


def read_nodes(target: Sequence[str], programs: Programs) -> list[Node]:
    """The nodes of a program in prefix order. Raises `ProgramError` if the units are not one tree."""
    nodes: list[Node] = []
    waiting: list[tuple[Node | None, int, str]] = [(None, 0, SLOT)]  # a loop: programs can be very deep
    at = 0
    while waiting:
        parent, slot, kind = waiting.pop()
        if parent is not None and kind == _END:
            parent.end = at
            continue
        ends = at >= len(target) or target[at] == CLOSE_NAME
        if kind == REST and ends:
            at += 1
            continue
        if ends:
            raise ProgramError(f"not one tree: {' '.join(target)}")
        node = Node(target[at], at)
        nodes.append(node)
        at += 1
        if parent is not None:
            parent.children.append(Child(slot, kind == REST, node))
        waiting += [(parent, slot, REST)] * (kind == REST)
        waiting.append((node, 0, _END))
        waiting += reversed(
            [(node, number, kind) for number, kind in enumerate(slots(programs.unit(node.unit)))]
        )
    if at != len(target):
        raise ProgramError(f"not one tree: {' '.join(target)}")
    return nodes


class Kinds:
    """The kinds of subtrees, from training programs.

    A *context* is all of a program but one subtree, or a list but one item. A parent *modifies* its child if
    training has both in one context, such as `( filter blocks red )` and `blocks`. The *base* of a subtree is
    what is left without modifiers. Two bases are of one kind if they share enough contexts, and so are all
    subtrees with these bases. Kinds are finer than the types of the inferred grammar: a number and a block
    can both be the value of a filter, but hardly of the same filter.
    """

    def __init__(self, targets: Sequence[Units], trees: Sequence[Sequence[Node]], programs: Programs) -> None:
        self._programs = programs
        self._base_slots: dict[str, int] = {}
        self._parents: dict[Units, Units] = {}
        contexts: dict[Units, set[Context]] = defaultdict(set)
        for target, nodes in zip(targets, trees, strict=True):
            for node, context in _contexts(target, nodes):
                contexts[node.units(target)].add(context)
        self._find_base_slots(targets, trees, contexts)
        self._join_bases(targets, trees)
        self._seen = {edge for nodes in trees for edge in self._edges(nodes)}
        self._modifiers = Counter(edge for nodes in trees for edge in self._modifier_edges(nodes))
        self._arguments, self._heads = Counter[Argument](), Counter[Symbol]()
        for (argument, head), count in self._modifiers.items():
            self._arguments[argument] += count
            self._heads[head] += count
        self._nested = {head for (owner, _), head in self._modifiers if owner == head}
        self._find_shapes(targets, trees)

    def of(self, target: Units, node: Node) -> Units:
        """The kind of a subtree of training."""
        return self._root(self.base(node).units(target))

    def modified(self, target: Units, node: Node) -> list[Node]:
        """The children that a node may modify: those of its own kind, but for items of lists."""
        kind = self.of(target, node)
        children = [child.node for child in node.children if not child.is_item]
        return [child for child in children if self.of(target, child) == kind]

    def fit(self, nodes: Sequence[Node]) -> bool:
        """Whether training has each unit, or for a modifier another modifier, in the same slot.

        A modifier may not stand where training should have it by chance, but never has it. If no program has
        `( near ( or A B ) C )`, then `A or B near C` means something else. If chains of one modifier grow in
        one of its arguments, they do not grow in another one.
        """
        if not all(edge in self._seen for edge in self._edges(nodes)):
            return False
        return not any(
            self._is_misplaced(*edge) for edge in self._modifier_edges(nodes) if edge not in self._modifiers
        )

    def _is_misplaced(self, argument: Argument, head: Symbol) -> bool:
        """Whether a modifier should not be an argument that training never has."""
        if head == argument[0] and head in self._nested:
            return True
        total = self._modifiers.total()
        if is_missing(self._arguments[argument], self._heads[head], total, EXPECTED):
            return True
        if argument[0] not in self._shapes or head not in self._shapes:
            return False
        above, below = (self._shapes[argument[0]], argument[1]), self._shapes[head]
        counts = self._arguments_of_shape[above], self._heads_of_shape[below]
        return (above, below) not in self._nested_shapes and is_missing(*counts, total, EXPECTED)

    def _find_shapes(self, targets: Sequence[Units], trees: Sequence[Sequence[Node]]) -> None:
        """Count modifiers of one shape together.

        `lid`, `handle` and `wheel` may each be too rare to show that they do not take unions.
        """
        modified: dict[Symbol, set[int]] = defaultdict(set)
        for target, nodes in zip(targets, trees, strict=True):
            for node in nodes:
                unit = self._programs.unit(node.unit)
                if node.unit in self._base_slots and isinstance(unit[0], Symbol):
                    starts = {one.start for one in self.modified(target, node)}
                    arguments = (
                        owners(unit)[child.slot] for child in node.children if child.node.start in starts
                    )
                    modified[unit[0]].update(number for owner, number in arguments if owner == unit[0])
        self._shapes: dict[Symbol, Shape] = {
            head: (head.arity, *sorted(numbers)) for head, numbers in modified.items()
        }
        self._nested_shapes = set[tuple[tuple[Shape, int], Shape]]()
        self._arguments_of_shape, self._heads_of_shape = Counter[tuple[Shape, int]](), Counter[Shape]()
        for ((owner, number), head), count in self._modifiers.items():
            if head in self._shapes:
                self._heads_of_shape[self._shapes[head]] += count
            if owner in self._shapes:
                self._arguments_of_shape[self._shapes[owner], number] += count
            if owner in self._shapes and head in self._shapes:
                self._nested_shapes.add(((self._shapes[owner], number), self._shapes[head]))

    def _find_base_slots(
        self,
        targets: Sequence[Units],
        trees: Sequence[Sequence[Node]],
        contexts: Mapping[Units, set[Context]],
    ) -> None:
        """For each unit that modifies children, the first slot of such children."""
        subtrees: dict[Slot, set[Units]] = defaultdict(set)
        for target, nodes in zip(targets, trees, strict=True):
            for node in nodes:
                own = contexts[node.units(target)]
                for child in node.children:
                    if not child.is_item and own & contexts[child.node.units(target)]:
                        subtrees[node.unit, child.slot].add(node.units(target))
        for (unit, slot), cases in sorted(subtrees.items(), reverse=True):
            if len(cases) >= SHARED:
                self._base_slots[unit] = slot

    def base(self, node: Node) -> Node:
        """What is left of a subtree without modifiers."""
        while node.unit in self._base_slots:
            slot = self._base_slots[node.unit]
            node = next(child.node for child in node.children if child.slot == slot)
        return node

    def has_modifiers(self, nodes: Sequence[Node]) -> bool:
        """Whether the root of a program, or its only argument, modifies others."""
        root = nodes[0]
        return any(self.modifies(node.unit) for node in (root, *(child.node for child in root.children)))

    def modifies(self, unit: str) -> bool:
        """Whether a unit is a modifier with its first argument of its own kind."""
        return unit in self._base_slots

    def _join_bases(self, targets: Sequence[Units], trees: Sequence[Sequence[Node]]) -> None:
        fillers: dict[Context, set[Units]] = defaultdict(set)
        for target, nodes in zip(targets, trees, strict=True):
            for node, context in _contexts(target, nodes):
                fillers[context].add(self.base(node).units(target))
        contexts = Counter(base for bases in fillers.values() for base in bases)
        shared = Counter[tuple[Units, Units]]()
        for context, bases in fillers.items():
            if isinstance(context[0], str):  # a list takes all of its items anywhere
                for both in pairwise(bases):
                    self._join(*both)
            else:  # a base with one context, as most whole programs have, cannot share two
                shared.update(combinations(sorted(base for base in bases if contexts[base] >= SHARED), 2))
        for both, count in shared.items():
            if count >= SHARED:
                self._join(*both)

    def _join(self, one: Units, other: Units) -> None:
        first, second = sorted((self._root(one), self._root(other)))
        self._parents[second] = first

    def _root(self, units: Units) -> Units:
        while (parent := self._parents.get(units, units)) != units:
            units = parent
        return units

    def _edges(self, nodes: Sequence[Node]) -> Iterator[tuple[Slot, str]]:
        yield ROOT, self._role(nodes[0].unit)
        for node in nodes:
            for child in node.children:
                yield (node.unit, child.slot), self._role(child.node.unit)

    def _modifier_edges(self, nodes: Sequence[Node]) -> Iterator[tuple[Argument, Symbol]]:
        """Each modifier that is no item of a list, with the argument that it is."""
        for node in nodes:
            arguments = owners(self._programs.unit(node.unit))
            for child in node.children:
                head = self._programs.unit(child.node.unit)[0]
                if not child.is_item and child.node.unit in self._base_slots and isinstance(head, Symbol):
                    yield arguments[child.slot], head

    def _role(self, unit: str) -> str:
        return MODIFIER if unit in self._base_slots else unit


def _contexts(target: Units, nodes: Sequence[Node]) -> Iterator[tuple[Node, Context]]:
    """Each node with its context."""
    lists = {
        id(child.node): (node.unit, child.slot) for node in nodes for child in node.children if child.is_item
    }
    for node in nodes:
        yield node, lists.get(id(node), (target[: node.start], target[node.end :]))
