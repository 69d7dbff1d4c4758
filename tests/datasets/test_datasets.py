"""The list of tasks, and what each says about judging."""

from ftor.datasets import TASKS, grouping, judges


def test_tasks_without_an_accuracy_of_their_own(tmp_path):
    assert TASKS == ("pairs", "atis", "geo", "mirror", "mirror-xyz", "okapi", "style")
    for task in ("pairs", "mirror", "mirror-xyz"):
        assert judges(task, tmp_path) == ()
        assert grouping(task) is None
