"""Many training runs at once: jobs, the loop that runs them, and places that run them."""

from ftor.jobs.job import Epoch, Event, Executor, Failed, Finished, Job, Lost, Progress, Started, Stopped
from ftor.jobs.loop import Board, JobState, NoResultError, Status, Workload, run_jobs

__all__ = [
    "Board",
    "Epoch",
    "Event",
    "Executor",
    "Failed",
    "Finished",
    "Job",
    "JobState",
    "Lost",
    "NoResultError",
    "Progress",
    "Started",
    "Status",
    "Stopped",
    "Workload",
    "run_jobs",
]
