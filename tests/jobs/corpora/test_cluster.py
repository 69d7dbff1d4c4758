"""A corpus on a real Ray cluster of two nodes on this machine, one of which is lost."""

import pytest

from ftor.jobs.corpora import Request, chunks, predict_corpus
from ftor.reporting import SILENT
from support.corpora import predict_file, write_corpus
from support.tiny import run_here

ray_cluster = pytest.importorskip("ray.cluster_utils")
pytest.importorskip("ray.data")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")]  # its own


@pytest.fixture(scope="module")
def two_nodes():
    """A cluster whose first node has room for a chunk at a time."""
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_worker_niceness", "0")  # else a busy machine leaves them no time
    cluster = ray_cluster.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    yield cluster
    cluster.shutdown()
    patch.undo()


def test_a_lost_node_loses_nothing_and_gives_nothing_twice(trained, tmp_path, two_nodes, monkeypatch):
    from ftor.jobs.corpora.cluster import predict_on_cluster

    monkeypatch.setattr(chunks, "LINES", 8)
    node = two_nodes.add_node(num_cpus=1)
    two_nodes.wait_for_nodes()
    corpus, request = write_corpus(tmp_path / "in.txt", 1200), Request((str(trained),))
    predict_file(request, corpus, tmp_path / "one.jsonl")
    seen = []

    def watched(some):
        for chunk, answers in predict_on_cluster(request, two_nodes.address, SILENT, some):
            seen.append(chunk.first)
            if len(seen) == 20:
                two_nodes.remove_node(node, allow_graceful=False)
            yield chunk, answers

    wanted = (tmp_path / "one.jsonl").read_bytes()
    out = tmp_path / "many.jsonl"
    out.write_bytes(wanted[: len(wanted) // 4])  # of a run that was cut off
    predict_corpus(chunks.read_chunks([corpus], "text", SILENT), watched, out, SILENT, resuming=True)
    assert out.read_bytes() == wanted
    assert seen[0] == 1  # once more, to compare
    assert 1 < seen[1] < 400
    assert seen[1:] == list(range(seen[1], 1201, 8))


def test_the_command_reads_and_writes_parquet(trained, tmp_path, two_nodes):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"said": ["a b", None, "c"] * 5}), tmp_path / "in.parquet")
    options = "predict", trained, "--input", tmp_path / "in.parquet", "--column", "said"
    assert run_here(*options, "--output", tmp_path / "here.parquet").code == 0
    there = run_here(*options, "--output", tmp_path / "there.parquet", "--ray", two_nodes.address)
    assert there.code == 0, there.err
    assert parquet.read_table(tmp_path / "there.parquet") == parquet.read_table(tmp_path / "here.parquet")
    assert there.err.splitlines()[-1] == "warning: 5 of 15 lines have no output"
    finished = run_here("predict", tmp_path / "none", *options[2:], "--ray", two_nodes.address)
    assert finished.code == 1
    assert finished.err == f"error: {tmp_path / 'none'}: not a model folder: it does not exist\n"


def test_no_cluster_is_a_clear_error(trained, tmp_path):
    corpus = write_corpus(tmp_path / "in.txt", 3)
    finished = run_here("predict", trained, "--input", corpus, "--ray", "127.0.0.1:1")
    assert finished.code == 1
    assert finished.err.startswith("error: --ray 127.0.0.1:1: no Ray cluster at this address")
