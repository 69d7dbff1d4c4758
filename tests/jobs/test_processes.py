"""Jobs in processes: what comes of them is what `ftor train` gives, whatever happens meanwhile."""

import os
import signal
import time
from dataclasses import replace

import pytest

from ftor.jobs import Epoch, Failed, Finished, Started, Stopped
from ftor.jobs.processes import Processes
from ftor.show.progress import TerminalReport
from ftor.training.run import Run
from support.small_jobs import ends, small_job, until
from support.tiny import assert_same_run, without_times

pytestmark = pytest.mark.slow
EPOCHS = 40


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The run of a job of `EPOCHS` epochs that nobody disturbs, and its record."""
    job = small_job(tmp_path_factory.mktemp("undisturbed"), epochs=EPOCHS)
    record = Run.new(job.config, job.folder).train(None, TerminalReport(quiet=True), None)
    return job, {"config": job.config.hash, **record}


def same_data(folder, undisturbed, **settings):
    """A job like the one undisturbed, on the very same files, in another folder."""
    job, _ = undisturbed
    return replace(job, folder=folder / "runs" / "small-0", **settings)


def test_a_job_that_is_stopped_goes_on_to_the_same_end(tmp_path, undisturbed):
    job = same_data(tmp_path, undisturbed)
    with Processes(1) as executor:
        executor.start(job)
        until(executor, Epoch, job)
        executor.stop(job)
        assert ends(executor, job) == {job: Stopped()}
        assert "resuming" not in job.log.read_text()
        executor.start(job)
        (last,) = ends(executor, job).values()
    assert f"resuming {job.folder} at epoch" in job.log.read_text()
    assert isinstance(last, Finished)
    assert without_times(last.record) == without_times(undisturbed[1])
    assert_same_run(job.folder, undisturbed[0].folder)


def test_a_job_can_be_stopped_before_it_has_begun(tmp_path):
    job = small_job(tmp_path)
    with Processes(1) as executor:
        executor.start(job)
        time.sleep(0.1)
        executor.stop(job)
        assert ends(executor, job) == {job: Stopped()}


def test_a_process_that_is_killed_is_told_of_and_loses_only_minutes(tmp_path, undisturbed):
    job = same_data(tmp_path, undisturbed)
    with Processes(1) as executor:
        executor.start(job)
        started = until(executor, Started, job)
        until(executor, Epoch, job)
        os.kill(int(started.where.split()[1]), signal.SIGKILL)
        (last,) = ends(executor, job).values()
        assert last == Failed(f"its process ended with signal 9; see {job.log}")
        executor.start(job)
        (last,) = ends(executor, job).values()
    assert "resuming " in job.log.read_text()
    assert_same_run(job.folder, undisturbed[0].folder)


def test_jobs_are_side_by_side_and_one_that_fails_hurts_no_other(tmp_path):
    good = replace(small_job(tmp_path, seed=1), threads=2)
    bad = small_job(tmp_path, seed=2, **{"data.train": "none.tsv"})
    with Processes(2) as executor:
        executor.start(good)
        executor.start(bad)
        begun: list[object] = []
        while len(begun) < 2:
            begun += [event for _, event in executor.wait(1.0)]
        assert [type(event) for event in begun] == [Started] * 2, "both begin before either ends"
        found = ends(executor, good, bad)
    assert isinstance(found[good], Finished)
    assert " 2 used" in found[good].record["machine"], "each job has its threads"
    assert isinstance(found[bad], Failed)
    assert found[bad].reason.startswith("none.tsv: no such file; looked in")
    assert not bad.folder.exists()


def test_leaving_stops_what_still_runs(tmp_path, undisturbed):
    job = same_data(tmp_path, undisturbed)
    with Processes(1) as executor:
        executor.start(job)
        started = until(executor, Started, job)
        until(executor, Epoch, job)
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.where.split()[1]), 0)
    assert "stopped; to resume" in job.log.read_text()


def test_a_process_runs_one_job_after_the_other_as_if_it_were_new(tmp_path, undisturbed):
    jobs = [small_job(tmp_path, seed=5), same_data(tmp_path / "second", undisturbed)]
    processes = []
    with Processes(1) as executor:
        for job in jobs:
            executor.start(job)
            processes.append(until(executor, Started, job).where)
            (last,) = ends(executor, job).values()
            assert isinstance(last, Finished)
    assert processes[0] == processes[1]
    assert_same_run(jobs[1].folder, undisturbed[0].folder)
