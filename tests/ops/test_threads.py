import multiprocessing
import threading

import numpy as np
import pytest
import torch

from ftor.ops import threads
from ftor.ops.threads import run_rows


@pytest.fixture(params=["torch's threads", "a pool"])
def team(request, monkeypatch):
    if request.param == "a pool":
        monkeypatch.setattr(threads, "_torch_team", lambda: None)
    elif threads._torch_team() is None:
        pytest.skip("this build of torch has no GNU OpenMP, so only the pool of threads is used")


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("team")
@pytest.mark.parametrize("rows", [1, 2, 7, 33])
def test_every_row_is_done_once(rows):
    times = np.zeros(rows, dtype=int)

    def count(some):
        times[some] += 1

    run_rows(count, np.linspace(0, 1, rows))
    assert times.tolist() == [1] * rows


@pytest.mark.usefixtures("team")
def test_two_threads_work_side_by_side():
    meeting = threading.Barrier(2, timeout=20)
    run_rows(lambda rows: meeting.wait() if 0 in rows or 1 in rows else None, np.ones(2))
    assert not meeting.broken


@pytest.mark.usefixtures("team")
def test_an_error_in_any_thread_is_raised():
    def fail(rows):
        raise KeyError(int(rows[0]))

    with pytest.raises(KeyError):
        run_rows(fail, np.ones(8))


def test_little_work_stays_in_the_calling_thread():
    seen = []
    run_rows(lambda rows: seen.append((threading.get_ident(), len(rows))), np.full(5, 1e-9))
    assert seen == [(threading.get_ident(), 5)]


@pytest.mark.usefixtures("team")
def test_entered_from_several_threads_at_once():
    times = np.zeros((4, 16), dtype=int)

    def count(rows, caller):
        times[caller, rows] += 1

    callers = [threading.Thread(target=run_rows, args=(count, np.ones(16), caller)) for caller in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(20)
    assert (times == 1).all()


def _in_child(sender):
    seen = []
    run_rows(lambda rows: seen.append(len(rows)), np.ones(6))
    sender.send(seen)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_works_alone():
    run_rows(lambda rows: None, np.ones(6))
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_in_child, args=(sender,))
    child.start()
    assert receiver.poll(20)
    assert receiver.recv() == [6]
    child.join()
