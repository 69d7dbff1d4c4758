"""The runs of the battery: their commands, their records, and the table."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import battery
from battery import runs
from ftor.tuning.race.choice import Choice, Tried


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("battery")
    for name in ("phrases", "json", "home-grammar"):
        battery.find(name, "a").write(folder / name, 7)
    return folder


def options(data: Path, name: str, system: str, out: Path, minutes: float | None = None) -> list[str]:
    return runs.Run(data / name, system, 3, minutes).command(out)[3:]


def test_commands_train_on_the_task_with_the_seed(data: Path, tmp_path: Path):
    out = tmp_path / "run"
    phrases, home = data / "phrases", data / "home-grammar"
    common = ["--test", str(phrases / "test.tsv"), "--out", str(out), "--seed", "3"]
    raced = options(data, "phrases", "race", out, 2.0)
    assert raced == ["train", str(phrases / "train.tsv"), *common, "--minutes", "2.0"]
    assert options(data, "phrases", "default", out)[:2] == ["train", "transducer"]
    assert options(data, "json", "default", out)[:2] == ["train", "programs"]
    assert f"decoding.grammar={home / 'grammar.cfg'}" in options(data, "home-grammar", "default", out)
    assert options(data, "home-grammar", "quick", out)[-3:] == [
        "--grammar",
        str(home / "grammar.cfg"),
        "--quick",
    ]
    assert 'architecture = "lstm"' in Path(options(data, "json", "lstm", out)[1]).read_text("utf-8")
    few = Path(options(data, "phrases", "lstm", out)[1]).read_text("utf-8")
    assert "epochs = 1000\n" in few  # forty pairs are two batches


CHOICE = Choice(
    winner="taught",
    settings={},
    promised=0.5,
    kept=True,
    held_out={"random": 5},
    tried=[
        Tried(candidate="taught", meaning="F→R", seed=0, epochs=3, on_all_pairs=False, score=0.5, seconds=1.0)
    ],
    short=False,
    findings=[],
)
SAID = [
    "warning: a.tsv:3: 40 % of the pairs need a reordering that is not separable: 3 of 3 crossing links",
    "By these links 60 % of the pairs need no reordering, 40 % a separable one, 0 % one not separable.",
    "epoch 1",
]


class Trained:
    """Stands in for `subprocess.run`: writes metrics, or fails for the task json."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        if "json" in command[4]:
            return subprocess.CompletedProcess(command, 1, "", "looking\nerror: too long")
        out = Path(command[command.index("--out") + 1])
        out.mkdir()
        metrics = {"test": {"exact_match": 0.5}, "test_grammar": {"exact_match": 0.75}}
        (out / "metrics.json").write_text(json.dumps(metrics))
        (out / "README.md").write_text("# A model\n")
        CHOICE.write(out)
        return subprocess.CompletedProcess(command, 0, "", "\n".join(SAID))


def test_finished_runs_are_not_repeated(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    trained = Trained()
    monkeypatch.setattr(subprocess, "run", trained)
    results = tmp_path / "results.jsonl"
    planned = [runs.Run(data / name, "race", seed) for name in ("phrases", "json") for seed in (0, 1)]
    runs.execute_all(planned[:3], results)
    runs.execute_all(planned, results)
    assert len(trained.commands) == 4
    records = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    first, failed = records[0], records[-1]
    assert first["said"] == SAID[:1]
    assert (first["task"], first["variant"], first["data_seed"], first["choice"]) == (
        "phrases",
        "a",
        7,
        "taught",
    )
    assert failed["error"] == "error: too long"


def test_the_table_shows_the_worst_seed_first():
    def record(system: str, seed: int, match: float | None) -> dict[str, Any]:
        return {
            **{"task": "dates", "variant": "a", "system": system, "seed": seed, "minutes": 2.0},
            **({} if match is None else {"exact_match": match, "exact_match_grammar": None}),
        }

    records = [
        record("lstm", 0, 0.25),
        record("race", 0, 1.0),
        record("race", 1, 0.5),
        record("race", 2, None),
    ]
    header, rows = runs.table(records)
    assert header == ["task", "race", "mean", "minutes", "lstm", "mean", "minutes"]
    assert rows == [["dates a", "– 50 100", "50.0", "2.0", "25", "25.0", "2.0"]]
    assert runs.score({"exact_match": 0.5, "exact_match_grammar": 0.75}) == 75.0
