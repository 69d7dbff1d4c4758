import sys

import pytest

from ftor.jobs.places import place
from ftor.jobs.processes import Processes, cores
from ftor.reporting import SILENT


def test_without_a_cluster_runs_go_to_processes():
    assert isinstance(place(None, 3, SILENT), Processes)
    assert place(None, 3, SILENT).slots == 3
    assert place(None, None, SILENT).slots == cores()


def test_a_cluster_takes_all_runs_or_as_many_as_are_asked_for():
    pytest.importorskip("ray")
    assert place("auto", None, SILENT).slots == sys.maxsize
    assert place("auto", 2, SILENT).slots == 2
