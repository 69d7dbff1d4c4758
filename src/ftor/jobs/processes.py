"""Jobs on this machine, each in a process of its own."""

import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Self

from ftor.jobs.job import LAST, Event, Failed, Finished, Job, Stopped, event_from_json

SECONDS_TO_STOP = 60.0
"""After this time, a process that was asked to stop when the executor closed is killed."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Worker:
    """A process that runs one job after the other."""

    def __init__(self, threads: int) -> None:
        variables = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ftor.jobs.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            env=os.environ | variables,
            start_new_session=True,  # Ctrl-C reaches only this process, which then stops its jobs
        )

    def give(self, job: Job) -> None:
        """Let it run a job. It is idle, or has just been started."""
        assert self.process.stdin is not None
        with suppress(OSError):  # the process has ended; its listener tells
            self.process.stdin.write(job.to_json() + "\n")
            self.process.stdin.flush()

    def ask_to_stop(self) -> None:
        """Close stdin. Unlike a signal, a process that is just starting cannot miss that."""
        assert self.process.stdin is not None
        with suppress(OSError):  # the process has ended
            self.process.stdin.close()


class Processes:
    """An executor that runs several jobs at a time.

    A process runs one job after the other, because its start takes seconds. If it dies, or the process that
    started it, its run can be resumed from the last checkpoint.

    Args:
        slots: number of jobs at a time.
    """

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._workers: list[_Worker] = []
        self._running: dict[Job, _Worker] = {}
        self._idle: dict[tuple[object, ...], list[_Worker]] = {}
        self._stopping: set[Job] = set()
        self._listeners: list[threading.Thread] = []
        self._events: queue.Queue[tuple[Job, Event]] = queue.Queue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.ask_to_stop()
        for worker in self._workers:
            try:
                worker.process.wait(SECONDS_TO_STOP)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                worker.process.kill()
        for listener in self._listeners:
            listener.join()
        for worker in self._workers:
            with worker.process:  # closes its pipes
                pass

    def start(self, job: Job) -> None:
        """Run a job now."""
        job.log.parent.mkdir(parents=True, exist_ok=True)
        idle = self._idle.get(_needs(job), [])
        if not idle:
            idle.append(_Worker(job.threads))
            self._workers += idle
        worker = idle.pop()
        self._running[job] = worker
        worker.give(job)
        self._listeners.append(threading.Thread(target=self._listen, args=[job, worker], daemon=True))
        self._listeners[-1].start()

    def stop(self, job: Job) -> None:
        """Ask a job to stop at a checkpoint."""
        self._stopping.add(job)
        self._running[job].ask_to_stop()

    def wait(self, seconds: float) -> list[tuple[Job, Event]]:
        """Return new events. Waits for the first one for at most `seconds`."""
        try:
            events = [self._events.get(timeout=seconds)]
        except queue.Empty:
            return []
        while not self._events.empty():
            events.append(self._events.get())
        for job, event in events:
            if isinstance(event, LAST):
                worker = self._running.pop(job)
                if isinstance(event, Finished) and job not in self._stopping:
                    self._idle.setdefault(_needs(job), []).append(worker)
                else:
                    worker.ask_to_stop()
                self._stopping.discard(job)
        return events

    def _listen(self, job: Job, worker: _Worker) -> None:
        """Queue the events of a job. If its process ends without a last one, make it from the exit code."""
        last: Event | None = None
        assert worker.process.stdout is not None
        for line in worker.process.stdout:
            try:
                last = event_from_json(line)
            except ValueError:  # the process was killed while it wrote this line
                break
            if isinstance(last, LAST):
                break
            self._events.put((job, last))
        if not isinstance(last, LAST):
            code = worker.process.wait()
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            last = Failed(f"its process ended with {how}; see {job.log}")
        if job in self._stopping and not isinstance(last, Finished):  # it may have been killed
            last = Stopped()
        self._events.put((job, last))


def _needs(job: Job) -> tuple[object, ...]:
    """What a process keeps from its first job: jobs that differ in it cannot share the process."""
    return job.threads, job.config.training.precision
