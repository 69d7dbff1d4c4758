"""What a task says about judging its outputs; apart from the metrics, whose kernels take long to import."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

Tokens = Sequence[str]
CIDER = "CIDEr"
"""The one score that is not between 0 and 1, but up to 10."""


class Judge(NamedTuple):
    """One way to call an output right.

    Attributes:
        name: what the share of right outputs is called, such as "execution_accuracy".
        same: takes the gold tokens and the predicted tokens.
    """

    name: str
    same: Callable[[Tokens, Tokens], bool]


class Scorer(NamedTuple):
    """A way to score all outputs together.

    Attributes:
        names: what its scores are called, such as "BLEU-1".
        score: takes all golds and all outputs, and returns a score for each name.
        slow: whether it takes too long for every epoch.
    """

    names: tuple[str, ...]
    score: Callable[[Sequence[Tokens], Sequence[Tokens]], Sequence[float]]
    slow: bool = False


class Grouping(NamedTuple):
    """What examples are grouped by, besides their length.

    Attributes:
        name: of what is counted, such as "parameters".
        key: takes the gold tokens.
    """

    name: str
    key: Callable[[Tokens], int]
