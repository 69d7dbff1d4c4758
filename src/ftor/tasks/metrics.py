"""How good outputs are: exact match, edit distance and length, over all examples and by length."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from rich.console import Group
from rich.table import Table

from ftor.ops.simd import kernel


@dataclass(frozen=True)
class LengthGroup:
    """The examples of one length."""

    length: int
    count: int
    exact_match: float


@dataclass(frozen=True)
class Metrics:
    """What `evaluate` found; shares are between 0 and 1.

    Attributes:
        count: the number of examples.
        exact_match: share of predictions that are the gold.
        edit_distance: mean number of tokens to insert, delete or replace.
        per: all these edits, per token of the golds.
        length_error: mean |length of the prediction − length of the gold|.
        length_match: share of predictions as long as their golds.
        by_length: exact match by length, shortest first.
    """

    count: int
    exact_match: float
    edit_distance: float
    per: float
    length_error: float
    length_match: float
    by_length: tuple[LengthGroup, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as dicts, lists and numbers that JSON knows."""
        return asdict(self) | {"by_length": [asdict(group) for group in self.by_length]}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Read back what `as_dict` gave."""
        return cls(**values | {"by_length": tuple(LengthGroup(**group) for group in values["by_length"])})

    def table(self) -> Group:
        """Return two tables for the terminal: a summary, and exact match by length."""
        summary = Table("metric", "value")
        summary.columns[1].justify = "right"
        summary.add_row("examples", str(self.count))
        summary.add_row("exact match", _percent(self.exact_match))
        summary.add_row("right length", _percent(self.length_match))
        summary.add_row("mean length error", f"{self.length_error:.2f}")
        summary.add_row("mean edit distance", f"{self.edit_distance:.2f}")
        summary.add_row("edits per gold token", f"{self.per:.4f}")
        lengths = Table("length", "examples", "exact match")
        for column in lengths.columns:
            column.justify = "right"
        for group in self.by_length:
            lengths.add_row(str(group.length), str(group.count), _percent(group.exact_match))
        return Group(summary, lengths)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def evaluate(
    golds: Sequence[Sequence[str]], predictions: Sequence[Sequence[str]], keys: Sequence[int] | None = None
) -> Metrics:
    """Compare predicted tokens with the gold tokens.

    `keys` are the lengths to group by, one for each example; the golds' own lengths if None.
    """
    keys = [len(gold) for gold in golds] if keys is None else keys
    for name, values in (("predictions", predictions), ("keys", keys)):
        if len(values) != len(golds):
            raise ValueError(f"{name}: expected {len(golds)}, one for each gold, found {len(values)}")
    if not golds:
        raise ValueError("golds: expected at least one, found none")
    pairs = list(zip(golds, predictions, strict=True))
    distances = np.array([edit_distance(gold, prediction) for gold, prediction in pairs])
    errors = np.array([abs(len(gold) - len(prediction)) for gold, prediction in pairs])
    groups = np.array(keys)
    return Metrics(
        count=len(pairs),
        exact_match=float(np.mean(distances == 0)),
        edit_distance=float(np.mean(distances)),
        per=float(np.sum(distances)) / max(sum(map(len, golds)), 1),  # all golds may be empty
        length_error=float(np.mean(errors)),
        length_match=float(np.mean(errors == 0)),
        by_length=tuple(
            LengthGroup(int(key), int(np.sum(groups == key)), float(np.mean(distances[groups == key] == 0)))
            for key in np.unique(groups)
        ),
    )


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the least number of tokens to insert, delete or replace that turns `one` into `other`."""
    if list(one) == list(other):
        return 0
    numbers: dict[str, int] = {}
    rows = [
        np.array([numbers.setdefault(token, len(numbers)) for token in tokens], np.int64)
        for tokens in (one, other)
    ]
    return int(_levenshtein(*rows))


@kernel
def _levenshtein(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    """The textbook table, one row of which is kept: row[j] turns what was read of `one` into other[:j]."""
    row = np.arange(len(other) + 1)
    for i in range(len(one)):
        diagonal, row[0] = row[0], i + 1
        for j in range(len(other)):
            replaced = diagonal + (one[i] != other[j])
            diagonal = row[j + 1]
            row[j + 1] = min(replaced, diagonal + 1, row[j] + 1)
    return int(row[-1])
