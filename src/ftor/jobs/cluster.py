"""Jobs on a Ray cluster. Each is a task that asks for its threads and GPUs."""

import logging
import socket
import sys
import time
from typing import Any, Self

from ftor._version import __version__
from ftor.datasets.folders import data_folders
from ftor.errors import FtorError
from ftor.jobs.job import (
    Event,
    Failed,
    Finished,
    Job,
    Lost,
    Started,
    Stopped,
    event_from_json,
    event_to_json,
)
from ftor.reporting import Report

try:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError:
    raise FtorError("Ray is not installed: pip install 'ftor[cluster]'") from None


class _Mailbox:
    """Keeps the events of tasks for the driver. It runs on the driver's node, which is lost last."""

    def __init__(self) -> None:
        self._events: list[tuple[str, str]] = []

    def put(self, folder: str, event: str) -> None:
        self._events.append((folder, event))

    def take(self) -> list[tuple[str, str]]:
        taken, self._events = self._events, []
        return taken


def _task(line: str, mailbox: Any, version: str) -> str:
    """Run a job on a node, and return its last event."""
    from ftor.jobs.running import run_job  # here, since the driver does not need torch

    job = Job.from_json(line)

    def send(event: Event) -> None:
        mailbox.put.remote(str(job.folder), event_to_json(event))

    node = f"node {ray.util.get_node_ip_address()}"
    if __version__ != version:
        return event_to_json(Failed(f"{node} has ftor {__version__}, not {version} as the driver"))
    send(Started(node))
    return event_to_json(run_job(job, send))


def connect(address: str) -> None:
    """Connect to a cluster, or raise if there is none. Tasks look for data where this process does."""
    here = next((folder for folder in data_folders(None) if folder.is_dir()), None)
    variables = {} if here is None else {"FTOR_DATA": str(here.absolute())}
    try:
        host, colon, port = address.rpartition(":")
        if colon and "/" not in address:  # Ray would try for minutes if nothing answers
            socket.create_connection((host, int(port)), timeout=10).close()
        ray.init(
            address, runtime_env={"env_vars": variables}, log_to_driver=False, logging_level=logging.ERROR
        )
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise FtorError(
            f"--ray {address}: no Ray cluster at this address ({error}); start one with `ray start --head`"
        ) from None


def warn_if_no_room(cpus: int, gpus: float, report: Report) -> None:
    """Warn if no node of the cluster has that much."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(node.get("CPU", 0) >= cpus and node.get("GPU", 0) >= gpus for node in nodes):
        needs = f"{cpus} CPUs" + (f" and {gpus:g} GPUs" if gpus else "")
        report.warn(f"no node has {needs}; runs wait for one that has")


class Cluster:
    """An executor that gives all jobs to a Ray cluster, which runs them as there is room.

    If the nodes share the storage of the run folders, a run whose node is lost is resumed from its last
    checkpoint on another node. Otherwise it starts again.

    Args:
        address: of the cluster, or "auto" for the cluster on this machine.
        report: receives a warning if no node is large enough for a job.
        slots: how many jobs it is given at a time. None: all.
    """

    def __init__(self, address: str, report: Report, slots: int | None = None) -> None:
        self._address, self._report, self.slots = address, report, slots or sys.maxsize
        self._running: dict[Any, Job] = {}
        self._stopping: set[Job] = set()

    def __enter__(self) -> Self:
        connect(self._address)
        driver = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._mailbox: Any = ray.remote(num_cpus=0)(_Mailbox).options(scheduling_strategy=driver).remote()
        # The loop restarts lost tasks. Each task gets a new process, for its memory to be measured.
        self._task: Any = ray.remote(max_retries=0, max_calls=1)(_task)
        return self

    def __exit__(self, *error: object) -> None:
        for job in self._running.values():
            self.stop(job)
        if self._running:
            ray.wait(list(self._running), num_returns=len(self._running), timeout=60)
        ray.shutdown()

    def start(self, job: Job) -> None:
        """Give a job to the cluster."""
        gpus = job.gpus if ray.cluster_resources().get("GPU") else 0
        warn_if_no_room(job.threads, gpus, self._report)
        task = self._task.options(name=job.name, num_cpus=job.threads, num_gpus=gpus)
        self._running[task.remote(job.to_json(), self._mailbox, __version__)] = job

    def stop(self, job: Job) -> None:
        """Ask a job to stop at a checkpoint."""
        self._stopping.add(job)
        for task in [task for task, its in self._running.items() if its == job]:
            ray.cancel(task, force=False)

    def wait(self, seconds: float) -> list[tuple[Job, Event]]:
        """Return new events. Waits for the end of a job for at most `seconds`."""
        ended: list[Any] = []
        if self._running:
            ended, _ = ray.wait(list(self._running), num_returns=1, timeout=seconds)
            ended, _ = ray.wait(list(self._running), num_returns=len(self._running), timeout=0)
        else:
            time.sleep(seconds)
        by_folder = {str(job.folder): job for job in self._running.values()}
        events = [
            (by_folder[folder], event_from_json(event))
            for folder, event in ray.get(self._mailbox.take.remote())
            if folder in by_folder
        ]
        for task in ended:
            job = self._running.pop(task)
            events.append((job, self._last_event(task, job)))
        return events

    def _last_event(self, task: Any, job: Job) -> Event:
        try:
            last = event_from_json(ray.get(task))
        except ray.exceptions.TaskCancelledError:
            last = Stopped()
        except (ray.exceptions.RayTaskError, ray.exceptions.RuntimeEnvSetupError) as error:
            last = Failed(f"{type(error).__name__}: {error}")
        except ray.exceptions.RayError as error:  # the machine's fault, not the job's
            last = Lost(f"{type(error).__name__} on its node")
        if isinstance(last, Finished):
            return last
        if job in self._stopping:
            return Stopped()
        return Lost("its node stopped it") if isinstance(last, Stopped) else last
