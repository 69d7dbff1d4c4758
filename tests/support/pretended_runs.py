"""Runs that nobody trains, for tests of what carries out many of them."""

import json

from ftor.jobs import Epoch, Finished, Stopped, run_jobs
from ftor.show.board import Board
from ftor.show.progress import TerminalReport
from ftor.tuning.plan import make_plan
from ftor.tuning.search import Search
from ftor.tuning.store import Store

EPOCHS = 3
BASE = 3.2  # the unchanged length weight
SPACE = '"training.length_weight" = { low = 0.1, high = 10.0 }'


class Pretended:
    """Runs that come to what `outcome(weight, seed)` says: the value, or the event that ends them.

    Without storage, their folders are on another machine. `heard_from` is the first epoch that is sent.
    """

    def __init__(self, outcome, slots=2, has_storage=True, heard_from=1, best=EPOCHS):
        self.has_storage, self.heard_from, self.best = has_storage, heard_from, best
        self.outcome, self.slots, self.running, self.started, self.stopped = outcome, slots, {}, [], []

    def __enter__(self):
        return self

    def __exit__(self, *error):
        assert not self.running or error[0]

    def start(self, job):
        assert len(self.running) < self.slots
        assert job.config.data.test is None
        self.started.append(job.name)
        self.running[job] = self.heard_from - 1

    def stop(self, job):
        assert job in self.running
        self.stopped.append(job.name)
        self.running[job] = None

    def wait(self, seconds):
        events = []
        for job, done in list(self.running.items()):
            outcome = self.outcome(job.config.training.length_weight, job.config.training.seed)
            if done is None:
                events.append((job, Stopped()))
            elif not isinstance(outcome, float):
                events.append((job, outcome))
            elif done < EPOCHS:
                self.running[job] += 1
                value = outcome * (done + 1) / EPOCHS
                record = {"epoch": done + 1, "dev_loss": job.config.training.length_weight}
                record |= {"dev_exact_match": value, "dev_length_error": 0.0}
                if self.has_storage:
                    job.folder.mkdir(parents=True, exist_ok=True)
                    with (job.folder / "log.jsonl").open("a") as file:
                        file.write(json.dumps(record) + "\n")
                events.append((job, Epoch(record)))
                continue
            else:
                record = {"best_epoch": self.best, "epochs": EPOCHS, "seconds": 1.0, "dev_seconds": 0.5}
                events.append((job, Finished(record)))
            del self.running[job]
        return events


def plan_in(folder, space=SPACE, **options):
    """Plan a search over `space` for a transducer."""
    (folder / "space.toml").write_text(space)
    return make_plan("transducer", folder / "space.toml", **{"epochs": EPOCHS, "trials": 4} | options)


def search(store, executor, report=None):
    """Run a search. Returns False if it was stopped."""
    report = report or TerminalReport(quiet=True)
    workload = Search(store, report, 1, None)
    return run_jobs(workload, executor, Board(report, workload))


def tuned(folder, outcome, slots=2, report=None, **options):
    """Run a search to its end. Returns the plan, the trials and the executor."""
    plan = plan_in(folder, **options)
    store, executor = Store(plan, folder), Pretended(outcome, slots)
    assert search(store, executor, report)
    return plan, store.trials(), executor
