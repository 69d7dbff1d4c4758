"""Trains models on the tasks of a battery, one subprocess per run, and records what each gave."""

import math
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from battery.task import DESCRIPTION, GRAMMAR, TEST, TRAIN
from ftor.config import TrainingConfig
from ftor.files import append_json_line, read_json, read_json_lines
from ftor.text.programs import find_notation
from ftor.text.reading import read_pairs
from ftor.tuning.race.choice import Choice

SYSTEMS = ("race", "quick", "default", "lstm")
"""`ftor train PAIRS.tsv`, the same without a race, the shipped experiment for own pairs, and a seq2seq."""

LSTM = """\
[data]
programs = "auto"

[model]
architecture = "lstm"

[training]
epochs = {epochs}
"""
LSTM_EPOCHS, LSTM_STEPS = 60, 2000
"""The seq2seq trains for so many epochs, or for so many steps if that is longer.

Forty pairs have only two steps per epoch.
"""
LEARNABILITY = re.compile(r"^warning: .*(separable|cannot be learnt|cannot learn)")
"""Warnings that fertility and a separable reordering cannot make the targets."""


@dataclass(frozen=True)
class Run:
    """One training: a task folder, a system and a seed.

    Attributes:
        data: the folder with train.tsv and test.tsv.
        system: one of `SYSTEMS`.
        seed: of the training.
        minutes: the limit of the race, if any.
    """

    data: Path
    system: str
    seed: int
    minutes: float | None = None

    @property
    def key(self) -> dict[str, Any]:
        """What tells this run from others in a file of results."""
        description = self.data / DESCRIPTION
        made = read_json(description) if description.is_file() else {}
        task = {"task": self.data.name, "variant": made.get("variant"), "data_seed": made.get("seed")}
        return {**task, "system": self.system, "seed": self.seed}

    @property
    def name(self) -> str:
        """The name of the run's folder."""
        return "-".join(str(value) for value in self.key.values() if value is not None)

    def command(self, out: Path) -> list[str]:
        """The command that trains into the folder `out`."""
        train, test, grammar = (self.data / name for name in (TRAIN, TEST, GRAMMAR))
        ftor = [sys.executable, "-m", "ftor", "train"]
        common = ["--test", str(test), "--out", str(out), "--seed", str(self.seed)]
        if self.system in ("race", "quick"):
            options = ["--grammar", str(grammar)] if grammar.is_file() else []
            options += ["--quick"] if self.system == "quick" else []
            options += [] if self.minutes is None else ["--minutes", str(self.minutes)]
            return [*ftor, str(train), *common, *options]
        if self.system == "lstm":
            steps = math.ceil(len(read_pairs(train)) / TrainingConfig().batch_size)
            epochs = max(LSTM_EPOCHS, math.ceil(LSTM_STEPS / steps))
            experiment = out.with_suffix(".toml")
            experiment.write_text(LSTM.format(epochs=epochs), "utf-8")
        else:
            targets = [pair.target_text for pair in read_pairs(train)]
            experiment = Path("transducer" if find_notation(targets)[0] is None else "programs")
        options = ["--set", f"decoding.grammar={grammar}"] if grammar.is_file() else []
        options += ["--set", "decoding.lengths=5"] if options and self.system == "default" else []
        return [*ftor, str(experiment), "--train", str(train), *common, *options]

    def execute(self, folder: Path) -> dict[str, Any]:
        """Train in a folder below `folder`; return the record for the file of results."""
        out = folder / self.name
        shutil.rmtree(out, ignore_errors=True)  # an interrupted run
        folder.mkdir(parents=True, exist_ok=True)
        begin = time.monotonic()
        finished = subprocess.run(self.command(out), capture_output=True, text=True, check=False)
        minutes = (time.monotonic() - begin) / 60
        (folder / f"{self.name}.log").write_text(finished.stdout + finished.stderr, "utf-8")
        record = {**self.key, "minutes": round(minutes, 2), "limit": self.minutes}
        said = finished.stderr.replace(f"{self.data.parent}/", "")  # the folder is not part of the result
        record["said"] = [line for line in said.splitlines() if LEARNABILITY.search(line)]
        if finished.returncode:
            lines = finished.stderr.strip().splitlines()
            return {**record, "error": lines[-1] if lines else f"exit code {finished.returncode}"}
        return {**record, **results(out)}


def results(folder: Path) -> dict[str, Any]:
    """The exact match on test, without and with the grammar, and the winner of the race if there was one."""
    metrics = read_json(folder / "metrics.json")
    with_grammar = metrics.get("test_grammar") or {}
    choice = Choice.read(folder)
    return {
        "exact_match": metrics["test"]["exact_match"],
        "exact_match_grammar": with_grammar.get("exact_match"),
        "dev_exact_match": (metrics.get("dev") or {}).get("exact_match"),
        "choice": None if choice is None else choice.winner,
    }


def execute_all(runs: Iterable[Run], results_file: Path) -> None:
    """Execute the runs that the file of results does not have, and append each record at once."""
    done = read_json_lines(results_file) if results_file.is_file() else []
    for run in runs:
        if any(run.key.items() <= record.items() for record in done):
            continue
        print(f"{run.name} …", file=sys.stderr, flush=True)
        record = run.execute(results_file.with_suffix(".runs"))
        append_json_line(results_file, record)
        print(f"{run.name}: {shown(record)}, {record['minutes']:.1f} minutes", file=sys.stderr, flush=True)


def score(record: Mapping[str, Any]) -> float | None:
    """The exact match in percent, with the grammar if there is one. None if the run failed."""
    found = record.get("exact_match_grammar")
    found = record.get("exact_match") if found is None else found
    return None if found is None else 100 * float(found)


def shown(record: Mapping[str, Any]) -> str:
    """The score of a record as text."""
    found = score(record)
    return str(record.get("error", "failed")) if found is None else f"{found:.1f}"


def table(records: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a table: for each task and system the seeds' scores, worst first.

    A run that failed counts as 0 and is shown as –.
    """
    systems = [system for system in SYSTEMS if any(record["system"] == system for record in records)]
    header = ["task", *(column for system in systems for column in (system, "mean", "minutes"))]
    tasks = dict.fromkeys((record["task"], record["variant"]) for record in records)
    rows = []
    for task, variant in tasks:
        row = [f"{task} {variant or ''}".strip()]
        for system in systems:
            chosen = [
                record
                for record in records
                if (record["task"], record["variant"], record["system"]) == (task, variant, system)
            ]
            row += _cells(chosen)
        rows.append(row)
    return header, rows


def _cells(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """The scores of the seeds, worst first, their mean, and the mean of the minutes."""
    if not records:
        return ["", "", ""]
    scores = sorted((score(record) is not None, score(record) or 0.0) for record in records)
    texts = [f"{value:.0f}" if ran else "–" for ran, value in scores]
    mean = sum(value for _, value in scores) / len(scores)
    minutes = sum(record["minutes"] for record in records) / len(records)
    return [" ".join(texts), f"{mean:.1f}", f"{minutes:.1f}"]
