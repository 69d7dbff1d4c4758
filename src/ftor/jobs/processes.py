"""Jobs in processes of their own on this machine."""

import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Self

from ftor.jobs.job import LAST, Event, Failed, Finished, Job, Stopped, event_from_json

SECONDS_TO_STOP = 60.0
"""After which a process that was asked to stop, at the end of everything, is killed."""


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Processes:
    """Some jobs side by side, each with its own threads.

    A process that dies, or whose driver does, leaves a run that can go on from its last checkpoint.

    Args:
        slots: how many at a time.
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
        """Carry out a job, now."""
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
                start_new_session=True,  # Ctrl-C is for the driver, which then stops its jobs
            )
        self._running[job] = process
        assert process.stdin is not None
        process.stdin.write(job.to_json() + "\n")  # and it stays open for as long as we live
        process.stdin.flush()
        self._listeners.append(threading.Thread(target=self._listen, args=[job, process], daemon=True))
        self._listeners[-1].start()

    def stop(self, job: Job) -> None:
        """Have a job stop where it can go on from."""
        self._stopping.add(job)
        _ask_to_stop(self._running[job])

    def wait(self, seconds: float) -> list[tuple[Job, Event]]:
        """What has happened, after waiting for that long at most."""
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
        """Pass a process's events on; if it ends without its last one, say how."""
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
        if job in self._stopping and not isinstance(last, Finished):  # however little it had begun
            last = Stopped()
        self._events.put((job, last))


def _ask_to_stop(process: subprocess.Popen[str]) -> None:
    """By the end of its stdin, which cannot be missed, unlike a signal to a process that is just starting."""
    assert process.stdin is not None
    with suppress(OSError):  # it has ended already
        process.stdin.close()
