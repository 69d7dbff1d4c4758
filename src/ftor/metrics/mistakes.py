"""What is wrong with wrong outputs: a class for each, and the words and parts that they have in common."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

from ftor.metrics.significance import tail

MISSING = ""
"""Stands for no part, where a part of the gold is missing or a part of the output is extra."""
FEWEST = 2
"""Wrong examples that a suspect has."""


class Mistake(StrEnum):
    """The classes of mistakes. A wrong output is in the first class that fits."""

    NO_ANSWER = "no answer"
    UNKNOWN_WORDS = "unknown words"
    WRONG_ORDER = "wrong order"
    ONE_CONFUSED = "one part confused"
    MISSING_PARTS = "missing parts"
    EXTRA_PARTS = "extra parts"
    WRONG_LENGTH = "wrong length"
    SEVERAL_CONFUSED = "several parts confused"

    @property
    def meaning(self) -> str:
        """One sentence about the class."""
        return _MEANINGS[self]


_MEANINGS = {
    Mistake.NO_ANSWER: "The model gave no output.",
    Mistake.UNKNOWN_WORDS: "Training lacks a part of the gold, or a word that is no name to copy.",
    Mistake.WRONG_ORDER: "The output has exactly the right parts, in another order.",
    Mistake.ONE_CONFUSED: "One part stands where another one should; all others are right.",
    Mistake.MISSING_PARTS: "The output lacks parts of the gold, and has no others.",
    Mistake.EXTRA_PARTS: "The output has all parts of the gold, and others besides.",
    Mistake.WRONG_LENGTH: "The output is too short or too long, and has wrong parts, too.",
    Mistake.SEVERAL_CONFUSED: "The output has the right length, but more than one wrong part.",
}


def classify(
    gold: Sequence[str], output: Sequence[str], unknown: bool = False, answered: bool = True
) -> Mistake:
    """The class of a wrong output.

    Args:
        gold, output: their parts: tokens, or units of programs.
        unknown: whether the sentence or the gold has something that the training pairs lack.
        answered: whether there is an output. An output may also be empty.
    """
    if not answered:
        return Mistake.NO_ANSWER
    if unknown:
        return Mistake.UNKNOWN_WORDS
    missing, extra = Counter(gold) - Counter(output), Counter(output) - Counter(gold)
    if not missing and not extra:
        return Mistake.WRONG_ORDER
    if len(gold) == len(output):
        wrong = sum(one != other for one, other in zip(gold, output, strict=True))
        return Mistake.ONE_CONFUSED if wrong == 1 else Mistake.SEVERAL_CONFUSED
    if not extra:
        return Mistake.MISSING_PARTS
    return Mistake.WRONG_LENGTH if missing else Mistake.EXTRA_PARTS


@dataclass(frozen=True)
class Suspect:
    """A word or a part that wrong outputs have more often than right ones.

    Attributes:
        item: the word or part.
        wrong, count: how many of how many examples with it are wrong.
        p_value: the probability of so many wrong ones if the item had nothing to do with it.
    """

    item: str
    wrong: int
    count: int
    p_value: float


def suspects(items: Sequence[Iterable[str]], wrong: NDArray[np.bool_], most: float = 0.05) -> list[Suspect]:
    """The items that are more frequent in wrong examples than chance gives, the least likely ones first.

    An item with a single wrong example is not suspected.

    Args:
        items: those of each example, such as the words of its sentence. Repeated ones count once.
        wrong: whether each example is wrong, or in the class of mistakes that is asked about.
        most: the largest p-value. Each item is tested by itself, so a few of many are there by chance.
    """
    sets = [set(some) for some in items]
    counts = Counter(item for some in sets for item in some)
    hits = Counter(item for some, is_wrong in zip(sets, wrong, strict=True) if is_wrong for item in some)
    total = int(np.sum(wrong))
    found = [
        Suspect(item, n, counts[item], tail(n, counts[item], total, len(sets)))
        for item, n in hits.items()
        if n >= FEWEST
    ]
    chosen = (one for one in found if one.p_value <= most)
    return sorted(chosen, key=lambda one: (one.p_value, -one.wrong, one.item))


def confusions(golds: Iterable[Sequence[str]], outputs: Iterable[Sequence[str]]) -> Counter[tuple[str, str]]:
    """How often each part of the gold became another one: (in the gold, in the output).

    They are the edits that turn the golds into the outputs. `MISSING` is in place of the gold for an extra
    part, and in place of the output for a missing one.
    """
    found: Counter[tuple[str, str]] = Counter()
    for gold, output in zip(golds, outputs, strict=True):
        for edit in Levenshtein.editops(gold, output):
            before = MISSING if edit.tag == "insert" else gold[edit.src_pos]
            after = MISSING if edit.tag == "delete" else output[edit.dest_pos]
            found[before, after] += 1
    return found
