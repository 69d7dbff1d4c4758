"""Takes training pairs apart and draws recombined pairs."""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from ftor.text.linking import Links, link_without
from ftor.text.programs import ProgramError, Programs
from ftor.text.programs.grammar_trees import GrammarTrees
from ftor.text.programs.nodes import Node, Units
from ftor.text.reading import Pair
from ftor.text.recombining.counts import Counts, steady, symbols
from ftor.text.recombining.fluency import BOUNDARY, NGrams
from ftor.text.recombining.grammar_kinds import GrammarKinds
from ftor.text.recombining.growing import GrowingList, growing_lists, usual_items
from ftor.text.recombining.kinds import Kinds, read_nodes
from ftor.text.recombining.orders import Orders
from ftor.text.recombining.parts import (
    Kind,
    Part,
    Parts,
    Place,
    Side,
    around_base,
    inner_members,
    neighbours,
    with_item,
)
from ftor.text.recombining.places import find_places
from ftor.text.recombining.wrapping import Wraps
from ftor.text.seeds import derived_seed

LARGER = 0.5
"""The share of pairs whose programs should be larger than all of training."""
GROWTH = 1.5
"""Recombined programs have at most this many times the units of the longest training program."""
WRAPPED = 0.2
"""The share of draws in which a whole program is wrapped in one more function."""
TRIES = 400
"""Draws for each pair that is asked for."""


