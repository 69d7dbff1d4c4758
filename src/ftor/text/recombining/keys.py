"""Which keys go together in a JSON object, and which objects are the values of which keys."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from ftor.grammar.nesting import is_missing
from ftor.text.programs import Programs
from ftor.text.programs.nodes import Node
from ftor.text.programs.units import Symbol

EXPECTED = 3.0
"""Keys do not go together if chance would have put them into so many objects, but training never has."""


class Keys:
    """The keys of the objects of training.

    Args:
        trees: the nodes of each program.
        programs: the units.
    """

    def __init__(self, trees: Sequence[Sequence[Node]], programs: Programs) -> None:
        self._programs = programs
        objects = [one for nodes in trees for one in self._objects(nodes)]
        self._count = len(objects)
        self._keys = Counter(key for _, keys in objects for key in keys)
        self._under = Counter(above for above, _ in objects)
        self._together = {both for _, keys in objects for both in combinations(keys, 2)}
        self._nested = {(above, key) for above, keys in objects for key in keys}

    def fit(self, nodes: Sequence[Node]) -> bool:
        """Whether the objects of a program have keys that may be in one object, and in this place.

        An object is a value of its own key only if training has that: lists grow instead.
        """
        objects = list(self._objects(nodes))
        pairs = [both for _, keys in objects for both in combinations(keys, 2)]
        nested = [(above, key) for above, keys in objects for key in keys]
        return not (
            any(
                both not in self._together and self._is_missing(self._keys[both[0]], both[1])
                for both in pairs
            )
            or any(
                one not in self._nested
                and (one[0] == one[1] or self._is_missing(self._under[one[0]], one[1]))
                for one in nested
            )
        )

    def _is_missing(self, count: int, key: str) -> bool:
        return is_missing(count, self._keys[key], self._count, EXPECTED)

    def _objects(self, nodes: Sequence[Node]) -> Iterator[tuple[str, list[str]]]:
        """Each object: the key that it is the value of, or is in the list of, and its sorted keys."""
        above: dict[int, str] = {}
        for node in nodes:
            unit = self._programs.unit(node.unit)
            named = [part.text for part in unit if isinstance(part, Symbol) and part.kind == "key"]
            key = named[-1] if named else above.get(node.start, "")
            keys: dict[int, list[str]] = {}
            for child in node.children:
                above[child.node.start] = key
                head = self._programs.unit(child.node.unit)[0]
                if child.is_item and isinstance(head, Symbol) and head.kind == "key":
                    keys.setdefault(child.slot, []).append(head.text)
            for some in keys.values():
                yield key, sorted(some)
