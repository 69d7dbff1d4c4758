"""The search: trials are drawn, their runs are queued, and their results are kept and compared."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from ftor.config import ConfigError
from ftor.files import read_json_lines
from ftor.jobs import Job, NoResultError, Status, Workload
from ftor.reporting import Report, percent
from ftor.tuning.store import Store, run_name
from ftor.tuning.trials import FINALISTS, Epochs, Trial, TrialState, objective_key, result_of, to_check


class Search(Workload):
    """The runs of a search.

    Args:
        store: keeps the trials. The folders of the runs are beside it.
        report: receives a message for each trial.
        threads: number of CPU threads of each run.
        data_folder: folder of the pairs, or None for the default folders.
    """

    def __init__(self, store: Store, report: Report, threads: int, data_folder: Path | None) -> None:
        super().__init__()
        self._store, self._plan, self._report = store, store.plan, report
        self._threads, self._data_folder = threads, data_folder and data_folder.absolute()
        self._objective = objective_key(store.plan.config, data_folder)
        self._runs: dict[Job, tuple[int, int]] = {}  # trial and seed
        self._heard: dict[Job, dict[int, Mapping[str, Any]]] = {}  # what a folder on another machine has
        store.complete_draws()
        again = store.reopen_failed()
        if again:
            report.say(f"tried again, since they failed before: {', '.join(again)}")
        for trial in store.trials():
            if trial.state == "running":
                self._resume(trial)

    def extend(self) -> bool:
        """Draw a trial. When all are done, add the runs of the best ones with the third seed."""
        trials, third = self._store.trials(), self._plan.third_seed
        if len(trials) <= self._plan.trials:  # one of them is the unchanged configuration
            self._resume(self._store.draw())
            return True
        if any(trial.state == "running" for trial in trials):
            return False
        checked = {number for number, seed in self._runs.values() if seed == third}
        unchecked = [t for t in to_check(trials) if t.third is None and t.number not in checked]
        self._add(unchecked, [third])
        return bool(unchecked)

    def _resume(self, trial: Trial) -> None:
        """End a trial that has all its results, or add the runs that it lacks."""
        if len(trial.results) == len(self._plan.seeds):
            self._end(trial.number, "complete")
            return
        self._report.say(f"trial {trial.number}: {trial.settings}")
        try:
            self._add([trial], [seed for seed in self._plan.seeds if seed not in trial.results])
        except ConfigError as error:  # the values exclude each other
            self._end(trial.number, "failed", str(error), for_good=True)

    def _add(self, trials: Iterable[Trial], seeds: Iterable[int]) -> None:
        known = [result.seconds for trial in self._store.trials() for result in trial.results.values()]
        for trial, seed in [(trial, seed) for trial in trials for seed in seeds]:
            config = self._plan.config_for(trial.values, seed)
            folder = self._store.folder.absolute() / "runs" / run_name(trial.number, seed)
            job = Job(config, folder, self._data_folder, self._threads, float(config.model.wants_gpu))
            self._runs[job] = trial.number, seed
            self.statuses.append(Status(job, job.name, fmean(known) if known else None))

    def epoch(self, status: Status, record: Mapping[str, Any]) -> None:
        """Note the value. With pruning, end the trial if it is hopeless."""
        value, (number, seed) = float(record[self._objective]), self._runs[status.job]
        status.note = f"epoch {record['epoch']}: {percent(value)}"
        self._heard.setdefault(status.job, {})[record["epoch"]] = record  # a lost run may begin again
        # Curves of the same seed are compared, in whatever order the runs of other seeds end.
        if self._plan.prune and seed == self._plan.seeds[0] and self._is_open(number):
            self._store.keep_epoch(number, record["epoch"], value)
            if self._store.is_hopeless(number) and not self._store.trials()[number].unchanged:
                self._end(number, "pruned")

    def finished(self, status: Status, record: dict[str, Any]) -> str:
        """Keep the result, and end the trial with its last one.

        Raises:
            NoResultError: if nobody heard of the best epoch.
        """
        number, seed = self._runs[status.job]
        epochs = _logged(status.job.folder / "log.jsonl", record) or self._heard.get(status.job, {})
        if record["best_epoch"] not in epochs:
            raise NoResultError(f"the scores of its best epoch, {record['best_epoch']}, did not arrive")
        result = result_of(record, epochs, self._objective)
        self._store.keep(number, seed, result)
        for checkpoint in status.job.folder.glob("checkpoint*.safetensors"):
            checkpoint.unlink()  # nothing resumes a finished run, and a search has many
        if self._is_open(number) and len(self._store.trials()[number].results) == len(self._plan.seeds):
            self._end(number, "complete")
        return f"{percent(result.value)}, epoch {result.epoch}"

    def failed(self, status: Status, reason: str) -> None:
        """End the trial, or note that its run with the third seed failed."""
        number, seed = self._runs[status.job]
        if seed == self._plan.third_seed:
            self._store.keep(number, seed, reason)
            self._report.warn(f"trial {number} failed with the third seed: {reason}")
        elif self._is_open(number):
            self._end(number, "failed", f"seed {seed}: {reason}")

    def _is_open(self, number: int) -> bool:
        return self._store.trials()[number].state == "running"

    def _end(
        self, number: int, state: TrialState, reason: str | None = None, *, for_good: bool = False
    ) -> None:
        trial = self._store.end(number, state, reason, for_good=for_good)
        for status in self.statuses:
            status.cancelled |= self._runs[status.job][0] == number
        if trial.mean is not None:
            seeds = ", ".join(percent(result.value) for result in trial.results.values())
            best = " (best so far)" if self._best() == trial else ""
            self._report.say(f"trial {number}: mean {percent(trial.mean)} of {seeds}{best}")
        elif reason is not None:
            self._report.warn(f"trial {number} failed: {reason}")
        else:
            self._report.say(f"trial {number}: pruned")

    def _best(self) -> Trial | None:
        complete = [trial for trial in self._store.trials() if trial.mean is not None]
        return max(complete, key=lambda trial: trial.mean or 0.0, default=None)

    def seconds_to_come(self, mean: float | None) -> float | None:
        """Return the seconds of trials that are not drawn yet, and of the best ones with the third seed."""
        trials = self._store.trials()
        to_draw = max(self._plan.trials + 1 - len(trials), 0)
        if not to_draw and all(trial.state != "running" for trial in trials):
            return 0.0
        runs = len(self._plan.seeds) * to_draw + min(FINALISTS, self._plan.trials) + 1
        return None if mean is None else runs * mean

    def summary(self) -> str:
        """Return how many trials are done, and the best one."""
        done = sum(trial.state != "running" for trial in self._store.trials())
        best = self._best()
        mean = "" if best is None else f", best {percent(best.mean or 0.0)} (trial {best.number})"
        return f"{done} of {self._plan.trials + 1} trials done{mean}"


def _logged(log: Path, record: Mapping[str, Any]) -> Epochs:
    """The epochs of a log, if it goes to the end of its run. A run that moved leaves an older one."""
    epochs = {line["epoch"]: line for line in read_json_lines(log)} if log.exists() else {}
    return epochs if max(epochs, default=0) == record["epochs"] else {}
