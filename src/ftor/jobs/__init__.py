"""Many runs at once: what each is, what it says while it goes on, and where it can be carried out."""

from ftor.jobs.job import Epoch, Event, Executor, Failed, Finished, Job, Lost, Progress, Started, Stopped

__all__ = [
    "Epoch",
    "Event",
    "Executor",
    "Failed",
    "Finished",
    "Job",
    "Lost",
    "Progress",
    "Started",
    "Stopped",
]
