"""`ftor tune` as it is used: real runs in processes of their own, killed and gone on with."""

import json
import re
import sys
import time
from unittest import mock

import pytest

from ftor.config import Config
from ftor.jobs import Failed
from support import tiny
from support.pretended_runs import Pretended

PATIENCE = 600
"""Seconds: a process takes five to start, and more than a minute where others keep the machine busy."""


@pytest.fixture
def experiment(data, tmp_path, monkeypatch):
    """An experiment of one's own that takes a second, and a space for it."""
    monkeypatch.chdir(tmp_path)
    files = {f"data.{split}": str(data / f"{split}.tsv") for split in ("train", "dev", "test")}
    sections = {}
    for key, value in (tiny.SETTINGS | files).items():
        section, name = key.split(".")
        sections.setdefault(section, []).append(f"{name} = {json.dumps(value)}\n")
    text = "".join(f"[{name}]\n{''.join(lines)}" for name, lines in sections.items())
    (tmp_path / "mine.toml").write_text(text)
    (tmp_path / "space.toml").write_text(
        '"training.length_weight" = { low = 0.1, high = 10.0, log = true }\n'
    )
    return ["tune", "mine.toml", "--space", "space.toml", "--trials", "1", "--epochs", "25", "--jobs", "2"]


@pytest.mark.slow
def test_a_killed_search_is_resumed(experiment, tmp_path):
    runs = tmp_path / "tune" / "mine" / "runs"
    with tiny.start(*experiment, cwd=tmp_path) as driver:
        try:
            deadline = time.monotonic() + PATIENCE
            while not list(runs.glob("*/checkpoint.safetensors")):
                assert driver.poll() is None, driver.stderr.read()
                assert time.monotonic() < deadline
                time.sleep(0.02)
        finally:
            driver.kill()
    with tiny.start(*experiment, "--figure", "search.png", cwd=tmp_path) as driver:
        try:
            out, err = driver.communicate(timeout=PATIENCE)
        finally:
            driver.kill()
    finished = tiny.Finished(driver.returncode, out, err)
    assert finished.code == 0, finished.err
    assert sorted(folder.name for folder in runs.iterdir() if folder.is_dir()) == [
        f"trial-{trial}-seed-{seed}" for trial in (0, 1) for seed in (1000, 1001, 1002)
    ]
    for folder in runs.iterdir():
        if folder.is_dir():
            assert [record["epoch"] for record in tiny.log(folder)] == list(range(1, 26))
            assert tiny.metrics(folder)["test"] is None
            assert not list(folder.glob("checkpoint*"))
    assert "resuming " in "".join(path.read_text() for path in runs.glob("trial-0-*.log"))
    assert re.search(r"0 .*complete, unchanged", finished.out)
    assert re.search(r"(trial 1|the unchanged configuration) wins: dev exact match", finished.out)
    assert (tmp_path / "search.png").stat().st_size > 0
    tuned = tmp_path / "tune" / "mine" / "mine-tuned.toml"
    assert Config.load(tuned).data.test == Config.load("mine.toml").data.test
    assert f"winner in {tuned.relative_to(tmp_path)}" in finished.out

    again = tiny.run_here(*experiment)  # nothing is left to do
    assert (again.code, again.out) == (0, finished.out)
    other = tiny.run_here(*experiment, "--sampler", "tpe")
    assert (other.code, other.out) == (1, "")
    assert "sampler: expected random, found tpe" in other.err


def test_if_nothing_comes_to_an_end_the_exit_code_says_so(experiment):
    with mock.patch(
        "ftor.jobs.processes.Processes", lambda slots: Pretended(lambda *run: Failed("no"), slots)
    ):
        finished = tiny.run_here(*experiment)
    assert finished.code == 1
    assert "trial 1 failed: seed 1000: no" in finished.out
    assert "no trial came to its end" in finished.err


@pytest.mark.slow
def test_the_runs_of_a_search_go_to_a_ray_cluster(experiment, tmp_path):
    ray_cluster = pytest.importorskip("ray.cluster_utils")
    cluster = ray_cluster.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False}
    )
    try:
        finished = tiny.run_here(*experiment[:-4], "--epochs", "2", "--ray", cluster.address)
    finally:
        cluster.shutdown()
    assert finished.code == 0, finished.err
    assert "trial-0-seed-1000 running: node " in finished.err
    assert re.search(r"(trial 1|the unchanged configuration) wins: dev exact match", finished.out)
    assert (tmp_path / "tune" / "mine" / "mine-tuned.toml").exists()


def test_no_optuna(experiment):
    with mock.patch.dict(sys.modules, {"optuna": None, "ftor.tuning.store": None}):
        del sys.modules["ftor.tuning.store"]
        finished = tiny.run_here(*experiment)
    assert finished.code == 1
    assert finished.err == "error: Optuna is not installed: pip install 'ftor[tune]'\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["tune", "mirror"], 2, "the paper has no search space for this experiment"),
        (["tune", "geo-iid", "--data-dir", "."], 1, "geo-template: geo/template_train.tsv: no such file"),
        (["tune", "transducer", "--ray", "auto", "--sampler", "tpe"], 2, "say how many runs go at a time"),
        (["tune", "geo-iid", "--figure", "a.gif"], 2, "expected .png or .svg, found a.gif"),
        (["tune", "geo-iid", "--space", "none.toml"], 1, "none.toml: No such file"),
    ],
)
def test_what_cannot_be_done_is_said_at_once(tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FTOR_DATA", raising=False)
    finished = tiny.run_here(*arguments)
    assert (finished.code, finished.out) == (code, "")
    assert message in finished.err
    assert not (tmp_path / "tune").exists()
