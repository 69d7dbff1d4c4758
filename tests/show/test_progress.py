import io
import threading

import pytest
from rich.console import Console

from ftor.show import progress
from ftor.show.progress import STILL_STARTING, TerminalReport, clock


@pytest.fixture(params=[True, False], ids=["terminal", "file"])
def console(request):
    return Console(
        file=io.StringIO(),
        force_terminal=request.param,
        color_system=None,
        width=200,
        _environ={"TERM": "xterm"},  # a dumb terminal has no bar
    )


def test_messages_are_not_taken_for_markup(console):
    TerminalReport(console).say("[red]text")
    TerminalReport(console).warn("[/bold]")
    assert console.file.getvalue().splitlines() == ["[red]text", "warning: [/bold]"]


def test_a_bar_on_a_terminal_only(console):
    report = TerminalReport(console)
    with report.counting(5, done=2) as count:
        count.advance(3, "trained")
    with report.loading(2_000_000) as load:
        load.advance(2_000_000)
    text = console.file.getvalue()
    assert ("5/5 trained" in text) == ("2.0/2.0 MB" in text) == console.is_terminal
    assert console.is_terminal or text == ""


def test_a_slow_start_is_explained(console, monkeypatch):
    said = threading.Event()
    monkeypatch.setattr(progress, "SLOW_START", 0.01)
    monkeypatch.setattr(TerminalReport, "say", lambda self, text: text == STILL_STARTING and said.set())
    with TerminalReport(console).counting(5, done=2):
        assert said.wait(10)


def test_slow_starts_are_explained_once(console, monkeypatch):
    started = []
    monkeypatch.setattr(threading.Timer, "start", lambda timer: started.append(timer))
    report = TerminalReport(console)
    for _ in range(3):
        with report.counting(5):
            started[-1].function(*started[-1].args)
    assert console.file.getvalue().count(STILL_STARTING) == 1


def test_a_quick_start_is_not(console, monkeypatch):
    started = []
    monkeypatch.setattr(threading.Timer, "start", lambda timer: started.append(timer))
    with TerminalReport(console).counting(5) as count:
        count.advance(1)
        (timer,) = started
        timer.function(*timer.args)
    assert STILL_STARTING not in console.file.getvalue()
    assert timer.finished.is_set()


def test_quiet(capsys):
    report = TerminalReport(quiet=True)
    report.say("text")
    report.warn("text")
    with report.counting(5) as count:
        count.advance(5)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "?"), (3.2, "3 s"), (59.4, "59 s"), (90, "2 min"), (3600 * 2 + 300, "2 h 05 min")],
)
def test_clock(seconds, text):
    assert clock(seconds) == text
