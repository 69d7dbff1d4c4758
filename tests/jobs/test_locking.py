"""Locks between processes."""

import subprocess
import sys
import time

import pytest

from ftor.jobs.locking import LockedError, lock, lock_folder

HOLDER = """
import sys, time
from pathlib import Path
from ftor.jobs.locking import lock
with lock(Path(sys.argv[1]), "held"):
    print("locked", flush=True)
    time.sleep(float(sys.argv[2]))
"""


@pytest.fixture
def hold():
    """Start processes that hold a lock for some seconds. They are killed at the end."""
    holders = []

    def start(file, seconds=600):
        command = [sys.executable, "-c", HOLDER, str(file), str(seconds)]
        holders.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert holders[-1].stdout.readline() == "locked\n"
        return holders[-1]

    yield start
    for holder in holders:
        holder.kill()
        holder.communicate()


def test_a_lock_is_held_once_and_free_afterwards(tmp_path):
    file = tmp_path / "new" / "lock"
    with lock(file, "busy"), pytest.raises(LockedError, match="busy"), lock(file, "busy"):
        pass
    with lock(file, "busy"):
        pass


def test_an_error_inside_frees_the_lock(tmp_path):
    with pytest.raises(LookupError), lock(tmp_path / "lock", "busy"):
        raise LookupError
    with lock(tmp_path / "lock", "busy"):
        pass


@pytest.mark.slow
def test_the_lock_of_a_killed_process_vanishes(tmp_path, hold):
    holder = hold(tmp_path / "lock")
    with pytest.raises(LockedError, match="busy"), lock(tmp_path / "lock", "busy"):
        pass
    holder.kill()
    holder.wait()
    with lock(tmp_path / "lock", "busy"):
        pass


@pytest.mark.slow
def test_waiting_for_another_process(tmp_path, hold):
    hold(tmp_path / "lock", seconds=1)
    begun = time.monotonic()
    with lock(tmp_path / "lock", "busy", seconds=60):
        assert 0.5 < time.monotonic() - begun < 50


def test_one_command_at_a_time_in_a_folder(tmp_path):
    folder = tmp_path / "runs"
    with (
        lock_folder(folder, "ftor tune"),
        pytest.raises(LockedError, match=r"runs: another ftor tune is running in this folder; use another"),
        lock_folder(folder, "ftor tune"),
    ):
        pass
