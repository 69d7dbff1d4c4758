"""Made-up lines of ledgers."""

from typing import Any

from ftor.config import Config
from ftor.lab.lines import read_line
from ftor.lab.paper import ACCURACIES, STYLE_SCORES
from ftor.lab.tables import tables as tables_of

Record = dict[str, Any]


def tables(records, names=None):
    """The tables of records that are not yet lines."""
    return tables_of([read_line(record) for record in records], names)


def of(experiment: str, seed: int) -> Record:
    return {"experiment": experiment, "seed": seed, "config": Config.load(experiment).hash}


def metrics(exact_match: float, length_error: float = 0.5, **others: Any) -> Record:
    numbers = {"count": 10, "edit_distance": 1.0, "per": 0.1, "length_match": 0.5, "by_length": []}
    return numbers | {"exact_match": exact_match, "length_error": length_error} | others


def mirror_run(experiment: str, seed: int, dev: float, by_length: dict[int, float]) -> Record:
    """The string lengths of the test, of each of which there are ten times as many strings."""
    groups = [{"length": n, "count": 10 * n, "exact_match": share} for n, share in by_length.items()]
    right = sum(group["count"] * group["exact_match"] for group in groups)
    exact = right / sum(group["count"] for group in groups)
    of_dev = metrics(dev, by_length=[{"length": 10, "count": 200, "exact_match": dev}])
    return of(experiment, seed) | {"dev": of_dev, "test": metrics(exact, by_length=groups), "seconds": 120.0}


def parsing_run(experiment: str, seed: int, without: float, with_grammar: float | None = None) -> Record:
    accuracy = ACCURACIES[experiment.split("-")[0]]

    def test(share: float) -> Record:
        shares = {accuracy: share, "well_formed": 0.5}
        if accuracy == "execution_accuracy":
            shares["execution_accuracy_released"] = share + 0.02
        return metrics(share / 2, 0.25, shares=shares)

    constrained = {} if with_grammar is None else {"test_grammar": test(with_grammar)}
    times = {"seconds": 60.0, "dev_seconds": 30.0}
    return of(experiment, seed) | times | {"test": test(without)} | constrained


def style_run(experiment: str, seed: int, score: float, without: tuple[str, ...] = ()) -> Record:
    scores = {name: score * (10 if name == "CIDEr" else 1) for name in STYLE_SCORES if name not in without}
    test = metrics(0.0, 1.0, scores=scores)
    return of(experiment, seed) | {"seconds": 60.0, "dev_seconds": 30.0, "test": test}
