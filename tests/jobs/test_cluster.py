"""Jobs on a real Ray cluster of two nodes on this machine, one of which is lost."""

import io
import shutil
from dataclasses import replace

import pytest
from rich.console import Console

from ftor.errors import FtorError
from ftor.jobs import Epoch, Failed, Lost, Stopped, run_jobs
from ftor.jobs.cluster import Cluster
from ftor.lab.ledger import read_ledgers
from ftor.lab.paper import TABLES
from ftor.lab.reproduce import PlannedRun, Reproduction
from ftor.show.board import Board
from ftor.show.progress import TerminalReport
from support.small_jobs import ends, small_job, until
from support.tiny import SETTINGS, run_here, write_data

ray_cluster = pytest.importorskip("ray.cluster_utils")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def two_nodes():
    """A cluster whose nodes have room for a job each."""
    cluster = ray_cluster.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    yield cluster
    cluster.shutdown()


class RemovesNode(Cluster):
    """A cluster that loses a node in the middle of a run there."""

    def __init__(self, cluster, node, storage_is_shared):
        super().__init__(cluster.address, TerminalReport(quiet=True))
        self._cluster, self._node, self._shared = cluster, node, storage_is_shared
        self.heard, self.epochs = [], {}

    def wait(self, seconds):
        events = super().wait(seconds)
        self.heard += [(job.name, event) for job, event in events if not isinstance(event, Epoch)]
        for job, event in events:
            if isinstance(event, Epoch):
                self.epochs.setdefault(job.name, []).append(event.record["epoch"])
            if isinstance(event, Lost) and not self._shared:
                shutil.rmtree(job.folder)  # as another machine sees it
        if sum(len(seen) > 2 for seen in self.epochs.values()) >= 2 and self._node is not None:
            self._cluster.remove_node(self._node)
            self._node = None
        return events


@pytest.mark.parametrize("storage_is_shared", [True, False])
def test_a_lost_node_loses_nothing_and_counts_nothing_twice(tmp_path, two_nodes, storage_is_shared):
    node = two_nodes.add_node(num_cpus=1)
    two_nodes.wait_for_nodes()
    row = TABLES["mirror"].rows[0]
    epochs = (200, 200, 5)
    jobs = [small_job(tmp_path, seed, epochs[seed]) for seed in range(3)]
    runs = Reproduction([PlannedRun("mirror", row, job) for job in jobs], tmp_path / "results")
    executor = RemovesNode(two_nodes, node, storage_is_shared)
    assert run_jobs(runs, executor, Board(TerminalReport(quiet=True), runs))
    statuses = runs.statuses
    assert [status.state for status in statuses] == ["done"] * 3
    lost = [name for name, event in executor.heard if isinstance(event, Lost)]
    assert len(lost) == 1
    assert [status.losses for status in statuses] == [int(job.name in lost) for job in jobs]
    lines = (tmp_path / "results" / "mirror.jsonl").read_text().splitlines()
    assert len(lines) == 3
    records = read_ledgers(tmp_path / "results")
    assert sorted(record.seed for record in records) == [0, 1, 2]
    assert all(record.epochs == epochs[record.seed] for record in records)
    (log,) = [job.log.read_text() for job in jobs if job.name in lost]
    assert ("resuming " in log) == storage_is_shared
    assert executor.epochs[lost[0]].count(1) == (1 if storage_is_shared else 2)


def test_stopped_and_failed_jobs(tmp_path, two_nodes):
    long, bad = small_job(tmp_path, 0, epochs=500), small_job(tmp_path, 1, **{"data.train": "none.tsv"})
    with Cluster(two_nodes.address, TerminalReport(quiet=True)) as executor:
        executor.start(long)
        until(executor, Epoch, long)
        executor.start(bad)  # which waits for room
        executor.stop(long)
        found = ends(executor, long, bad)
    assert found[long] == Stopped()
    assert "stopped; to resume" in long.log.read_text()
    assert isinstance(found[bad], Failed)
    assert found[bad].reason.startswith("none.tsv: no such file")


def test_a_job_waits_for_a_node_that_has_its_threads(tmp_path, two_nodes):
    heard = io.StringIO()
    wide = replace(small_job(tmp_path), threads=2)
    with Cluster(two_nodes.address, TerminalReport(Console(file=heard, soft_wrap=True))) as executor:
        executor.start(wide)
        assert executor.wait(3.0) == []
        executor.stop(wide)
        assert ends(executor, wide) == {wide: Stopped()}
    assert heard.getvalue() == "warning: no node has 2 CPUs; runs wait for one that has\n"
    assert not wide.folder.exists()


def test_the_command_runs_on_a_cluster(tmp_path, two_nodes):
    (tmp_path / "data" / "mirror").mkdir(parents=True)
    write_data(tmp_path / "data" / "mirror")
    values = {key: value for key, value in SETTINGS.items() if key != "model.target_width"}
    settings = [part for key, value in values.items() for part in ("--set", f"{key}={value}")]
    finished = run_here(
        *("reproduce", "mirror", "--only", "mirror", "--seeds", 1, "--ray", two_nodes.address),
        *("--data-dir", tmp_path / "data", "--out", tmp_path / "runs", "--ledgers", tmp_path / "results"),
        *settings,
    )
    assert finished.code == 0, finished.err
    assert "mirror-0 running: node " in finished.err
    (record,) = read_ledgers(tmp_path / "results")
    assert (record.experiment, record.split, record.test.count) == ("mirror", "length", 6)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:port"])
def test_no_cluster_is_a_clear_error(address):
    with (
        pytest.raises(FtorError, match=rf"--ray {address}: no Ray cluster at this address"),
        Cluster(address, TerminalReport(quiet=True)),
    ):
        pass
