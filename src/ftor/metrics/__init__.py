"""Metrics of outputs: exact match, edit distance, length, and the judges and scores of a task.

`significance` says how sure such numbers are, and `mistakes` what is wrong with wrong outputs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from rapidfuzz.distance import Levenshtein

Tokens = Sequence[str]
Key = int | str
"""A length, another quantity or a kind, by which examples are grouped."""
Verdicts = dict[str, NDArray[np.bool_]]
"""Whether each output is right, by the name of the share of right outputs."""
CIDER = "CIDEr"
"""The only score that is not between 0 and 1. It goes up to 10."""


class Judge(NamedTuple):
    """Decides whether an output is right.

    Attributes:
        name: name of the share of right outputs, such as "execution_accuracy".
        same: takes the gold tokens and the predicted tokens.
    """

    name: str
    same: Callable[[Tokens, Tokens], bool]


class Scorer(NamedTuple):
    """Scores all outputs together.

    Attributes:
        names: names of the scores, such as "BLEU-1".
        score: takes all golds and all outputs, and returns a score for each name.
        slow: whether it is too slow to compute after every epoch.
    """

    names: tuple[str, ...]
    score: Callable[[Sequence[Tokens], Sequence[Tokens]], Sequence[float]]
    slow: bool = False


class Grouping(NamedTuple):
    """What examples are grouped by, besides their length.

    Attributes:
        name: name of the quantity or kind, such as "parameters".
        key: takes the words of the source and the gold tokens, and returns the quantity or kind.
    """

    name: str
    key: Callable[[Tokens, Tokens], Key]


EXACT_MATCH = "exact_match"
WELL_FORMED = "well_formed"
"""Name of the share of outputs that a grammar accepts, right or wrong."""
IN_GRAMMAR = "in the model's grammar"
"""The same in words. It may be below exact match: the grammar need not derive all golds."""


@dataclass(frozen=True)
class LengthGroup:
    """The examples of one length."""

    length: int
    count: int
    exact_match: float


@dataclass(frozen=True)
class Group:
    """The examples of one value of a `Grouping`. `share` is that of the first judge, None without judges."""

    name: str
    value: Key
    count: int
    exact_match: float
    share: float | None


@dataclass(frozen=True)
class Metrics:
    """Results of `evaluate`. Shares are between 0 and 1.

    Attributes:
        count: number of examples.
        exact_match: share of predictions that equal the gold.
        edit_distance: mean number of tokens to insert, delete or replace.
        per: number of these edits per token of the golds.
        length_error: mean |length of the prediction − length of the gold|.
        length_match: share of predictions as long as their golds.
        by_length: exact match by length, shortest first.
        shares: share of predictions that each judge calls right, by name, in the order of the judges.
        by_group: exact match and share of the first judge for each value of each grouping, smallest first.
        scores: scores of all predictions together, by name. All but CIDEr are between 0 and 1.
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
        """The accuracy of the task: the share of the first judge, or exact match without judges."""
        return self.shares.get(accuracy_name(self.shares), self.exact_match)

    def as_dict(self) -> dict[str, Any]:
        """Convert to values that can be written as JSON."""
        values = asdict(self)
        return values | {name: list(values[name]) for name in ("by_length", "by_group")}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Metrics":
        """Convert back from `as_dict`. Values of older versions have no judges, groupings or scores."""
        return _adapter().validate_python(values)


@cache
def _adapter() -> TypeAdapter[Metrics]:
    return TypeAdapter(Metrics)


def accuracy_name(names: Iterable[str]) -> str:
    """Which of these verdicts or shares is the accuracy of the task: the first judge, or exact match."""
    return next((name for name in names if name not in (EXACT_MATCH, WELL_FORMED)), EXACT_MATCH)


def measure_name(name: str) -> str:
    """The name of a share in words."""
    return IN_GRAMMAR if name == WELL_FORMED else name.replace("_", " ")


def format_score(name: str, score: float) -> str:
    """Format a score the usual way: times 100, except CIDEr."""
    return f"{score:.3f}" if name == CIDER else f"{100 * score:.1f}"


