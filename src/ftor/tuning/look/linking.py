"""What an aligner explains, and the reorderings that its links need."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ftor.ops.arrays import Array
from ftor.reporting import percent
from ftor.text.aligning import poisson
from ftor.text.reading import Pair
from ftor.text.separability import Order, crossings, inseparable_blocks, needed_order, repeats, words_first
from ftor.tuning.look.examples import lines_of
from ftor.tuning.look.findings import Alignment, Finding, Part

THRESHOLD = 0.8
"""Least posterior of a link."""
ITERATIONS = 40
CELLS = 1_000_000
"""Most cells, source position × target position, of the pairs that are aligned."""
NECESSARY = 0.95
"""Least share of the pairs with a token whose sources have the word, for a link that is needed."""
NOTABLE = 0.02
"""Least share of the pairs with a reordering that is not separable that is worth a warning."""
MANY = 0.25
"""Share of such pairs from which on reordering alone cannot learn the task."""
FEW = 0.5
"""Share of the target tokens below which those with a known source position do not tell the reordering."""
NEARLY_ALL = 0.95
"""Share of the pairs from which on a cheaper order may do."""
WORDS_SHOWN = 12


@dataclass(frozen=True)
class Links:
    """The links of one pair.

    Attributes:
        pair: the pair.
        positions: for each target token the source position that it comes from, from 1; 0 is the start
            position. None if the aligner is not sure.
        words: for each target token the source word that it comes from, where the position is not sure too.
    """

    pair: Pair
    positions: list[int | None]
    words: list[str | None]

    @property
    def of_words(self) -> list[tuple[int, str]]:
        """The source positions of the target tokens that come from a word for sure, and the tokens."""
        tokens = zip(self.positions, self.pair.target, strict=True)
        return [(position, token) for position, token in tokens if position]


def link(pairs: Sequence[Pair]) -> list[Links]:
    """Link the target tokens of each pair with its source words."""
    if not pairs:
        return []
    posteriors = poisson(pairs, ITERATIONS, start_token=True)
    return [_links(pair, posterior, THRESHOLD) for pair, posterior in zip(pairs, posteriors, strict=True)]


def _links(pair: Pair, posterior: Array, threshold: float) -> Links:
    best = posterior.argmax(0)
    sure = posterior[best, np.arange(posterior.shape[1])] >= threshold
    positions = [int(row) if is_sure else None for row, is_sure in zip(best, sure, strict=True)]
    words: list[str | None] = []
    for column, row in enumerate(positions):
        if row is None:
            mass = Counter[str]()
            for word, probability in zip(pair.source, posterior[1:, column], strict=True):
                mass[word] += probability
            word, probability = mass.most_common(1)[0]
            words.append(word if probability >= threshold else None)
        else:
            words.append(pair.source[row - 1] if row else "")
    return Links(pair, positions, words)


def sample(pairs: Sequence[Pair], cells: int = CELLS) -> list[Pair]:
    """Every k-th pair, such that the pairs together have no more than about `cells` cells.

    A pair that would take a tenth of the cells for itself is left out.
    """
    sizes = [(len(pair.source) + 1) * len(pair.target) for pair in pairs]
    short = [(size, pair) for size, pair in zip(sizes, pairs, strict=True) if size <= cells / 10]
    step = max(1, -(-sum(size for size, _ in short) // cells))
    return [pair for _, pair in short[::step]]


class _Necessary:
    """Tells which links are needed: those of tokens that (nearly) never occur without the source word.

    An aligner is also sure of links between words that only often occur together, such as a vowel of a stem
    and the same vowel of an ending. From these nothing follows about reordering.
    """

    def __init__(self, links: Sequence[Links]) -> None:
        words_of: defaultdict[str, set[str]] = defaultdict(set)
        for one in links:
            for position, token in one.of_words:
                words_of[token].add(one.pair.source[position - 1])
        self._tokens, self._together = Counter[str](), Counter[tuple[str, str]]()
        for one in links:
            source = set(one.pair.source)
            for token in set(one.pair.target) & words_of.keys():
                self._tokens[token] += 1
                self._together.update((word, token) for word in words_of[token] & source)

    def positions(self, one: Links) -> list[int]:
        """The source positions of the tokens whose links are needed, in target order."""
        return [
            position
            for position, token in one.of_words
            if self._together[one.pair.source[position - 1], token] >= NECESSARY * self._tokens[token]
        ]


def explained(links: Sequence[Links]) -> float:
    """The share of the target tokens that come from one source word for sure."""
    tokens = sum(len(one.words) for one in links)
    return sum(word is not None for one in links for word in one.words) / tokens if tokens else 0.0


def _placed(links: Sequence[Links]) -> float:
    """The share of the target tokens that come from one source position for sure."""
    tokens = sum(len(one.positions) for one in links)
    return sum(place is not None for one in links for place in one.positions) / tokens if tokens else 0.0


def summarise(links: Sequence[Links], part: Part) -> tuple[Alignment, list[Finding]]:
    """The numbers and findings of linked pairs, whose targets consist of `part`s."""
    count = max(len(links), 1)
    necessary = _Necessary(links)
    needed = [necessary.positions(one) for one in links]
    positions = [[position for position, _ in one.of_words] for one in links]
    orders = [_order_of(*both) for both in zip(positions, needed, strict=True)]
    doubled = [one for one in links if is_doubled(one)]
    shares: dict[Order, float] = {
        "none": orders.count("none") / count,
        "separable": orders.count("separable") / count,
        "not separable": orders.count("not separable") / count,
    }
    alignment = Alignment(
        explained=explained(links),
        none=shares["none"],
        separable=shares["separable"],
        not_separable=shares["not separable"],
        words_first=sum(map(words_first, positions)) / count,
        doubling=len(doubled) / count,
        pairs=len(links),
    )
    crossed = [
        (one.pair, some)
        for one, some, order in zip(links, needed, orders, strict=True)
        if order == "not separable"
    ]
    findings = [_coverage(alignment, part)]
    if alignment.doubling <= max(NOTABLE, alignment.not_separable):  # else links miss what is said below
        findings.append(_orders(alignment, _placed(links), part))
    if alignment.doubling > NOTABLE:
        findings.append(_doubling(alignment, doubled))
    elif alignment.not_separable > NOTABLE:
        findings.append(_not_separable(alignment, crossed))
    return alignment, findings


def _order_of(positions: Sequence[int], needed: Sequence[int]) -> Order:
    """The reordering that links need. It is not separable only if that follows from needed links."""
    order = needed_order(positions)
    return "separable" if order == "not separable" != needed_order(needed) else order


def is_doubled(links: Links) -> bool:
    """Whether the target repeats a whole source of four words or more.

    Doubling of three words is still separable.
    """
    pair = links.pair
    if len(pair.source) >= 4 and repeats(pair.target, pair.source) > 1:
        return True
    written = [word for word in links.words if word]
    known = set(written)
    source = [word for word in pair.source if word in known]
    if len(set(source)) < 3 or len(source) < max(4, 0.8 * len(pair.source)):
        return False
    return repeats(written, source) > 1


def _coverage(alignment: Alignment, part: Part) -> Finding:
    text = f"An aligner is sure where {percent(alignment.explained, 0)} of the target {part}s come from."
    advice = "`ftor align` shows which words it finds."
    if alignment.explained >= FEW:
        advice = "An aligner can teach the first epochs (training.alignment_epochs). A race tries it."
    return Finding(kind="alignment", text=text, advice=advice)


def _orders(alignment: Alignment, placed: float, part: Part) -> Finding:
    """The reorderings that pairs need. Few links do not tell: other words may be reordered, too."""
    if placed < FEW:
        text = (
            f"The aligner knows the source position of only {percent(placed, 0)} of the target {part}s, too "
            "few to tell how many pairs need reordering. These links alone show it in "
            f"{percent(1 - alignment.none, 0)} of the pairs, and in {percent(alignment.not_separable, 0)} an "
            "order that is not separable."
        )
        return Finding(kind="reordering", text=text, advice="Keep the default model.order.")
    text = (
        f"By these links {percent(alignment.none, 0)} of the pairs need no reordering, "
        f"{percent(alignment.separable, 0)} a separable one, "
        f"{percent(alignment.not_separable, 0)} one that is not separable."
    )
    advice = "Keep the default model.order: words are copied, and the copies are reordered."
    if alignment.none >= NEARLY_ALL:
        advice = 'model.order="fertility" reorders nothing, and is faster.'
    elif alignment.words_first >= NEARLY_ALL:
        advice = 'Words move as wholes: model.order="reordering-fertility" is worth a try.'
    return Finding(kind="reordering", text=text, advice=advice)


def _not_separable(alignment: Alignment, crossed: Sequence[tuple[Pair, list[int]]]) -> Finding:
    share = percent(alignment.not_separable, 0)
    text = f"{share} of the pairs need a reordering that is not separable: {reason(*crossed[0])}."
    advice = 'Reordering alone fails there. Anchors (training.aligner="anchored") or the LSTM may learn them.'
    if alignment.not_separable > MANY:
        advice = "Reordering alone cannot learn this; anchors, the LSTM or the Transformer may."
    lines = lines_of(pair for pair, _ in crossed)
    return Finding(kind="not-separable", text=text, warning=True, advice=advice, **lines)


def _doubling(alignment: Alignment, doubled: Sequence[Links]) -> Finding:
    first = max(doubled, key=lambda one: len(one.pair.source))
    text = (
        f"{percent(alignment.doubling, 0)} of the pairs repeat a whole source of four words or more, as line "
        f"{first.pair.line}: {_shown(first.pair.source)} → {_shown(first.pair.target)}. "
        "This is not a separable reordering of copied words."
    )
    advice = "This cannot be learnt by copying and reordering words; the LSTM or the Transformer may."
    lines = lines_of(one.pair for one in doubled)
    return Finding(kind="doubling", text=text, warning=True, advice=advice, **lines)


def reason(pair: Pair, sources: Sequence[int]) -> str:
    """Why a pair is not separable: how many crossing links, in which line, and the words."""
    block = inseparable_blocks(sources)[0]
    inside = sources[block.start : block.end]
    words = [pair.source[place - 1] for place in inside]
    before = [pair.source[place - 1] for place in sorted(set(inside))]
    return (
        f"{crossings(inside)} of {crossings(sources)} crossing links in line {pair.line} cannot be "
        f"undone: {_shown(before)} → {_shown(words)}"
    )


def _shown(words: Sequence[str]) -> str:
    return " ".join(words[:WORDS_SHOWN]) + (" …" if len(words) > WORDS_SHOWN else "")
