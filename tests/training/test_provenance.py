"""Where a result comes from."""

import hashlib
import re
import subprocess
from datetime import UTC, datetime, timedelta

import pytest
import torch

import ftor
from ftor.config import Config
from ftor.datasets import glove
from ftor.training.provenance import commit, machine, trained_parameters, vectors_used


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode().strip()


@pytest.fixture
def package(tmp_path):
    """Give the package folder of a source tree with one commit."""
    package = tmp_path / "src" / "ftor"
    package.mkdir(parents=True)
    (package / "module.py").write_text("a = 1\n")
    (tmp_path / "README.md").write_text("old\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "Begin")
    return package


def test_the_commit_is_that_of_the_source_tree(package):
    assert commit(package) == git(package, "rev-parse", "--short", "HEAD")


def test_a_changed_package_gets_a_plus(package):
    head = commit(package)
    (package.parents[1] / "README.md").write_text("new\n")
    assert commit(package) == head
    (package / "module.py").write_text("a = 2\n")
    assert commit(package) == f"{head}+"


def test_an_installed_package_has_no_commit(tmp_path):
    package = tmp_path / "lib" / "ftor"
    package.mkdir(parents=True)
    assert commit(package) is None


def test_a_tree_without_commits_has_none(tmp_path):
    package = tmp_path / "src" / "ftor"
    package.mkdir(parents=True)
    git(tmp_path, "init", "--quiet")
    assert commit(package) is None


def test_a_missing_git_is_no_error(package, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert commit(package) is None


def test_the_machine_is_described():
    found = machine()
    assert found["version"] == ftor.__version__
    assert found["peak_memory_mb"] > 10
    assert re.fullmatch(r"\w+, \d+ cores, \d+ used, torch \S+", found["machine"])
    assert abs(datetime.now(UTC) - datetime.fromisoformat(found["finished"])) < timedelta(minutes=1)


def test_parameters_that_are_trained_are_counted():
    network = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Linear(2, 1))
    network[1].requires_grad_(False)
    assert trained_parameters(network) == 8


def test_the_file_of_vectors_is_named(tmp_path):
    config = Config.load("geo-iid")
    assert vectors_used(Config.load("mirror"), tmp_path) == vectors_used(config, tmp_path) == {}
    (tmp_path / glove.EXCERPT).write_bytes(glove.PUBLIC_BEGINNING + b"1\n")
    used = vectors_used(config, tmp_path)["vectors"]
    assert (used["file"], used["stands_for"]) == (glove.EXCERPT, glove.PUBLIC)
    assert used["sha256"] == hashlib.sha256(glove.PUBLIC_BEGINNING + b"1\n").hexdigest()
    (tmp_path / glove.PUBLIC).write_bytes(b"the 1\n")
    assert vectors_used(config, tmp_path)["vectors"].keys() == {"file", "sha256"}
