"""What is particular to a dataset: how its pairs are made, and how outputs are judged."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from ftor.datasets import mirror
from ftor.metrics import Grouping, Judge, Scorer
from ftor.reporting import Report

GENERATED = dict.fromkeys(mirror.SPLITS, mirror)
"""The tasks whose pairs can be made anywhere, and the module that makes them."""
JUDGED = ("geo", "atis", "okapi")
"""The tasks with an accuracy of their own; each is a module of this package that has `judges`."""
SCORED = ("style",)
"""The tasks whose outputs are scored all together; each is a module of this package that has `scorers`."""
TASKS = ("pairs", *GENERATED, *JUDGED, *SCORED)
"""All tasks; "pairs" is anybody's own."""


def judges(task: str, data_folder: Path | None) -> tuple[Judge, ...]:
    """How outputs of a task are judged, besides exact match; the first is the one to select models by.

    What a judge needs, such as the facts for executing queries, is looked for in the data folders at once.
    """
    found: tuple[Judge, ...] = _module(task).judges(data_folder) if task in JUDGED else ()
    return found


def scorers(task: str, report: Report | None = None) -> tuple[Scorer, ...]:
    """How outputs of a task are scored all together; `report` hears what cannot be computed here."""
    found: tuple[Scorer, ...] = _module(task).scorers(report) if task in SCORED else ()
    return found


def grouping(task: str) -> Grouping | None:
    """What to group a task's examples by, besides their length."""
    found: Grouping | None = getattr(_module(task), "GROUPING", None) if task in JUDGED else None
    return found


def _module(task: str) -> ModuleType:
    """Import a task's module when it is wanted."""
    return import_module(f"ftor.datasets.{task}")
