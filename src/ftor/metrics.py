"""How good outputs are: exact match, edit distance, length, a task's own judges and scores."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

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


WELL_FORMED = "well_formed"
"""The share of outputs that a grammar accepts, whatever the golds are."""


@dataclass(frozen=True)
class LengthGroup:
    """The examples of one length."""

    length: int
    count: int
    exact_match: float


@dataclass(frozen=True)
class Group:
    """The examples of one value of a `Grouping`; `share` is the first judge's, None without judges."""

    name: str
    value: int
    count: int
    exact_match: float
    share: float | None


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
        shares: share of predictions that each judge calls right, by its name, in the judges' order.
        by_group: exact match and the first judge's share by the grouping's values, smallest first.
        scores: what each scorer gives to all predictions together, by its name; between 0 and 1, but CIDEr.
    """

    count: int
    exact_match: float
    edit_distance: float
    per: float
    length_error: float
    length_match: float
    by_length: tuple[LengthGroup, ...]
    shares: dict[str, float] = field(default_factory=dict)
    by_group: tuple[Group, ...] = ()
    scores: dict[str, float] = field(default_factory=dict)

    @property
    def accuracy(self) -> float:
        """The task's own accuracy: the first judge's share, or exact match if the task has no judges."""
        return next((share for name, share in self.shares.items() if name != WELL_FORMED), self.exact_match)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as dicts, lists and numbers that JSON knows."""
        values = asdict(self)
        return values | {name: list(values[name]) for name in ("by_length", "by_group")}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Read back what `as_dict` gave, also before there were judges, groupings and scores."""
        lengths = tuple(LengthGroup(**group) for group in values["by_length"])
        groups = tuple(Group(**group) for group in values.get("by_group", ()))
        return cls(**values | {"by_length": lengths, "by_group": groups})


def shown(name: str, score: float) -> str:
    """A score as people write it: times 100, except CIDEr."""
    return f"{score:.3f}" if name == CIDER else f"{100 * score:.1f}"


def evaluate(
    golds: Sequence[Tokens],
    predictions: Sequence[Tokens],
    keys: Sequence[int] | None = None,
    judges: Sequence[Judge] = (),
    group: Grouping | None = None,
    scorers: Sequence[Scorer] = (),
) -> Metrics:
    """Compare predicted tokens with the gold tokens.

    `keys` are the lengths to group by, one for each example; the golds' own lengths if None.
    `judges`, `group` and `scorers` are what `ftor.datasets` knows about the task.
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
    exact = distances == 0
    right = {judge.name: np.array([judge.same(*pair) for pair in pairs], bool) for judge in judges}
    first = next(iter(right.values()), None)
    values = [group.key(gold) for gold in golds] if group else []
    return Metrics(
        count=len(pairs),
        exact_match=float(np.mean(exact)),
        edit_distance=float(np.mean(distances)),
        per=float(np.sum(distances)) / max(sum(map(len, golds)), 1),  # all golds may be empty
        length_error=float(np.mean(errors)),
        length_match=float(np.mean(errors == 0)),
        by_length=tuple(
            LengthGroup(key, int(np.sum(rows)), float(np.mean(exact[rows]))) for key, rows in _rows(keys)
        ),
        shares={name: float(np.mean(verdicts)) for name, verdicts in right.items()},
        by_group=tuple(
            Group(
                group.name if group else "",
                value,
                int(np.sum(rows)),
                float(np.mean(exact[rows])),
                None if first is None else float(np.mean(first[rows])),
            )
            for value, rows in _rows(values)
        ),
        scores={
            name: float(score)
            for scorer in scorers
            for name, score in zip(scorer.names, scorer.score(golds, predictions), strict=True)
        },
    )


def _rows(keys: Sequence[int]) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Each distinct key, smallest first, and which examples have it."""
    array = np.array(keys, np.int64)
    return ((int(key), array == key) for key in np.unique(array))


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the least number of tokens to insert, delete or replace that turns `one` into `other`."""
    return Levenshtein.distance(one, other)
