"""Objects of programs, such as those of JSON: which keys stand together in one, and in which order."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise

Keys = tuple[str, ...]
SURE_ORDER = 5
"""So many objects with several keys must show their order."""
SURE_KEYS = 20
"""So many objects must show that a key is in all of them."""
MOST_FREE = 3
"""Up to so many keys may come in any order. There is a rule for each set of them that can be left."""


@dataclass(frozen=True)
class Record:
    """A kind of object.

    Attributes:
        groups: the keys in the order in which all objects of the kind have them. Those of one group may come
            in any order. A required key is a group of its own.
        required: the keys that each object has.
        ordered: whether there is such an order. If not, keys may come in any order, and twice.
    """

    groups: tuple[Keys, ...]
    required: frozenset[str]
    ordered: bool

    @property
    def keys(self) -> Keys:
        """All keys in order."""
        return tuple(chain.from_iterable(self.groups))


class Records:
    """The kinds of objects: two objects that share a key are of one kind.

    Args:
        objects: how often training has objects with these keys, in this order.
    """

    def __init__(self, objects: Mapping[Keys, int]) -> None:
        parents: dict[str, str] = {}

        def find(key: str) -> str:
            while parents.setdefault(key, key) != key:
                key = parents[key]
            return key

        for keys in objects:
            for key in keys:
                parents[find(key)] = find(keys[0])
        by_kind: defaultdict[str, dict[Keys, int]] = defaultdict(dict)
        for keys, count in objects.items():
            if keys:
                by_kind[find(keys[0])][keys] = count
        numbers = {kind: number for number, kind in enumerate(by_kind)}
        self._numbers = {key: numbers[find(key)] for key in parents}
        self.kinds = [_record(some) for some in by_kind.values()]

    def kind_of(self, keys: Sequence[str]) -> int:
        """The number of an object's kind. −1 for an object without keys."""
        return self._numbers[keys[0]] if keys else -1


def _record(objects: Mapping[Keys, int]) -> Record:
    counts: Counter[str] = Counter()
    places: Counter[str] = Counter()
    for keys, count in objects.items():
        for place, key in enumerate(keys):
            counts[key] += count
            places[key] += count * place
    total = sum(objects.values())
    middle = {key: places[key] / counts[key] for key in counts}
    shown = sum(count for keys, count in objects.items() if len(keys) > 1)
    order = _order(objects, middle)
    if order is None or (len(counts) > 1 and shown < SURE_ORDER):
        return Record((tuple(sorted(counts)),), frozenset(), ordered=False)
    required = frozenset(key for key in counts if counts[key] == total >= SURE_KEYS)
    return Record(tuple(_groups(order, objects)), required, ordered=True)


def _order(objects: Iterable[Keys], middle: Mapping[str, float]) -> Keys | None:
    """An order that all objects follow, or None. Keys that are never together are ordered by `middle`."""
    sorter: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(middle, ()))
    for keys in objects:
        if len(set(keys)) < len(keys):
            return None
        for before, after in pairwise(keys):
            sorter.add(after, before)
    try:
        sorter.prepare()
    except CycleError:
        return None
    order: list[str] = []
    ready: list[tuple[float, str]] = []
    while sorter:
        for key in sorter.get_ready():
            heapq.heappush(ready, (middle[key], key))
        _, key = heapq.heappop(ready)
        order.append(key)
        sorter.done(key)
    return tuple(order)


def _groups(order: Keys, objects: Iterable[Keys]) -> Iterator[Keys]:
    """The keys in order, and in one group up to `MOST_FREE` keys whose order objects do not determine."""
    later: dict[str, set[str]] = {key: set() for key in order}
    for keys in objects:
        for before, after in pairwise(keys):
            later[before].add(after)
    for key in reversed(order):
        later[key] = later[key].union(*(later[after] for after in later[key]))
    begin = 0
    for end in range(1, len(order) + 1):
        if all(later[key].issuperset(order[end:]) for key in order[begin:end]):
            free = order[begin:end]
            yield from [free] if len(free) <= MOST_FREE else ((key,) for key in free)
            begin = end
