"""The queue of a model: batches, their waits, and what becomes of late, lost and failing requests."""

import random
import threading
import time

import pytest

from ftor.errors import FtorError
from ftor.serve.batching import Batcher, FullError, Job, LateError
from ftor.serve.limits import Limits

SECONDS = 20


class Echo:
    """Predicts a sentence as itself, and notes every batch. A sentence `bad` fails its batch."""

    def __init__(self):
        self.batches, self.gate = [], threading.Event()
        self.gate.set()

    def predict(self, sentences, options):
        self.gate.wait(SECONDS)
        self.batches.append((options, list(sentences)))
        if "bad" in sentences:
            raise ValueError("bad")
        return [
            FtorError(sentence) if sentence == "refused" else {"source": sentence, "options": options}
            for sentence in sentences
        ]

    def batch(self, sentences, waits, seconds):
        self.waits = waits


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def start(echo):
    batchers = []

    def make(**limits):
        batchers.append(Batcher(echo.predict, Limits(**limits), echo))
        return batchers[-1]

    yield make
    echo.gate.set()
    for batcher in batchers:
        batcher.close()


def wanted(job):
    return [{"source": sentence, "options": job.options} for sentence in job.sentences]


def test_requests_of_many_threads_get_their_own_answers(start, echo):
    batcher, jobs = start(batch=8, wait=0.001, queue=10_000), []

    def ask(seed):
        draw = random.Random(seed)
        for number in range(20):
            sentences = [f"{seed}-{number}-{place}" for place in range(draw.randrange(0, 20))]
            job = Job(sentences, draw.choice("ab"))
            jobs.append((job, batcher.submit(job)))
            if draw.random() < 0.2:
                time.sleep(0.002)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [future.result(SECONDS) for _, future in jobs] == [wanted(job) for job, _ in jobs]
    asked = sorted(sentence for job, _ in jobs for sentence in job.sentences)
    assert sorted(sentence for _, some in echo.batches for sentence in some) == asked
    assert max(len(some) for _, some in echo.batches) == 8
    assert len(batcher) == 0


def test_what_arrives_together_is_one_batch(start, echo):
    batcher = start(batch=32, wait=0.3)
    futures = [batcher.submit(Job([f"{number}"], "a")) for number in range(5)]
    for future in futures:
        future.result(SECONDS)
    assert echo.batches == [("a", ["0", "1", "2", "3", "4"])]
    assert 0.2 < max(echo.waits) < SECONDS


def test_a_full_batch_does_not_wait(start):
    batcher = start(batch=2, wait=60)
    futures = [batcher.submit(Job([f"{number}"], "a")) for number in range(4)]
    for future in futures:
        future.result(SECONDS)


def test_a_request_that_has_waited_behind_another_does_not_wait_again(start, echo):
    batcher = start(batch=4, wait=1)
    echo.gate.clear()
    first = batcher.submit(Job(["first"] * 4, "a"))
    second = Job(["second"], "a")
    batcher.submit(second)
    time.sleep(1.1)
    echo.gate.set()
    first.result(SECONDS)
    begin = time.monotonic()
    second.future.result(SECONDS)
    assert time.monotonic() - begin < 0.9


def test_long_sentences_take_several_places(start, echo):
    batcher = start(batch=4)
    long = " ".join("w" * 25)
    future = batcher.submit(
        Job([long, long, "a", "b", "c", " ".join("w" * 200)], "x", time.monotonic() + SECONDS)
    )
    assert len(future.result(SECONDS)) == 6
    assert [len(sentences) for _, sentences in echo.batches] == [1, 2, 2, 1]


def test_no_batch_mixes_options(start, echo):
    batcher = start(batch=32, wait=0.5)
    futures = [batcher.submit(Job([f"{number}"], "ab"[number % 2])) for number in range(6)]
    for future in futures:
        future.result(SECONDS)
    assert echo.batches == [("a", ["0", "2", "4"]), ("b", ["1", "3", "5"])]


def test_a_failing_or_refused_request_costs_only_itself(start):
    batcher = start(batch=32, wait=0.1)
    jobs = [Job(some, "a") for some in (["x"], ["y", "bad"], ["z", "refused"], ["w"])]
    futures = [batcher.submit(job) for job in jobs]
    with pytest.raises(ValueError, match="bad"):
        futures[1].result(SECONDS)
    with pytest.raises(FtorError, match="refused"):
        futures[2].result(SECONDS)
    for row in (0, 3):
        assert futures[row].result(SECONDS) == wanted(jobs[row])


def test_a_full_queue_refuses_and_says_when_to_come_back(start, echo):
    batcher = start(batch=1, wait=0, queue=3)
    echo.gate.clear()
    futures = [batcher.submit(Job([f"{number}"], "a")) for number in range(3)]
    with pytest.raises(FullError, match="3 requests are waiting") as error:
        batcher.submit(Job(["more"], "a"))
    assert error.value.seconds >= 1
    echo.gate.set()
    for future in futures:
        future.result(SECONDS)
    batcher.submit(Job(["more"], "a")).result(SECONDS)


def test_late_and_cancelled_requests_are_not_predicted(start, echo):
    batcher = start(batch=2, wait=0)
    echo.gate.clear()
    running = batcher.submit(Job(["running"] * 2, "a"))
    late = batcher.submit(Job(["late"], "a", time.monotonic() + 0.01))
    lost = batcher.submit(Job(["lost"], "a"))
    long = Job(["long"] * 6, "a")
    batcher.submit(long)
    assert lost.cancel()
    time.sleep(0.05)
    echo.gate.set()
    running.result(SECONDS)
    with pytest.raises(LateError):
        late.result(SECONDS)
    assert long.future.result(SECONDS) == wanted(long)
    assert {sentence for _, some in echo.batches for sentence in some} == {"running", "long"}


def test_a_long_request_that_is_cancelled_ends_between_two_batches(start, echo):
    batcher = start(batch=2, wait=0)
    echo.gate.clear()
    job = Job([f"{number}" for number in range(100)], "a")
    batcher.submit(job)
    time.sleep(0.05)
    job.future.cancel()
    echo.gate.set()
    batcher.submit(Job(["after"], "b")).result(SECONDS)
    assert sum(len(some) for _, some in echo.batches) < 10


def test_closing_answers_what_waits_and_takes_no_more(start, echo):
    batcher = start(batch=1, wait=60)
    echo.gate.clear()
    futures = [batcher.submit(Job([f"{number}"], "a")) for number in range(3)]
    threading.Timer(0.05, echo.gate.set).start()
    batcher.close()
    assert [future.result(0)[0]["source"] for future in futures] == ["0", "1", "2"]
    with pytest.raises(FtorError, match="stopping"):
        batcher.submit(Job(["more"], "a"))
