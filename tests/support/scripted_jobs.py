"""Jobs whose events a script tells."""

from ftor.jobs import Finished, Progress, Started, Stopped
from support.made_up_runs import metrics

TEST = metrics(0.5, shares={"execution_accuracy": 0.75, "well_formed": 1.0})


def record(job, **changes):
    """Return the ledger line of a job."""
    config = job.config
    names = {"config": config.hash, "experiment": config.name, "seed": config.training.seed}
    return names | {"test": TEST, "seconds": 9.0, "dev_seconds": 1.0} | changes


def finishes(job):
    return [Started("here"), Progress(1, 2, 3.0), Finished(record(job))]


class Scripted:
    """An executor that reports for each start of a job what its script says."""

    def __init__(self, slots, script=finishes):
        self.slots, self._script = slots, script
        self.starts, self._events, self.stopped, self.left, self.most = [], [], [], False, 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.left = True

    def start(self, job):
        self.starts.append(job.config.training.seed)
        self._events.append([(job, event) for event in self._script(job)])
        self.most = max(self.most, len(self._events))

    def stop(self, job):
        self.stopped.append(job.config.training.seed)
        self._events.append([(job, Stopped())])

    def wait(self, seconds):
        return self._events.pop(0) if self._events else []
