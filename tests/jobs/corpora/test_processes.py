"""Several processes: the same bytes as one, also if processes are killed."""

import signal
import subprocess
import threading
import time
from functools import partial

import psutil
import pytest

from ftor.errors import FtorError
from ftor.jobs.corpora import Request, chunks, predict_corpus
from ftor.jobs.corpora.processes import _Workers, predict_in_processes
from ftor.reporting import SILENT
from support.corpora import predict_file, write_corpus
from support.tiny import end, start

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _short_chunks(monkeypatch):
    monkeypatch.setattr(chunks, "LINES", 8)


def predicted(folder, some, out, **options):
    request = Request((str(folder),), **options)
    predict_corpus(some, partial(predict_in_processes, request, 2), out, SILENT)
    return out.read_bytes()


def chunks_of(corpus):
    return chunks.read_chunks([corpus], "text", SILENT)


def workers():
    """The processes that predict for this one."""
    return [child for child in psutil.Process().children() if "ftor.jobs.corpora.worker" in child.cmdline()]


def test_a_killed_process_is_replaced_and_the_output_is_that_of_one_process(trained, tmp_path):
    corpus, request = write_corpus(tmp_path / "in.txt", 100), Request((str(trained),), tree=True)
    corpus.write_bytes(corpus.read_bytes() + b"\n" * 20)  # the last chunks are blank
    predict_file(request, corpus, tmp_path / "one.jsonl")
    killed = []

    def killing():
        for number, chunk in enumerate(chunks_of(corpus)):
            if number == 8:  # after the first results
                killed.append(workers()[0])
                killed[0].kill()
            yield chunk

    found = predicted(trained, killing(), tmp_path / "two.jsonl", tree=True)
    assert found == (tmp_path / "one.jsonl").read_bytes()
    assert found.count(b"\n") == 120
    assert killed
    assert workers() == []


def test_processes_that_are_always_killed_are_an_error(trained, tmp_path):
    corpus, done = write_corpus(tmp_path / "in.txt", 20), threading.Event()

    def kill_all():
        while not done.wait(0.05):
            for child in workers():
                child.kill()

    killer = threading.Thread(target=kill_all)
    killer.start()
    message = r"in.txt:1: the process that predicts this line and the next ones ended with signal 9, 4 times"
    try:
        with pytest.raises(FtorError, match=message):
            predicted(
                Request((str(trained),)), chunks.read_chunks([corpus], "text", SILENT), tmp_path / "out.jsonl"
            )
    finally:
        done.set()
        killer.join()


def test_an_error_of_a_process_is_that_of_the_run(tmp_path):
    corpus = write_corpus(tmp_path / "in.txt", 20)
    with pytest.raises(FtorError, match=r"none: not a model folder"):
        predicted(tmp_path / "none", chunks_of(corpus), tmp_path / "out.jsonl")
    assert workers() == []


def test_a_process_that_starts_while_the_run_stops_is_ended(tmp_path, monkeypatch):
    workers, popen, starting = _Workers(Request((str(tmp_path),))), subprocess.Popen, threading.Event()
    started = []

    def start_slowly(*arguments, **options):
        starting.set()
        time.sleep(0.5)  # meanwhile the run stops
        started.append(popen(*arguments, **options))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", start_slowly)
    taking = threading.Thread(target=workers._take)
    taking.start()
    assert starting.wait(10)
    workers.stop()
    taking.join()
    with started[0] as worker:
        code = worker.returncode
        worker.kill()  # nothing happens if it has ended
    assert code == -signal.SIGKILL


def test_a_killed_command_takes_its_processes_along_and_is_continued(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "LINES", 256)  # as in the command
    corpus, out = write_corpus(tmp_path / "in.txt", 5000), tmp_path / "out.jsonl"
    options = ("predict", trained, "--input", corpus, "--output", out)
    process = start(*options, "--jobs", 2)
    deadline = time.monotonic() + 120
    while not out.exists() or not out.stat().st_size:
        assert process.poll() is None, end(process).err
        assert time.monotonic() < deadline
        time.sleep(0.02)
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    process.kill()
    end(process)
    psutil.wait_procs(children, timeout=20)
    assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children)
    cut = out.read_bytes()
    predict_file(Request((str(trained),)), corpus, out, resuming=True)
    predict_file(Request((str(trained),)), corpus, tmp_path / "whole.jsonl")
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert out.read_bytes().startswith(cut)
    assert len(cut) < out.stat().st_size