class Recombiner:
    """Draws recombined pairs.

    Args:
        pairs: training pairs with targets in units, or in tokens if a grammar says what the trees are.
        programs: the units, or the trees of a grammar that derives all targets.
        iterations: EM iterations of the aligner.
        accepts: whether a program may be made.
        grow_lists: whether larger programs have longer lists than is usual in training. Each new item
            begins with two tokens that no other of its list begins with. Only with a grammar.
    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        programs: Programs | GrammarTrees,
        iterations: int,
        accepts: Callable[[Units], bool] = lambda _: True,
        grow_lists: bool = False,
    ) -> None:
        self._programs, self._accepts = programs, accepts
        targets = [pair.target for pair in pairs]
        trees = [self._read(pair) for pair in pairs]
        self._kinds = (
            GrammarKinds(trees) if isinstance(programs, GrammarTrees) else Kinds(targets, trees, programs)
        )
        self._ngrams = NGrams(pair.source for pair in pairs)
        self._sources = {pair.source for pair in pairs}
        separators = [
            {place for node in nodes for gap in node.gaps for place in range(*gap)} for nodes in trees
        ]
        self._steady = steady(targets, separators)
        both = zip(pairs, trees, strict=True)
        self._counts = Counts([(pair.source, self._symbols(pair.target, nodes)) for pair, nodes in both])
        self._longest = max(map(len, targets))
        self._most_nodes = max(map(self._size, targets, trees))
        self._most_units: Counter[str] = Counter()
        for nodes in trees:
            self._most_units |= Counter(node.unit for node in nodes if node.children)
        self._hosts: list[tuple[Pair, list[Place]]] = []
        self._parts = Parts(self._ngrams.bigrams)
        self._orders, self._wraps = Orders(), Wraps()
        self._modified = set[tuple[str, ...]]()
        self._growing: list[GrowingList] = []
        usual = usual_items(trees) if grow_lists else 0
        linked = link_without(pairs, separators, iterations, isinstance(programs, Programs))
        for pair, nodes, links in zip(pairs, trees, linked, strict=True):
            are_sure = links.are_sure(range(len(pair.target)))
            places = list(find_places(pair.target, nodes, links, self._kinds)) if are_sure else []
            if isinstance(programs, Programs):
                self._add_wraps(pair, nodes, places, links)
            if grow_lists:
                places = [place for place in places if place.has_its_copies(pair)]
                self._growing += growing_lists(pair, nodes, places, usual)
            if places:
                self._hosts.append((pair, places))
                for kind, chain in dict.fromkeys((place.kind, place.chain) for place in places):
                    self._orders.add(
                        kind, pair.source, [one.member() for one in neighbours(places, kind, chain)]
                    )
            for place in places:
                part = place.part(pair)
                if place.kind[0] == "subtree" and isinstance(programs, Programs):
                    part = part._replace(inner=inner_members(places, place))
                self._parts.add(place.kind, part)
        self._deciding = self._orders.deciding_words()

    def _add_wraps(self, pair: Pair, nodes: Sequence[Node], places: Sequence[Place], links: Links) -> None:
        """Take a program that may be wrapped, and its parts that may wrap others."""
        self._wraps.add_pair(pair, nodes)
        if isinstance(self._kinds, Kinds) and self._kinds.has_modifiers(nodes):
            self._modified.add(pair.source)
        for place in places:
            if place.kind[0] in ("modifier", "operator"):
                inside = links.words(range(place.hole_start, place.hole_end))
                if place.last == len(pair.source) or all(word >= place.last for word in inside):
                    self._wraps.add_part(pair, nodes[0], place)

    def _read(self, pair: Pair) -> list[Node]:
        if isinstance(self._programs, Programs):
            return read_nodes(pair.target, self._programs)
        try:
            return self._programs.nodes(pair.target, pair.source)
        except ProgramError as error:
            raise ProgramError(f"line {pair.line}: {error}") from None

    def draw(self, count: int, seed: int, larger: float = LARGER) -> list[Pair]:
        """Recombined pairs with different sources, none of them one of training. At most `count`.

        If possible, the first ones have larger programs than training: the share `larger`.
        Each has the line of the pair that it was made from. The same seed gives the same pairs.
        """
        random = Random(derived_seed("recombined pairs", seed))
        drawn: dict[tuple[str, ...], Pair] = {}
        for wanted, is_larger in ((round(larger * count), True), (count, False)):
            for _ in range(TRIES * (wanted - len(drawn)) if self._hosts else 0):
                if len(drawn) == wanted:
                    break
                pair = self._draw_one(random, is_larger)
                if pair is not None:
                    drawn.setdefault(pair.source, pair)
        return list(drawn.values())

    def _draw_one(self, random: Random, is_larger: bool) -> Pair | None:
        """One try to make a pair, with a larger program than training if `is_larger`."""
        if self._growing and is_larger and isinstance(self._programs, GrammarTrees):
            return self._grown(random, self._programs)
        if isinstance(self._programs, Programs) and random.random() < WRAPPED:
            return self._wrapped(random, self._programs, is_larger)
        pair, places = random.choice(self._hosts)
        place = random.choice(places)
        replaces, is_later, is_named_later = (random.random() < 0.5 for _ in range(3))
        at = place.last if is_named_later else place.first
        first, last = (place.first, place.last) if replaces else (at, at)
        words = (*pair.source, BOUNDARY)
        parts = self._parts.fitting(place.kind, words[first - 1], words[last])
        if not parts:
            return None
        part = random.choice(parts)
        if part.is_before != place.is_before:  # `hives of` is no phrase for where `in the heath` stands
            return None
        size = len(pair.target) + len(part.before) + len(part.after)
        if replaces:
            size -= place.hole_start - place.start + place.end - place.hole_end
        if size > GROWTH * self._longest:
            return None
        source = (*pair.source[:first], *part.words, *pair.source[last:])
        if source in self._sources or not self._ngrams.are_fluent(source, (first, first + len(part.words))):
            return None
        if replaces:
            target = self._replaced(pair, places, place, part, source)
        else:
            target = self._extended(pair, places, place, part, source, at, is_later)
        if target is None or target == pair.target:
            return None
        if isinstance(self._programs, GrammarTrees):
            return self._derived(self._programs, pair, source, target, is_larger)
        return self._program(self._programs, pair, source, target, is_larger)

    def _wrapped(self, random: Random, programs: Programs, is_larger: bool) -> Pair | None:
        """One try to wrap a program in what training puts around others."""
        drawn = self._wraps.draw(random)
        if drawn is None:
            return None
        pair, kind, source, target, seams = drawn
        if source in self._sources or len(target) > GROWTH * self._longest:
            return None
        if not self._ngrams.are_fluent(source, seams):
            return None
        if kind[0] == "modifier" and self._orders.are_decided(kind) and pair.source in self._modified:
            return None  # it may belong between others
        return self._program(programs, pair, source, target, is_larger)

    def _grown(self, random: Random, trees: GrammarTrees) -> Pair | None:
        """One try to put one more item into a list, where the orders of training have it."""
        grown = random.choice(self._growing)
        pair, place, heads = grown.pair, grown.place, grown.heads
        at = random.choice((place.first, place.last))
        words = (*pair.source, BOUNDARY)
        parts = self._parts.fitting(place.kind, words[at - 1], words[at])
        parts = [part for part in parts if part.before[:2] not in heads]
        if not parts:
            return None
        part = random.choice(parts)
        source = (*pair.source[:at], *part.words, *pair.source[at:])
        if source in self._sources or not self._ngrams.are_fluent(source, (at, at + len(part.words))):
            return None
        sides = [side for side in grown.sides if self._is_in_order(grown, side, part, at, source)]
        targets = (grown.with_item(part.before, side) for side in sides)
        made = (self._derived(trees, pair, source, target, is_larger=False) for target in targets)
        return next((one for one in made if one is not None), None)

    def _is_in_order(
        self, grown: GrowingList, side: Side, part: Part, at: int, source: tuple[str, ...]
    ) -> bool:
        """Whether lists are sorted, or a new item stands on the side of another one where its phrase is."""
        if isinstance(self._kinds, GrammarKinds) and self._kinds.sorts_lists:
            return True
        place = grown.place
        if (at, side.at) not in ((place.first, place.start), (place.last, place.end)):
            return False
        new = part.member(side.at - 0.5, at)
        members = [new, *(item.member(at, len(part.words)) for item in grown.items)]
        return self._orders.agree(grown.place.kind, source, members, new)

    def _replaced(
        self, pair: Pair, places: Sequence[Place], place: Place, part: Part, source: tuple[str, ...]
    ) -> Units | None:
        """The units with another part in a place."""
        decides = self._deciding & {*place.part(pair).function_words, *part.function_words}
        if place.kind[0] == "subtree":  # other function words could change the order of what it is part of
            if decides or not self._keep_order(places, place, part, source):
                return None
        else:
            others = [one for one in neighbours(places, place.kind, place.chain) if one.start != place.start]
            if decides and isinstance(self._programs, Programs) and len(others) + 1 < place.items:
                return None
            new = part.member(place.rank, place.first)
            moved = len(part.words) - (place.last - place.first)
            members = [new, *(one.member(place.last, moved) for one in others)]
            if not self._orders.agree(place.kind, source, members, new):
                return None
        units = pair.target
        hole = units[place.hole_start : place.hole_end]
        return (*units[: place.start], *part.before, *hole, *part.after, *units[place.end :])

    def _keep_order(self, places: Sequence[Place], place: Place, part: Part, source: tuple[str, ...]) -> bool:
        """Whether the modifiers of a new subtree and those around it stand in the order of training."""
        kind: Kind = ("modifier", place.kind[1])
        moved = len(part.words) - (place.last - place.first)
        outer = [
            one.member(place.last, moved) for one in around_base(places, place) if one.start < place.start
        ]
        inner = [member.moved(place.first) for member in part.inner]
        if not outer or not inner:
            return True
        orders, members = self._orders, [*outer, *inner]
        return all(orders.agree(kind, source, members, one, nested=True) for one in inner) and not any(
            orders.are_ambiguous(kind, source, [other for other in members if other != one], one, nested=True)
            for one in outer
        )

    def _extended(
        self,
        pair: Pair,
        places: Sequence[Place],
        place: Place,
        part: Part,
        source: tuple[str, ...],
        at: int,
        is_later: bool,
    ) -> Units | None:
        """The units with one more modifier around or in that of a place, or one more item beside it."""
        if place.kind[0] in ("subtree", "operator") or not self._orders.has_neighbours(place.kind):
            return None  # operators do not commute: see `Wraps`
        new = part.member(place.rank + (0.5 if is_later else -0.5), at)
        chain = [one.member(at, len(part.words)) for one in neighbours(places, place.kind, place.chain)]
        if not self._orders.agree(place.kind, source, [new, *chain], new):
            return None
        if isinstance(self._programs, Programs) and len(chain) < place.items:
            return None  # an item without a phrase of its own may stand anywhere
        if place.kind[0] == "modifier" and self._orders.are_ambiguous(place.kind, source, chain, new):
            return None
        if place.kind[0] == "item":
            side = Side(place.end if is_later else place.start, is_later)
            return with_item(pair.target, part.before, place.separator, side)
        if is_later:  # around the modifier
            start, end = place.start, place.end
        else:
            start, end = place.hole_start, place.hole_end
        units = pair.target
        return (*units[:start], *part.before, *units[start:end], *part.after, *units[end:])

    def _derived(
        self, trees: GrammarTrees, pair: Pair, source: tuple[str, ...], target: Units, is_larger: bool
    ) -> Pair | None:
        """The new pair, if the grammar derives it, and its lists are like those of training.

        Names have several words, so the size of a program is its number of nodes.
        """
        new = Pair(source, target, pair.line, target_text=" ".join(target))
        if not trees.derives(target, source):
            return None
        nodes = self._read(new)
        is_fit = self._counts.hold(source, self._symbols(target, nodes)) and self._kinds.fit(nodes)
        is_fit = is_fit and not (is_larger and len(nodes) <= self._most_nodes)
        return new if is_fit else None

    def _symbols(self, target: Units, nodes: Sequence[Node]) -> Counter[str]:
        """How often a program has each symbol or, under a grammar, each token."""
        if isinstance(self._programs, Programs):
            return symbols(nodes, self._programs)
        return Counter(token for token in target if token not in self._steady)

    def _size(self, target: Units, nodes: Sequence[Node]) -> int:
        """The number of nodes: those of a grammar, or all that the units have."""
        return self._programs.size(target) if isinstance(self._programs, Programs) else len(nodes)

    def _program(
        self, programs: Programs, pair: Pair, source: tuple[str, ...], target: Units, is_larger: bool
    ) -> Pair | None:
        """The new pair, if its program is like those of training and can be written in their notation.

        A larger program has more nodes than all of training, or more of one unit that takes others.
        """
        nodes = read_nodes(target, programs)
        if not self._kinds.fit(nodes) or not self._ngrams.has_company(source):
            return None
        if not self._counts.hold(source, self._symbols(target, nodes)):
            return None
        units = Counter(node.unit for node in nodes if node.children)
        if is_larger and programs.size(target) <= self._most_nodes and units <= self._most_units:
            return None
        try:
            text = programs.decode(target)
        except ProgramError:
            return None
        if tuple(programs.encode(text)) != target or not self._accepts(target):
            return None  # new neighbours may be one unit
        return Pair(source, target, pair.line, target_text=text)
