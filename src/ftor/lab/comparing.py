"""Two experiments of the ledgers on the same pairs, by the judgements of their runs. Nothing runs again."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ftor.config import shipped
from ftor.errors import FtorError
from ftor.lab.ledger import shipped_hash
from ftor.lab.lines import EvaluationLine, Line, RunLine
from ftor.metrics import EXACT_MATCH, accuracy_name
from ftor.metrics.judgements import Judgements
from ftor.metrics.significance import Comparison, Estimate, bootstrap, compare, share_of_runs

SPLITS = ("test_grammar", "test")
"""What is compared if nothing is asked for: the first that all runs have."""
_ENTRY = re.compile(r"(?P<name>[^@:]+)(@(?P<config>[0-9a-f]+))?(:(?P<seed>\d+))?")


class SeedComparison(NamedTuple):
    """A run of each experiment. `seeds` are those of the two runs."""

    seeds: tuple[int, int]
    result: Comparison


@dataclass(frozen=True)
class RunsComparison:
    """The runs of two experiments on the same pairs.

    Attributes:
        split: which pairs: `test`, `dev`, these with `_grammar`, or a file.
        measure: what counts as right: a judge of the task, or "exact_match".
        first, second: the mean shares of right outputs over the runs.
        difference: second − first, with the interval of the paired bootstrap over examples.
        by_seed: the runs with the same seed, or the only two runs, with the exact McNemar test.
    """

    split: str
    measure: str
    first: Estimate
    second: Estimate
    difference: Estimate
    by_seed: tuple[SeedComparison, ...]

    def as_dict(self) -> dict[str, Any]:
        """Convert to values that can be written as JSON."""
        shares = {name: getattr(self, name)._asdict() for name in ("first", "second", "difference")}
        seeds = [{"seeds": seeds, **_values(result)} for seeds, result in self.by_seed]
        return {"split": self.split, "measure": self.measure, **shares, "by_seed": seeds}


def _values(result: Comparison) -> dict[str, Any]:
    shares = {name: getattr(result, name)._asdict() for name in ("first", "second", "difference")}
    return asdict(result) | shares


def compare_runs(lines: Sequence[Line], first: str, second: str, split: str | None = None) -> RunsComparison:
    """Compare two experiments by the judgements of their runs.

    Args:
        lines: those of the ledgers, with their judgements.
        first, second: NAME, NAME:SEED, NAME@CONFIG or NAME@CONFIG:SEED. CONFIG is the beginning of the hash
            of a configuration. By default it is the shipped one, and all seeds count.
        split: which pairs. Default: the test pairs, with the grammar if all runs have that.
    """
    runs = [_named(_of_split(lines, split), entry) for entry in (first, second)]
    chosen = _common_split(runs, SPLITS if split is None else (split,))
    one, other = ({run.seed: run.judged[chosen] for run in both} for both in runs)
    judgements = [*one.values(), *other.values()]
    if len({judged.pairs for judged in judgements}) > 1:
        raise FtorError(f"{chosen}: {first} and {second} were judged on different pairs")
    measures = {accuracy_name(judged.right) for judged in judgements}
    measure = measures.pop() if len(measures) == 1 else EXACT_MATCH
    right, right_later = (np.stack([each.right[measure] for each in both.values()]) for both in (one, other))
    return RunsComparison(
        *(chosen, measure),
        first=share_of_runs(right),
        second=share_of_runs(right_later),
        difference=bootstrap(right_later.mean(0) - right.mean(0)),
        by_seed=tuple(_by_seed(one, other, measure)),
    )


def _common_split(runs: Sequence[Sequence[Line]], names: Sequence[str]) -> str:
    """Return the first split that all runs have judgements of."""
    every = [run for both in runs for run in both]
    for name in names:
        if all(name in run.judged for run in every):
            return name
    without = ", ".join(f"{run.experiment}:{run.seed}" for run in every if names[-1] not in run.judged)
    raise FtorError(f"no judgements of {names[-1]}, which runs keep since version 0.2: {without}")


def _by_seed(
    first: dict[int, Judgements], second: dict[int, Judgements], measure: str
) -> list[SeedComparison]:
    both = [(seed, seed) for seed in sorted(first.keys() & second.keys())]
    if len(first) == len(second) == 1:
        both = [(next(iter(first)), next(iter(second)))]
    return [
        SeedComparison((one, other), compare(first[one].right[measure], second[other].right[measure]))
        for one, other in both
    ]


def _of_split(lines: Sequence[Line], split: str | None) -> list[Line]:
    """Return the lines that may have a split: runs, or evaluations on a file."""
    if split is None or split.removesuffix("_grammar") in ("dev", "test"):
        return [line for line in lines if isinstance(line, RunLine)]
    return [line for line in lines if isinstance(line, EvaluationLine) and line.file == split]


def _named(lines: Sequence[Line], entry: str) -> list[Line]:
    """Return the lines of an entry, sorted by seed."""
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise FtorError(f"{entry}: expected NAME, NAME:SEED or NAME@CONFIG:SEED")
    name, config, seed = match["name"], match["config"], match["seed"]
    found = [line for line in lines if line.experiment == name]
    if not found:
        names = ", ".join(sorted({line.experiment for line in lines})) or "nothing"
        raise FtorError(f"{entry}: the ledgers have no such experiment; they have {names}")
    if config is None and name in shipped():
        config = shipped_hash(name)
    found = [line for line in found if line.config is None or line.config.startswith(config or "")]
    configs = {line.config for line in found}
    if len(configs) > 1:
        several = ", ".join(sorted(f"{name}@{config}" for config in configs))
        raise FtorError(f"{name}: several configurations; name one: {several}")
    found = [line for line in found if seed is None or line.seed == int(seed)]
    if not found:
        raise FtorError(f"{entry}: the ledgers have no such run")
    return sorted(found, key=lambda line: line.seed)
