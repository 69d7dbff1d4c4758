"""Carrying a search out: trials are drawn, their runs started, watched, pruned and compared."""

import json
from collections import Counter, deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from ftor.config import ConfigError
from ftor.jobs import Epoch, Event, Executor, Failed, Finished, Job, Lost, Progress
from ftor.jobs.job import LAST
from ftor.training.stopping import stop_requests
from ftor.tuning.plan import Plan
from ftor.tuning.store import Store, run_name
from ftor.tuning.trials import Result, State, Trial, logged_as, result_of, to_check

SECONDS_BETWEEN_LOOKS = 0.5
RESTARTS = 3
"""Of a run that breaks off through no fault of its own; then something must be wrong all the same."""


class Watch(Protocol):
    """Shows how a search goes; see `ftor.show.tuning.watch`."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...
    def began(self, trial: Trial) -> None: ...  # noqa: D102
    def started(self, name: str) -> None: ...  # noqa: D102
    def progress(self, name: str, progress: Progress) -> None: ...  # noqa: D102
    def epoch(self, name: str, value: float) -> None: ...  # noqa: D102
    def left(self, name: str) -> None: ...  # noqa: D102
    def starts_again(self, name: str, reason: str, which: str) -> None: ...  # noqa: D102
    def finished(self, name: str, result: Result, trial: Trial) -> None: ...  # noqa: D102
    def ended(self, trial: Trial) -> None: ...  # noqa: D102
    def check_failed(self, trial: Trial) -> None: ...  # noqa: D102
    def stopping(self) -> None: ...  # noqa: D102
    def refresh(self) -> None: ...  # noqa: D102


@dataclass(frozen=True)
class Run:
    """One seed of a trial."""

    trial: Trial
    seed: int

    @property
    def name(self) -> str:
        """What its folder is called."""
        return run_name(self.trial.number, self.seed)


class Search:
    """A search on its way.

    Args:
        store: where it is kept; runs live beside it.
        executor: where runs are carried out.
        watch: what is told to whoever waits.
        threads: CPU threads of each run.
        data_folder: where pairs are, if the user says so.
    """

    def __init__(
        self, store: Store, executor: Executor, watch: Watch, threads: int, data_folder: Path | None
    ) -> None:
        self.store, self.executor, self.watch = store, executor, watch
        self.threads, self.data_folder = threads, data_folder and data_folder.absolute()
        self._objective = logged_as(store.plan.config, data_folder)
        self._waiting: deque[Run] = deque()
        self._running: dict[Job, Run] = {}
        self._stopping: set[Job] = set()
        self._restarts: Counter[str] = Counter()

    @property
    def _plan(self) -> Plan:
        return self.store.plan

    def run(self) -> bool:
        """Go on to the end; False if somebody stopped it."""
        self._take_up()
        with stop_requests() as asked, self.watch, self.executor:
            while not asked[0]:
                self._start_runs()
                if not self._running:
                    return True
                self._listen()
            self.watch.stopping()
            self._stop(list(self._running))
            while self._running:
                self._listen()
        return False

    def _take_up(self) -> None:
        """Go on with the trials that were under way."""
        self.store.complete_draws()
        for trial in self.store.trials():
            if trial.state == "running":
                self._go_on(trial)

    def _go_on(self, trial: Trial) -> None:
        """Close a trial that has all its results, or queue the runs that it lacks."""
        plan = self._plan
        if len(trial.results) == len(plan.seeds):
            self.watch.ended(self.store.end(trial.number, "complete"))
            return
        self.watch.began(trial)
        try:
            for seed in plan.seeds:
                plan.config_for(trial.values, seed)
        except ConfigError as error:  # values that do not go together
            self.watch.ended(self.store.end(trial.number, "failed", str(error)))
            return
        self._waiting += [Run(trial, seed) for seed in plan.seeds if seed not in trial.results]

    def _start_runs(self) -> None:
        while len(self._running) < self.executor.slots:
            run = self._next()
            if run is None:
                return
            config = self._plan.config_for(run.trial.values, run.seed)
            folder = self.store.folder / "runs" / run.name
            job = Job(config, folder, self.data_folder, self.threads)
            self._running[job] = run
            self.executor.start(job)
            self.watch.started(run.name)

    def _next(self) -> Run | None:
        """The run to start next: one that waits, one of a new trial, or a check of one of the best."""
        while not self._waiting:
            trials = self.store.trials()
            if len(trials) <= self._plan.trials:  # one of them is the unchanged configuration
                self._go_on(self.store.draw())
                continue
            if any(trial.state == "running" for trial in trials):
                return None
            under_way = {run.trial.number for run in self._running.values()}
            unchecked = [trial for trial in to_check(trials) if trial.third is None]
            self._waiting += [
                Run(trial, self._plan.third_seed) for trial in unchecked if trial.number not in under_way
            ]
            if not self._waiting:
                return None
        return self._waiting.popleft()

    def _listen(self) -> None:
        hopeless, events = [], self.executor.wait(SECONDS_BETWEEN_LOOKS)
        for job, event in events:
            run = self._running[job]
            if isinstance(event, Epoch):
                value = float(event.record[self._objective])
                self.watch.epoch(run.name, value)
                if self._is_hopeless(run, event.record["epoch"], value):
                    hopeless.append(run.trial)
            elif isinstance(event, Progress):
                self.watch.progress(run.name, event)
        # Those that have ended can no longer be stopped, whatever is heard of the others.
        ended = [(job, self._running.pop(job), event) for job, event in events if isinstance(event, LAST)]
        for job, run, event in ended:
            self.watch.left(run.name)
            self._ended(job, run, event)
            self._stopping.discard(job)
        for trial in hopeless:
            if self._is_open(trial):
                self._close(trial, "pruned")
        self.watch.refresh()

    def _is_hopeless(self, run: Run, epoch: int, value: float) -> bool:
        """By its first seed alone: the curves of one seed can be compared however many run at a time."""
        is_compared = self._plan.prune and run.seed == self._plan.seeds[0] and self._is_open(run.trial)
        if is_compared:
            self.store.keep_epoch(run.trial.number, epoch, value)
        return is_compared and not run.trial.unchanged and self.store.is_hopeless(run.trial.number)

    def _is_open(self, trial: Trial) -> bool:
        return self.store.trials()[trial.number].state == "running"

    def _ended(self, job: Job, run: Run, event: Event) -> None:
        number = run.trial.number
        if isinstance(event, Finished):
            result = result_of(event, _log(job.folder), self._objective)
            self.store.keep(number, run.seed, result)
            for checkpoint in job.folder.glob("checkpoint*.safetensors"):
                checkpoint.unlink()  # a search has many runs, and none of them goes on from its end
            trial = self.store.trials()[number]
            self.watch.finished(run.name, result, trial)
            if trial.state == "running" and len(trial.results) == len(self._plan.seeds):
                self.watch.ended(self.store.end(number, "complete"))
        elif job in self._stopping:
            return
        elif self._is_check(run) or self._is_open(run.trial):
            if isinstance(event, Failed):
                self._fail(run, event.reason)
            else:
                self._start_again(run, event.reason if isinstance(event, Lost) else "somebody stopped it")

    def _is_check(self, run: Run) -> bool:
        return run.seed == self._plan.third_seed

    def _start_again(self, run: Run, reason: str) -> None:
        """Queue a run that broke off, unless it does so again and again."""
        if self._restarts[run.name] == RESTARTS:
            self._fail(run, f"it broke off {RESTARTS + 1} times, at last: {reason}")
            return
        self._restarts[run.name] += 1
        self.watch.starts_again(run.name, reason, f"{self._restarts[run.name]} of {RESTARTS}")
        self._waiting.appendleft(run)

    def _fail(self, run: Run, reason: str) -> None:
        if self._is_check(run):
            self.store.keep(run.trial.number, run.seed, reason)
            self.watch.check_failed(self.store.trials()[run.trial.number])
        else:
            self._close(run.trial, "failed", f"seed {run.seed}: {reason}")

    def _close(self, trial: Trial, state: State, reason: str | None = None) -> None:
        """End a trial before its time, and its runs with it."""
        self.watch.ended(self.store.end(trial.number, state, reason))
        self._waiting = deque(run for run in self._waiting if run.trial.number != trial.number)
        self._stop([job for job, run in self._running.items() if run.trial.number == trial.number])

    def _stop(self, jobs: list[Job]) -> None:
        for job in jobs:
            if job not in self._stopping:
                self._stopping.add(job)
                self.executor.stop(job)


def _log(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text("utf-8").splitlines()]
