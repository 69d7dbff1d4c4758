"""The published datasets. Each module or folder here describes one of them, or closely related ones.

A new dataset is a new module with `DATASETS`, a tuple of `PublishedDataset`. It needs no other registration.
"""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from ftor.datasets.published import PublishedDataset
from ftor.metrics import Grouping, Judge, Scorer
from ftor.reporting import Report

_NOT_DATASETS = ("archives", "fetching", "folders", "importing", "published", "splits", "terms")
_NAMES = [module.name for module in iter_modules(__path__) if module.name not in _NOT_DATASETS]

DATASETS: dict[str, PublishedDataset] = {
    dataset.name: dataset for name in _NAMES for dataset in import_module(f"{__name__}.{name}").DATASETS
}
TASKS = ("pairs", *(dataset.name for dataset in DATASETS.values() if dataset.has_pairs))
"""The values of `data.task`. "pairs" is for the user's own pairs."""


def judges(task: str, data_folder: Path | None) -> tuple[Judge, ...]:
    """The accuracies of a task, besides exact match. The first selects models.

    Files that a judge needs, such as the facts that queries are executed on, are looked for at once.
    """
    return DATASETS[task].judges(data_folder) if task in DATASETS else ()


def scorers(task: str, report: Report | None = None) -> tuple[Scorer, ...]:
    """The scores of all outputs together. `report` receives what cannot be computed on this machine."""
    return DATASETS[task].scorers(report) if task in DATASETS else ()


def groupings(task: str) -> tuple[Grouping, ...]:
    """What the examples of a task are grouped by, besides their length."""
    return DATASETS[task].groupings if task in DATASETS else ()
