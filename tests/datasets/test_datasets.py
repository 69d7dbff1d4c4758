"""The list of tasks, and what each says about judging."""

import subprocess
import sys

from ftor.datasets import TASKS, grouping, judges


def test_tasks_without_an_accuracy_of_their_own(tmp_path):
    assert TASKS == ("pairs", "mirror", "mirror-xyz", "geo", "atis", "okapi", "style")
    for task in ("pairs", "mirror", "mirror-xyz"):
        assert judges(task, tmp_path) == ()
        assert grouping(task) is None


def test_judging_does_not_wait_for_numerics():
    program = """
import sys
from ftor.datasets import geo, grouping, judges
judges("atis", None), grouping("okapi")
sys.exit(bool({"torch", "numba"} & set(sys.modules)))
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
