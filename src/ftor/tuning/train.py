"""Training from Python: `ftor.train`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ftor.config import Config
from ftor.model.model import Model
from ftor.reporting import LineReport, Report
from ftor.training.train import as_overrides, configure, grammar_override, train_experiment
from ftor.tuning.own_pairs import Request, folder_for, is_pairs_file, train_on_pairs


def train(
    experiment: str | Path | Config,
    *,
    train: str | Path | None = None,
    dev: str | Path | None = None,
    test: str | Path | None = None,
    grammar: str | Path | None = None,
    seed: int | None = None,
    out: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    data_folder: str | Path | None = None,
    threads: int | None = None,
    minutes: float | None = None,
    quick: bool = False,
    report: Report | None = None,
) -> Model:
    """Train a model, evaluate it, and return it. It does the same as the command `ftor train`.

    For a TSV file of pairs, settings are found by a look at the pairs and a race of candidates, which runs in
    processes of its own. A script that calls this needs the usual `if __name__ == "__main__":`.

    >>> model = ftor.train("pairs.tsv", minutes=2)  # doctest: +SKIP
    >>> model.predict(["which rivers cross ohio"])[0].text  # doctest: +SKIP

    Args:
        experiment: a TSV file of training pairs, the name of a shipped experiment, a TOML file, or a
            configuration.
        train: a TSV file of training pairs instead of those of the experiment.
        dev: a TSV file of pairs that select the best epoch, and the best candidate of a race.
        test: a TSV file of pairs that are evaluated at the end.
        grammar: the file or name of a grammar that the outputs derive from. "infer" infers it from
            training programs, "none" turns it off.
        seed: with the same number of threads, the same seed gives the same model.
        out: a new or empty folder for the model. The default is the next free runs/NAME-SEED.
        settings: values of configuration keys, such as `{"training.epochs": 20}`.
        data_folder: where the files of the experiment are, if not in the usual folders.
        threads: number of CPU threads. None: as many as train fastest, which is measured in a second. A race
            has one for each of its runs.
        minutes: about how long a race takes. The default depends on the number of pairs.
        quick: whether there is no race.
        report: receives messages and progress. By default they are written to stderr;
            `ftor.reporting.SILENT` hides them.

    Returns:
        The model with the weights of the best epoch. `metrics.json` in `model.folder` has all results.

    Raises:
        KeyboardInterrupt: after Ctrl-C. `ftor train --resume FOLDER` continues the run or the race.
    """
    report = LineReport(sys.stderr) if report is None else report
    overrides = [*grammar_override(grammar), *as_overrides(settings or {})]
    out, data_folder = (None if path is None else Path(path) for path in (out, data_folder))
    if isinstance(experiment, Config) or not is_pairs_file(experiment):
        if minutes is not None or quick:
            raise ValueError("minutes, quick: only for a TSV file of pairs")
        config = configure(experiment, {"train": train, "dev": dev, "test": test}, seed, overrides, report)
        return train_experiment(config, out, data_folder, threads, report)
    if train is not None:
        raise ValueError(f"train: the training pairs are {experiment}")
    dev, test = (None if path is None else Path(path) for path in (dev, test))
    request = Request.new(Path(experiment), dev, test, overrides, seed, minutes, quick)
    folder = folder_for(request, out)
    if train_on_pairs(request, folder, report, data_folder) is None:
        raise KeyboardInterrupt
    return Model.load(folder, data_folder=data_folder)
