"""What a task says about judging its outputs; apart from the metrics, whose kernels take long to import."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

Tokens = Sequence[str]


class Judge(NamedTuple):
    """One way to call an output right.

    Attributes:
        name: what the share of right outputs is called, such as "execution_accuracy".
        same: takes the gold tokens and the predicted tokens.
    """

    name: str
    same: Callable[[Tokens, Tokens], bool]


class Grouping(NamedTuple):
    """What examples are grouped by, besides their length.

    Attributes:
        name: of what is counted, such as "parameters".
        key: takes the gold tokens.
    """

    name: str
    key: Callable[[Tokens], int]
