import io

import pytest

from ftor import reporting
from ftor.reporting import SILENT, LineReport, Report, counted, percent


@pytest.fixture
def seconds(monkeypatch):
    """Give a clock that stands still: a list whose only item is the time."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_rates(seconds):
    with SILENT.counting(50, done=10) as count:
        seconds[0] += 60  # the first step compiles kernels
        count.advance(4)
        assert (count.done, count.per_second, count.seconds_left) == (14, None, None)
        seconds[0] += 2
        count.advance(4)
        assert (count.done, count.per_second, count.seconds_left) == (18, 2, 16)


def test_a_count_without_a_total_knows_no_time_left(seconds):
    with SILENT.loading(None) as count:
        seconds[0] += 1
        count.advance(5)
        seconds[0] += 1
        count.advance(5)
        assert (count.done, count.per_second, count.seconds_left) == (10, 5, None)


def test_numbers_in_words():
    assert [percent(0.125), percent(1, 0), counted(1, "pair"), counted(0, "pair")] == [
        "12.5 %",
        "100 %",
        "1 pair",
        "0 pairs",
    ]


def test_the_default_shows_nothing(capsys):
    SILENT.say("text")
    SILENT.warn("text")
    SILENT.epoch({"epoch": 1})
    with SILENT.counting(2) as count:
        count.advance(1)
    assert capsys.readouterr() == ("", "")


def test_a_report_receives_every_step_of_items(seconds):
    received = []

    class Steps(Report):
        def progress(self, count, text):
            received.append((count.done, count.total, text))

    report = Steps()
    with report.counting(3) as count, report.loading(10) as load:
        count.advance(2, "loss 0.5")
        load.advance(10)
        seconds[0] += 1
        count.advance(1)
    assert received == [(2, 3, "loss 0.5"), (3, 3, "1/s")]


def test_lines(seconds):
    stream = io.StringIO()
    report = LineReport(stream)
    report.say("a message")
    report.warn("a warning")
    pause = reporting.SECONDS_BETWEEN_LINES + 1
    with report.counting(100) as count, report.loading(4_000_000) as load, report.loading(None) as unknown:
        for each in (count, load, unknown):
            each.advance(22)  # too early for a line
        seconds[0] += pause
        count.advance(22, "loss 0.5")
        count.advance(11, "loss 0.4")  # too early again
        load.advance(1_999_978)
        unknown.advance(1_999_978)
        seconds[0] += pause
        count.advance(11, "loss 0.3")
    assert stream.getvalue().splitlines() == [
        "a message",
        "warning: a warning",
        "44/100 loss 0.5 2/s, 28 s left",
        "2.0 of 4.0 MB",
        "2.0 MB",
        "66/100 loss 0.3 2/s, 17 s left",
    ]
