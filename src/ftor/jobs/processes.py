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


class Processes:
    """An executor that runs several jobs at a time.

    If a process dies, or the process that started it, its run can be resumed from the last checkpoint.

    Args:
        slots: number of jobs at a time.
    """

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._running: dict[Job, subprocess.Popen[str]] = {}
        self._stopping: set[Job] = set()
        self._listeners: list[threading.Thread] = []
        self._events: queue.Queue[tuple[Job, Event]] = queue.Queue()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        running = list(self._running.values())
        for process in running:
            _ask_to_stop(process)
        for process in running:
            try:
                process.wait(SECONDS_TO_STOP)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                process.kill()
        for listener in self._listeners:
            listener.join()

    def start(self, job: Job) -> None:
        """Run a job now."""
        job.log.parent.mkdir(parents=True, exist_ok=True)
        threads = {name: str(job.threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        with job.log.open("a", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "ftor.jobs.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                encoding="utf-8",
                env=os.environ | threads,
                start_new_session=True,  # Ctrl-C reaches only this process, which then stops its jobs
            )
        self._running[job] = process
        assert process.stdin is not None
        process.stdin.write(job.to_json() + "\n")  # stdin stays open; see `_ask_to_stop`
        process.stdin.flush()
        self._listeners.append(threading.Thread(target=self._listen, args=[job, process], daemon=True))
        self._listeners[-1].start()

    def stop(self, job: Job) -> None:
        """Ask a job to stop at a checkpoint."""
        self._stopping.add(job)
        _ask_to_stop(self._running[job])

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
                del self._running[job]
                self._stopping.discard(job)
        return events

    def _listen(self, job: Job, process: subprocess.Popen[str]) -> None:
        """Queue the events of a process. If it ends without a last event, make one from its exit code."""
        last: Event | None = None
        with process:
            assert process.stdout is not None
            for line in process.stdout:
                try:
                    last = event_from_json(line)
                except ValueError:  # the process was killed while it wrote this line
                    break
                if isinstance(last, LAST):
                    break
                self._events.put((job, last))
        if not isinstance(last, LAST):
            code = process.returncode
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            last = Failed(f"its process ended with {how}; see {job.log}")
        if job in self._stopping and not isinstance(last, Finished):  # it may have been killed
            last = Stopped()
        self._events.put((job, last))


def _ask_to_stop(process: subprocess.Popen[str]) -> None:
    """Close stdin. Unlike a signal, a process that is just starting cannot miss that."""
    assert process.stdin is not None
    with suppress(OSError):  # the process has ended
        process.stdin.close()
