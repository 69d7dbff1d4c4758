"""What the runs of a race gave, and how long those to come take."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ftor.files import append_json_line, read_json_lines
from ftor.reporting import percent
from ftor.training.collapse import collapse
from ftor.tuning.race.costs import START_SECONDS
from ftor.tuning.race.plan import MADE, Entry, Plan

TOLERANCE = 0.02
"""A share of the pairs may be below another one by chance, and by so much."""
GOOD = 0.9
"""A share of right held-out pairs that calls for no longer runs and no advice."""


@dataclass(frozen=True)
class Result:
    """What a run gave.

    Attributes:
        score: share of the held-out pairs that are right, under the grammar if there is one. 0 if it failed.
        loss: of the held-out pairs.
        seconds: of training and evaluation.
        problem: why it failed.
        collapsed: whether its model collapsed, see `ftor.training.collapse`.
        real: the score of those held-out pairs that were not made, if some were.
        without_grammar: the score without the grammar, if there is one.
    """

    score: float
    loss: float
    seconds: float
    problem: str | None = None
    collapsed: bool = False
    real: float | None = None
    without_grammar: float | None = None

    @classmethod
    def of(
        cls, record: Mapping[str, Any], log: Sequence[Mapping[str, Any]], held_out: Mapping[str, int]
    ) -> "Result":
        """The result of a run that has come to its end.

        Args:
            record: its metrics. Those of test are those of the held-out pairs that were made.
            log: its epochs.
            held_out: how many pairs of each kind were held out; empty if real ones need not be told apart.
        """
        dev, made = (
            record.get("dev_grammar") or record["dev"],
            record.get("test_grammar") or record.get("test"),
        )
        score, pairs = dev["exact_match"], sum(held_out.values())
        real_pairs = pairs - held_out.get(MADE, 0)
        real = (
            (score * pairs - made["exact_match"] * held_out[MADE]) / real_pairs
            if made and real_pairs
            else None
        )
        return cls(
            score,
            loss=log[record["best_epoch"] - 1]["dev_loss"],
            seconds=record["seconds"] + record["dev_seconds"],
            collapsed=bool(collapse(log)),
            real=real,
            without_grammar=record["dev"]["exact_match"] if record.get("dev_grammar") else None,
        )


def read_results(file: Path) -> dict[Entry, Result]:
    """The results that are kept in a file, if it exists."""
    lines = read_json_lines(file) if file.exists() else []
    return {Entry(**line["entry"]): Result(**line["result"]) for line in lines}


def keep_result(file: Path, entry: Entry, result: Result) -> None:
    """Add a result to a file."""
    append_json_line(file, {"entry": asdict(entry), "result": asdict(result)})


class Imagined(dict[Entry, Result]):
    """Results in which each run that is missing is as good as its candidate's longest run so far.

    That is the longest one with the same seed, if there is one: another seed may be luckier.
    """

    def __missing__(self, entry: Entry) -> Result:
        known = [one for one in self if one.candidate == entry.candidate]
        last = max(known, key=lambda one: (one.seed == entry.seed, one.epochs), default=None)
        found = Result(0.0, 0.0, 0.0) if last is None else self[last]
        return Result(found.score, found.loss, 0.0)


class RaceClock:
    """How long the runs of a race take, by what was planned and by the runs so far.

    Args:
        plan: what is raced.
        known: runs that are done, run, or wait to be run.
        seconds: from the first epoch to the last, of those runs for which they are known.
    """

    def __init__(self, plan: Plan, known: Iterable[Entry], seconds: Mapping[Entry, float]) -> None:
        self._plan = plan
        self._begun: dict[str, float] = {}
        for entry in known:
            self._begin(entry)
        planned = plan.epochs * plan.look.pairs["train"]  # counts as much as one of the longest runs
        costs = planned + sum(map(plan.cost, seconds))
        self._rate = (planned * plan.pair_seconds + sum(seconds.values())) / costs

    def _begin(self, entry: Entry) -> float:
        """Note that a run comes so far. Returns what it costs beyond what it has come to before."""
        before, cost = self._begun.get(entry.run, 0.0), self._plan.cost(entry)
        self._begun[entry.run] = max(before, cost)
        return max(cost - before, 0.0)

    def seconds_of(self, entries: Sequence[Entry]) -> list[float]:
        """The seconds of other runs, which may continue those before."""
        return [START_SECONDS + self._rate * self._begin(entry) for entry in entries]


def is_below(score: float, other: float, count: int) -> bool:
    """Whether a share of so many pairs is clearly below another one."""
    return score < other - 2 * math.sqrt(other * (1 - other) / max(count, 1)) - TOLERANCE


def is_alike(score: float, other: float, count: int) -> bool:
    """Whether a share of so many pairs is below another one by no more than their standard error."""
    return score >= other - math.sqrt(2 * other * (1 - other) / max(count, 1))


def better_without_grammar(found: Iterable[Result]) -> str:
    """That a candidate is right more often without the grammar, if it is so with every seed; or nothing."""
    pairs = [(one.without_grammar, one.score) for one in found if one.without_grammar is not None]
    if not pairs or any(plain <= score + TOLERANCE for plain, score in pairs):
        return ""
    plain, score = min(pairs)
    held_out = "of the held-out pairs without the grammar"
    return f"is right on {percent(plain)} {held_out}, and on {percent(score)} with it"
