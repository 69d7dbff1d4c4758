"""What is shown while runs go on."""

import io

from rich.console import Console

from ftor.config import Config
from ftor.jobs import Job, Status, Workload
from ftor.show.board import Board
from ftor.show.progress import TerminalReport


def statuses(tmp_path, seeds, experiment="geo-iid"):
    names = [f"{experiment}-{seed}" for seed in range(seeds)]
    return [Status(Job(Config.load(experiment), tmp_path / name), name) for name in names]


def shown(act, found, terminal=True, height=40, to_come=0.0):
    out = io.StringIO()
    console = Console(
        file=out, width=100, height=height, force_terminal=terminal, soft_wrap=True, highlight=False
    )

    class Jobs(Workload):
        def seconds_to_come(self, mean):
            return to_come

    with Board(TerminalReport(console), Jobs(found)) as board:
        act(board)
    return out.getvalue()


def test_all_states_are_in_the_table(tmp_path):
    found = statuses(tmp_path, 5)
    found[0].state, found[0].note = "done", "execution accuracy 88.0 %"
    found[1].state, found[1].share, found[1].left, found[1].note = "running", 0.25, 900.0, "process 7"
    found[2].state, found[2].note = "failed", "[no such file]"
    found[3].state, found[3].share = "stopped", 0.5
    text = shown(lambda board: board.refresh(), found)
    assert "1 done, 1 running, 1 waiting, 1 failed, 1 stopped; about 35 min left" in text
    plain = text.split("\n")
    assert any("geo-iid-1" in row and "running" in row and "25 %" in row and "15 min" in row for row in plain)
    assert any("geo-iid-2" in row and "[no such file]" in row for row in plain)
    assert any("geo-iid-0" in row and "execution accuracy 88.0 %" in row for row in plain)


def test_of_many_runs_those_that_wait_are_counted(tmp_path):
    found = statuses(tmp_path, 50)
    found[7].state = "running"
    text = shown(lambda board: board.refresh(), found)
    assert "geo-iid-7" in text
    assert "geo-iid-8" not in text
    assert "49 more" in text


def test_the_table_is_no_longer_than_the_terminal(tmp_path):
    found = statuses(tmp_path, 25)
    found[3].state = "running"
    text = shown(lambda board: board.refresh(), found, height=24)
    assert "geo-iid-3" in text
    assert "geo-iid-4" not in text
    assert "geo-iid-4" in shown(lambda board: board.refresh(), found, height=60)
    for status in found:
        status.state = "done"
    assert "more" not in shown(lambda board: board.refresh(), found, height=24)


def test_without_a_terminal_there_is_a_line_for_whatever_happens(tmp_path):
    found = statuses(tmp_path, 2)

    def goes_on(board):
        found[0].state, found[0].note = "done", "exact match 50.0 %"
        board.changed(found[0])
        board.refresh()  # too soon for another line

    text = shown(goes_on, found, terminal=False)
    assert text == "geo-iid-0 done: exact match 50.0 % (1 done, 1 waiting; time left is not known yet)\n"


def test_the_time_left_is_shared_among_those_that_run(tmp_path):
    found = statuses(tmp_path, 5)
    for status in found:
        status.expected = 600.0
    found[0].state = found[1].state = "running"
    found[0].share = found[1].share = 0.5
    text = shown(lambda board: board.changed(found[0]), found, terminal=False)
    assert "about 20 min left" in text  # two halves and three wholes, by two


def test_runs_that_wait_take_what_others_took_from_beginning_to_end(tmp_path):
    found = statuses(tmp_path, 4)
    found[0].state, found[0].expected = "done", 400.0
    found[1].state, found[1].share, found[1].left = "running", 0.75, 200.0
    text = shown(lambda board: board.changed(found[1]), found, terminal=False)
    assert "about 23 min left" in text  # 200 s, and two of 600 s, the mean of 400 and 800


def test_runs_of_the_same_experiment_say_more_than_others(tmp_path):
    found = statuses(tmp_path, 2) + statuses(tmp_path, 2, "geo-iid-ar")
    for status, seconds in ((found[0], 60.0), (found[2], 3600.0)):
        status.state, status.expected = "done", seconds
    found[1].state = "done"
    text = shown(lambda board: board.changed(found[1]), found, terminal=False)
    assert "about 1 h 00 min left" in text


def test_jobs_that_will_be_added_run_as_many_at_a_time_as_there_ever_were(tmp_path):
    found = statuses(tmp_path, 2)
    for status in found:
        status.state, status.share, status.left = "running", 0.5, 300.0

    def goes_on(board):
        board.changed(found[1])
        for status in found:
            status.state, status.left = "done", None
            board.changed(status)

    text = shown(goes_on, found, terminal=False, to_come=1200.0).splitlines()
    assert [line.partition("; ")[2] for line in text] == [f"about {left} min left)" for left in (15, 15, 10)]
    text = shown(lambda board: board.changed(found[1]), found, terminal=False, to_come=None)
    assert "time left is not known yet" in text
    assert "nothing left" in shown(lambda board: board.changed(found[1]), found, terminal=False)
