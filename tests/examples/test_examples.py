"""The examples run, and their committed files are what they write."""

import json
import runpy
import sys
from pathlib import Path

import pytest

from support.pages import ROOT
from support.tiny import SETTINGS, environment

EXAMPLES = ROOT / "examples"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a script in an empty folder; gives what it prints."""
    monkeypatch.chdir(tmp_path)

    def script(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        capsys.readouterr()
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return script


def test_every_example_is_listed_and_tested():
    listed = (EXAMPLES / "README.md").read_text("utf-8")
    tested = Path(__file__).read_text("utf-8")
    names = [path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".ipynb")]
    assert names
    assert [name for name in names if f"({name})" not in listed or f'"{name}"' not in tested] == []


def test_the_pairs_of_the_house_are_what_the_script_writes(run, tmp_path):
    run("home/make_pairs.py", tmp_path)
    for split in ("train", "dev", "test"):
        name = f"{split}.tsv"
        assert (tmp_path / name).read_bytes() == (EXAMPLES / "home" / name).read_bytes()


def test_the_paper_example_prints_and_draws(run, tmp_path):
    assert "city_name" in run("paper_example.py")
    run("paper_example.py", "--picture", "example.svg")
    assert (tmp_path / "example.svg").read_text("utf-8").startswith("<?xml")


@pytest.mark.slow
def test_a_model_is_trained_from_python_and_used_with_a_grammar(run):
    assert run("train_from_python.py", "run") == "100.0% of 100 longer sentences are right\n"
    printed = run("predict_with_a_grammar.py", "run")
    assert "without the grammar: open lamp attic" in printed
    assert "with the grammar:    off lamp attic" in printed


@pytest.mark.slow
def test_the_layers_learn_in_a_model_of_ones_own(run):
    assert run("layers_in_a_model.py").endswith("200 of 200 longer strings are right\n")


@pytest.mark.slow
def test_a_row_is_reproduced(run, data, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mirror").symlink_to(data)
    monkeypatch.delenv("FTOR_DATA", raising=False)
    small = [f"{key}={value}" for key, value in SETTINGS.items()]
    printed = run("reproduce_a_row.py", "row", *small)
    assert "14–20  paper 100.0  ours None" in printed  # the small model is not the table's


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_notebook_runs(monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    name = "walkthrough.ipynb"
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    shown = json.loads((EXAMPLES / name).read_text("utf-8"))
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    for cell, before in zip(notebook.cells, shown["cells"], strict=True):
        assert _text(cell) == _text(before)


def _text(cell):
    """What a cell prints, without pictures."""
    outputs = [output for output in cell.get("outputs", []) if output.get("name") == "stdout"]
    return "".join("".join(output["text"]) for output in outputs)
