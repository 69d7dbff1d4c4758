"""The registry of datasets, and what each says about judging."""

from importlib import import_module
from pkgutil import iter_modules

import ftor.datasets
from ftor.config import Config, shipped
from ftor.datasets import DATASETS, TASKS, groupings, judges


def test_tasks_without_an_accuracy_of_their_own(tmp_path):
    assert (
        *("pairs", "atis", "cogs", "geo", "mirror", "mirror-xyz", "okapi"),
        *("scan-length", "scan-around-right", "scan-jump", "style"),
    ) == TASKS
    for task in ("pairs", "mirror", "mirror-xyz"):
        assert judges(task, tmp_path) == ()
        assert groupings(task) == ()


def test_every_module_describes_a_dataset_or_is_known_not_to():
    modules = {module.name for module in iter_modules(ftor.datasets.__path__)}
    others = set(ftor.datasets._NOT_DATASETS)
    assert others < modules
    for name in modules - others:
        assert all(DATASETS[d.name] is d for d in import_module(f"ftor.datasets.{name}").DATASETS)


def test_the_tasks_of_all_experiments_are_known():
    assert {Config.load(name).data.task for name in shipped()} <= set(TASKS)
