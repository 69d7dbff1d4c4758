"""Running a job in this process: what its folder holds decides how it starts."""

from dataclasses import replace

import pytest

from ftor.config import Config
from ftor.jobs import Epoch, Failed, Finished, Progress, running
from ftor.jobs.running import JobError, run_job, train_job
from support.small_jobs import small_job

pytestmark = pytest.mark.slow


def ignore(event):
    """Hear nothing."""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A job that has been carried out, and what came of it; only its data was there before."""
    job = small_job(tmp_path_factory.mktemp("done"))
    (job.folder / "data").mkdir(parents=True)
    return job, train_job(job, ignore)


def test_a_run_that_had_only_generated_its_data_begins_anew(done):
    job, last = done
    assert isinstance(last, Finished)
    assert last.record["epochs"] == 2
    assert (job.folder / "model.safetensors").exists()


def test_progress_and_epochs_are_told(tmp_path):
    job, events = small_job(tmp_path), []
    train_job(job, events.append)
    assert [event.record["epoch"] for event in events if isinstance(event, Epoch)] == [1, 2]
    progress = [event for event in events if isinstance(event, Progress)]
    assert progress[-1].done == progress[-1].total > 0


def test_the_time_left_is_told_after_the_first_epoch(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "SECONDS_BETWEEN_EVENTS", 0.0)
    events = []
    train_job(small_job(tmp_path), events.append)
    first = next(place for place, event in enumerate(events) if isinstance(event, Epoch))
    before, after = (
        [event.seconds_left for event in some if isinstance(event, Progress)]
        for some in (events[:first], events[first:])
    )
    assert set(before) == {None}
    assert None not in after


def test_a_run_goes_on_to_more_epochs(tmp_path):
    job = small_job(tmp_path)
    train_job(job, ignore)
    training = job.config.training.model_copy(update={"epochs": 3})
    longer = replace(job, config=job.config.model_copy(update={"training": training}))
    assert train_job(longer, ignore).record["epochs"] == 3
    assert "at epoch 3" in job.log.read_text()


def test_a_finished_run_is_not_done_again(done):
    job, last = done
    before = (job.folder / "model.safetensors").stat().st_mtime_ns
    assert train_job(job, ignore) == last
    assert (job.folder / "model.safetensors").stat().st_mtime_ns == before


def test_a_folder_of_another_configuration_is_refused(done):
    job, _ = done
    values = job.config.model_dump()
    other = Config.check(values | {"training": values["training"] | {"learning_rate": 0.1}}, "")
    with pytest.raises(
        JobError, match="this folder has a run of transducer with another configuration or seed"
    ):
        train_job(replace(job, config=other), ignore)


def test_what_goes_wrong_is_an_outcome(tmp_path, monkeypatch):
    bad = small_job(tmp_path, **{"data.train": "none.tsv"})
    assert run_job(bad, ignore).reason.startswith("none.tsv: no such file; looked in")

    def broken(*arguments):
        raise LookupError("no such thing")

    monkeypatch.setattr("ftor.jobs.running.train_job", broken)
    assert run_job(bad, ignore) == Failed(f"LookupError: no such thing; see {bad.log}")
    assert "Traceback" in bad.log.read_text()
