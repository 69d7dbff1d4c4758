"""Where the runs of a command go: processes on this machine, or a Ray cluster."""

from ftor.jobs.job import Executor
from ftor.reporting import Report


def place(ray: str | None, jobs: int | None, report: Report) -> Executor:
    """Return what runs the jobs.

    Args:
        ray: the address of a Ray cluster. None: processes on this machine.
        jobs: how many runs go at a time. None: one per core, and on a cluster as many as it has room for.
        report: receives a warning if no node of a cluster is large enough for a job.
    """
    if ray is None:
        from ftor.jobs.processes import Processes, cores  # here for start-up time

        return Processes(jobs or cores())
    from ftor.jobs.cluster import Cluster  # here, as Ray is an extra

    return Cluster(ray, report, jobs)