def verdicts(
    golds: Sequence[Tokens], predictions: Sequence[Tokens], judges: Sequence[Judge] = ()
) -> Verdicts:
    """Whether each prediction equals its gold, as "exact_match", and whether each judge calls it right."""
    pairs = list(zip(golds, predictions, strict=True))
    same = Judge(EXACT_MATCH, lambda gold, prediction: list(gold) == list(prediction))
    return {judge.name: np.array([judge.same(*pair) for pair in pairs], bool) for judge in (same, *judges)}


def evaluate(
    golds: Sequence[Tokens],
    predictions: Sequence[Tokens],
    keys: Sequence[int] | None = None,
    judges: Sequence[Judge] = (),
    groups: Mapping[str, Sequence[Key]] | None = None,
    scorers: Sequence[Scorer] = (),
    right: Mapping[str, NDArray[np.bool_]] | None = None,
) -> Metrics:
    """Compare predicted tokens with gold tokens.

    Args:
        golds, predictions: tokens of each example.
        keys: length of each example, for the groups by length. By default the length of its gold.
        judges, scorers: those of the task, from `ftor.datasets`.
        groups: the key of each example by the name of each grouping, from `group_keys`.
        right: the `verdicts`, if they are known already. Judges are then not asked.
    """
    keys = [len(gold) for gold in golds] if keys is None else keys
    for name, values in (("predictions", predictions), ("keys", keys)):
        if len(values) != len(golds):
            raise ValueError(f"{name}: expected {len(golds)}, one for each gold, found {len(values)}")
    if not golds:
        raise ValueError("golds: there are none")
    pairs = list(zip(golds, predictions, strict=True))
    distances = np.array([edit_distance(gold, prediction) for gold, prediction in pairs])
    errors = np.array([abs(len(gold) - len(prediction)) for gold, prediction in pairs])
    right = verdicts(golds, predictions, judges) if right is None else right
    exact, judged = right[EXACT_MATCH], {name: rows for name, rows in right.items() if name != EXACT_MATCH}
    first = judged.get(accuracy_name(judged))
    return Metrics(
        count=len(pairs),
        exact_match=float(np.mean(exact)),
        edit_distance=float(np.mean(distances)),
        per=float(np.sum(distances)) / max(sum(map(len, golds)), 1),  # all golds may be empty
        length_error=float(np.mean(errors)),
        length_match=float(np.mean(errors == 0)),
        by_length=tuple(
            LengthGroup(int(key), int(np.sum(rows)), float(np.mean(exact[rows]))) for key, rows in _rows(keys)
        ),
        shares={name: float(np.mean(rows)) for name, rows in judged.items()},
        by_group=tuple(
            Group(
                name,
                value,
                int(np.sum(rows)),
                float(np.mean(exact[rows])),
                None if first is None else float(np.mean(first[rows])),
            )
            for name, values in (groups or {}).items()
            for value, rows in _rows(values)
        ),
        scores={
            name: float(score)
            for scorer in scorers
            for name, score in zip(scorer.names, scorer.score(golds, predictions), strict=True)
        },
    )


def group_keys(
    groupings: Iterable[Grouping], sources: Sequence[Tokens], golds: Sequence[Tokens]
) -> dict[str, list[Key]]:
    """Return the key of each example by the name of each grouping."""
    pairs = list(zip(sources, golds, strict=True))
    return {grouping.name: [grouping.key(*pair) for pair in pairs] for grouping in groupings}


def _rows(keys: Sequence[Key]) -> Iterator[tuple[Key, NDArray[np.bool_]]]:
    """Yield each key, smallest first, with a mask of its examples."""
    array = np.array(keys)
    return ((key, array == key) for key in np.unique(array).tolist())


def was_trained_on(split: str, results: Mapping[str, Any]) -> bool:
    """Whether most pairs of a split are training pairs, by the results of a run."""
    return split == "dev" and "dev_pairs" in results.get("train", {})


def split_name(split: str, results: Mapping[str, Any]) -> str:
    """The name of a split in tables. Dev pairs that are training pairs are not called dev."""
    if not was_trained_on(split, results):
        return split
    return f"trained on ({results['train']['dev_pairs']} of {results['dev']['count']} pairs)"


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """The smallest number of tokens to insert, delete or replace that turns `one` into `other`."""
    return Levenshtein.distance(one, other)
