"""Ledgers: JSONL files with one line per finished run or evaluation, and the judgements beside them."""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ftor.config import Config
from ftor.errors import FtorError
from ftor.files import append_json_line
from ftor.jobs.locking import lock
from ftor.lab.lines import EvaluationLine, Line, RunLine, read_line
from ftor.metrics import Metrics
from ftor.metrics.judgements import JUDGEMENTS_FILE, Judgements, read_judgements, write_judgements
from ftor.reporting import SILENT, Report

LONG_FILE = "mirror-long.tsv"
"""The pairs with inputs of 30, 50 and 100 symbols."""
JUDGEMENTS = "judgements"
"""The folder of judgements in a folder of ledgers."""
SECONDS_TO_WAIT = 60.0
"""For another process that writes to the same ledgers."""


def read_ledgers(folder: Path, report: Report = SILENT) -> list[Line]:
    """Read all ledgers in a folder. Of lines with the same identity, only the newest is returned.

    A line or a file of judgements that is damaged is named in a warning and left out.
    """
    newest: dict[tuple[Any, ...], Line] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, text in enumerate(path.read_bytes().split(b"\n"), 1):
            if not text:
                continue
            try:
                line = _parsed(text)
            except FtorError as error:
                report.warn(f"{path}:{number}: this line is left out: {error}")
                continue
            newest[line.identity] = line
    return [_with_judgements(folder, line, report) for line in newest.values()]


def _parsed(text: bytes) -> Line:
    try:
        record = json.loads(text)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise FtorError(f"not a JSON object: {text[:60].decode(errors='replace')!r}")
    return read_line(record)


def _with_judgements(folder: Path, line: Line, report: Report) -> Line:
    path = folder / JUDGEMENTS / line.file_name
    if not path.exists():
        return line
    try:
        return line.model_copy(update={"judged": read_judgements(path)})
    except FtorError as error:
        report.warn(f"{error}; these judgements are left out")
        return line


def judgements_in(folder: Path) -> dict[str, Judgements]:
    """Return the judgements in the folder of a run. Old runs and those of other machines lack them."""
    path = folder / JUDGEMENTS_FILE
    return read_judgements(path) if path.exists() else {}


def append(path: Path, record: Mapping[str, Any], judged: Mapping[str, Judgements] | None = None) -> None:
    """Append a line to a ledger, and write the judgements beside it."""
    line = read_line(record)
    file = path.parent / JUDGEMENTS / line.file_name
    if judged:
        write_judgements(file, judged)
    else:
        file.unlink(missing_ok=True)  # those of an older line
    append_json_line(path, {"format": line.format, "kind": line.kind, **record})


def append_once(
    folder: Path, name: str, record: Mapping[str, Any], judged: Mapping[str, Judgements] | None = None
) -> None:
    """Append a line to the ledger `name`, unless a ledger of the folder has one with the same identity."""
    with lock(folder / ".lock", f"{folder}: another process is writing to these ledgers", SECONDS_TO_WAIT):
        if read_line(record).identity not in {line.identity for line in read_ledgers(folder)}:
            append(folder / f"{name}.jsonl", record, judged)


@lru_cache
def shipped_hash(experiment: str) -> str:
    """Return the hash of a shipped experiment's configuration."""
    return Config.load(experiment).hash


def as_shipped(lines: Iterable[Line], experiment: str) -> list[Line]:
    """Return the lines of an experiment with the shipped settings and any seed."""
    settings = experiment, shipped_hash(experiment)
    return [line for line in lines if (line.experiment, line.config) == settings]


def finished_runs(lines: Iterable[Line], experiment: str) -> list[RunLine]:
    """Return the runs that count for an experiment: with the shipped settings, and tested. Sorted by seed."""
    runs = [line for line in as_shipped(lines, experiment) if isinstance(line, RunLine) and line.test]
    return sorted(runs, key=lambda run: run.seed)


def evaluations(lines: Iterable[Line], experiment: str, file: str) -> list[Metrics]:
    """Return the metrics of an experiment with the shipped settings on a file of pairs."""
    return [
        line.metrics
        for line in as_shipped(lines, experiment)
        if isinstance(line, EvaluationLine) and line.file == file
    ]
