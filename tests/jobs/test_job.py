"""Jobs and events on their way between processes."""

import math

import pytest

from ftor.config import Config
from ftor.jobs import Epoch, Failed, Finished, Job, Lost, Progress, Started, Stopped
from ftor.jobs.job import event_from_json, event_to_json


def test_a_job_is_the_same_in_another_process(tmp_path):
    config = Config.load("geo-length-rf", ["training.seed=7", "training.epochs=3"])
    for job in (Job(config, tmp_path / "a run"), Job(config, tmp_path / "b", tmp_path, 3, 0.5)):
        assert Job.from_json(job.to_json()) == job


@pytest.mark.parametrize(
    "event",
    [
        Started("process 3"),
        Progress(3, 40, 12.5),
        Progress(0, 40, math.inf),
        Epoch({"epoch": 1, "dev_loss": 0.25}),
        Finished({"test": {"exact_match": 1.0}, "commit": None}),
        Stopped(),
        Failed("expected a → b,\nfound none"),
        Lost("gone"),
    ],
)
def test_an_event_is_the_same_in_another_process(event):
    line = event_to_json(event)
    assert "\n" not in line
    assert event_from_json(line) == event


def test_an_undefined_loss_stays_one():
    epoch = event_from_json(event_to_json(Epoch({"dev_loss": math.nan})))
    assert math.isnan(epoch.record["dev_loss"])


@pytest.mark.parametrize("line", ['{"kind": "epo', "{}", "null", '{"kind": "started"}', '{"kind": "other"}'])
def test_half_a_line_is_no_event(line):
    with pytest.raises(ValueError, match="validation error"):
        event_from_json(line)
