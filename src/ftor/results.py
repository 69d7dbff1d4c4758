"""The paper's tables beside ours, from the ledgers of finished runs."""

import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ftor.config import Config
from ftor.errors import FtorError
from ftor.tasks.judging import CIDER
from ftor.tasks.trivial import TRIVIAL

Record = Mapping[str, Any]

MIRROR_ROWS: dict[
    str, tuple[str, tuple[float, ...] | None]
] = {  # experiment suffix: name, then the paper's dev, 11, 12, 13, 14–20, unseen combinations
    "": ("F→R", (100.0, 100.0, 100.0, 100.0, 100.0, 79.9)),
    "-rf": ("R→F", (0.0, 0.0, 0.0, 0.0, 0.0, 1.3)),
    "-ar": ("AR F→R", (100.0, 100.0, 100.0, 100.0, 100.0, 32.1)),
    "-ar-rf": ("AR R→F", (90.0, 85.7, 89.8, 87.5, 80.5, 1.2)),
    "-lstm": ("LSTM", (100.0, 94.3, 67.9, 6.9, 0.0, 0.1)),
    "-transformer": ("Transformer", (82.0, 3.0, 0.0, 0.0, 0.0, 42.0)),
    "-transformer-small": ("Transformer, small", None),
}
MIRROR_LENGTHS = {"11": range(11, 12), "12": range(12, 13), "13": range(13, 14), "14–20": range(14, 21)}

Figures = tuple[str, float | None, float]
PARSING_TABLES: dict[
    str, tuple[str, dict[tuple[str, str], Figures]]
] = {  # task: what is counted, then the paper's means with and without grammar by experiment
    "Geoquery": (
        "execution_accuracy",
        {
            ("F→R", "iid"): ("geo-iid", 88.6, 80.7),
            ("F→R", "template"): ("geo-template", 79.9, 68.7),
            ("F→R", "length"): ("geo-length", 68.8, 53.4),
            ("R→F", "iid"): ("geo-iid-rf", 89.1, 83.5),
            ("R→F", "template"): ("geo-template-rf", 80.4, 73.0),
            ("R→F", "length"): ("geo-length-rf", 68.6, 49.2),
            ("AR F→R", "iid"): ("geo-iid-ar", None, 81.1),
            ("AR F→R", "template"): ("geo-template-ar", None, 52.8),
            ("AR F→R", "length"): ("geo-length-ar", None, 37.6),
        },
    ),
    "ATIS": (
        "tree_accuracy",
        {
            ("F→R", "iid"): ("atis-iid", 74.15, 68.26),
            ("F→R", "length"): ("atis-length", 35.41, 29.91),
            ("LSTM", "iid"): ("atis-iid-lstm", 76.52, 75.98),
            ("LSTM", "length"): ("atis-length-lstm", 4.95, 4.95),
            ("Transformer", "iid"): ("atis-iid-transformer", None, 75.76),
            ("Transformer", "length"): ("atis-length-transformer", None, 1.15),
            ("BART-base", "iid"): ("atis-iid-bart", None, 86.96),
            ("BART-base", "length"): ("atis-length-bart", None, 19.03),
        },
    ),
    "Okapi": (
        "clause_accuracy",
        {
            ("F→R", "calendar"): ("okapi-calendar", 69.5, 57.2),
            ("F→R", "document"): ("okapi-document", 42.4, 36.1),
            ("F→R", "email"): ("okapi-email", 55.6, 43.9),
            ("BART-base", "calendar"): ("okapi-calendar-bart", None, 36.7),
            ("BART-base", "document"): ("okapi-document-bart", None, 2.7),
            ("BART-base", "email"): ("okapi-email-bart", None, 20.5),
        },
    ),
}

STYLE_SCORES = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", CIDER)
STYLE_ROWS: dict[str, tuple[str, tuple[str, ...]]] = {  # task: experiment, then the paper's F→R, three seeds
    "active to passive": (
        "style-passive",
        (
            *("92.1 ± 1.3", "85.4 ± 1.5", "79.7 ± 1.7", "74.6 ± 1.9"),
            *("55.9 ± 0.5", "86.0 ± 1.1", "7.610 ± 0.130"),
        ),
    ),
    "adjective emphasis": (
        "style-adjective",
        (
            *("78.3 ± 1.4", "61.9 ± 0.7", "49.9 ± 1.3", "40.5 ± 1.4"),
            *("43.0 ± 1.0", "69.1 ± 0.6", "4.268 ± 0.170"),
        ),
    ),
    "verb emphasis": (
        "style-verb",
        (
            *("68.4 ± 0.6", "52.7 ± 0.6", "41.6 ± 0.7", "32.8 ± 0.6"),
            *("37.4 ± 0.4", "58.9 ± 0.4", "3.498 ± 0.121"),
        ),
    ),
}

LONG_FILE = "mirror-long.tsv"
"""The strings of 30, 50 and 100 symbols."""


def read_ledgers(folder: Path) -> list[dict[str, Any]]:
    """All lines of all ledgers; a later one of the same experiment, settings, seed and file replaces one."""
    newest: dict[tuple[Any, ...], dict[str, Any]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            try:
                record = json.loads(line)
                key = record["experiment"], record.get("config"), record["seed"], record.get("file")
                newest[key] = record
            except (ValueError, KeyError, TypeError):
                raise FtorError(
                    f"{path}:{number}: expected the record of a run, found {line[:60]!r}"
                ) from None
    return list(newest.values())


def mirror_tables(records: Sequence[Record]) -> str:
    """Exact match on mirror, in Markdown: by length and on unseen combinations, then far beyond."""
    header = ["model", "", "seeds", "dev", *MIRROR_LENGTHS, "unseen combinations"]
    rows: list[list[str]] = []
    for suffix, (name, paper) in MIRROR_ROWS.items():
        length = _runs(records, f"mirror{suffix}")
        unseen = _runs(records, f"mirror-xyz{suffix}")
        if paper is not None:
            rows.append([name, "paper", "5", *(f"{value:.1f}" for value in paper)])
        cells = [_mean([100 * run["dev"]["exact_match"] for run in length])]
        cells += [
            _mean([_accuracy(run["test"], lengths) for run in length]) for lengths in MIRROR_LENGTHS.values()
        ]
        cells += [_mean([100 * run["test"]["exact_match"] for run in unseen])]
        rows.append([name, "ftor", f"{len(length)}, {len(unseen)}", *cells])
    far = [run["metrics"] for run in _as_shipped(records, "mirror") if run.get("file") == LONG_FILE]
    beyond = []
    for length in sorted({group["length"] for metrics in far for group in metrics["by_length"]}):
        groups = [group for metrics in far for group in _group(metrics, length)]
        shares = [100 * group["exact_match"] for group in groups]
        beyond.append(
            [str(length), str(2 * length), str(groups[0]["count"]), str(len(shares)), _mean(shares)]
        )
    long_header = ["input length", "output length", "strings", "seeds", "exact match"]
    return f"{_markdown(header, rows)}\n\n{_markdown(long_header, beyond)}"


def parsing_table(records: Sequence[Record], task: str) -> str:
    """The task's accuracy with and without grammar, in Markdown."""
    judge, rows = PARSING_TABLES[task]
    header = ["model", "split", "seeds", "paper, grammar", "ftor, grammar", "paper, none", "ftor, none"]
    header += ["exact match, none", "length error, none", "well-formed, none", "minutes"]
    lines = []
    for (model, split), (experiment, with_grammar, without) in rows.items():
        runs = _runs(records, experiment)
        tests = [run["test"] for run in runs]
        constrained = [run["test_grammar"] for run in runs if "test_grammar" in run]
        paper, ours = "–", "–"
        if with_grammar is not None:
            paper = f"{with_grammar:.1f}"
            ours = _mean([100 * found["shares"][judge] for found in constrained])
        lines.append(
            [
                *(model, split, str(len(runs)), paper, ours, f"{without:.1f}"),
                _mean([100 * found["shares"][judge] for found in tests]),
                _mean([100 * found["exact_match"] for found in tests]),
                _mean([found["length_error"] for found in tests], digits=2),
                _well_formed(tests),
                _mean([(run["seconds"] + run["dev_seconds"]) / 60 for run in runs]),
            ]
        )
    return _markdown(header, lines)


def _well_formed(tests: Sequence[Record]) -> str:
    """The share of well-formed outputs; a model that has no grammar is not judged by one."""
    shares = [found["shares"].get("well_formed") for found in tests]
    if any(share is None for share in shares):
        return "–"
    return _mean([100 * share for share in shares])


def style_table(records: Sequence[Record]) -> str:
    """All scores of style transfer, in Markdown, beside those of outputs that take no model."""
    lines = []
    for task, (experiment, paper) in STYLE_ROWS.items():
        runs, file = _runs(records, experiment), Config.load(experiment).data.test
        lines.append([task, "F→R, paper", "3", *paper, "–"])
        minutes = _mean([(run["seconds"] + run["dev_seconds"]) / 60 for run in runs])
        lines.append([task, "F→R, ftor", str(len(runs)), *_scores([run["test"] for run in runs]), minutes])
        for name in TRIVIAL:
            found = [r["metrics"] for r in records if r["experiment"] == name and r.get("file") == file]
            lines.append([task, name, "–", *_scores(found), "–"])
    return _markdown(["task", "model", "seeds", *STYLE_SCORES, "minutes"], lines)


def _scores(metrics: Sequence[Record]) -> list[str]:
    """The mean of each score over several runs; of METEOR over those that had Java."""
    cells = []
    for name in STYLE_SCORES:
        factor, digits = (1, 3) if name == CIDER else (100, 1)
        values = [factor * found["scores"][name] for found in metrics if name in found["scores"]]
        cells.append(_mean(values, digits))
    return cells


def _runs(records: Iterable[Record], experiment: str) -> list[Record]:
    return [record for record in _as_shipped(records, experiment) if record.get("test")]


def _as_shipped(records: Iterable[Record], experiment: str) -> list[Record]:
    """The runs of an experiment with the configuration that is shipped, nothing changed but the seed."""
    wanted = Config.load(experiment).hash
    return [r for r in records if r["experiment"] == experiment and r.get("config") == wanted]


def _group(metrics: Record, length: int) -> list[Record]:
    return [group for group in metrics["by_length"] if group["length"] == length]


def _accuracy(metrics: Record, lengths: range) -> float:
    """Exact match in percent over all examples of such lengths."""
    groups = [group for length in lengths for group in _group(metrics, length)]
    right = sum(group["count"] * group["exact_match"] for group in groups)
    count = sum(group["count"] for group in groups)
    return float(100 * right / count) if count else math.nan


def _mean(values: Sequence[float], digits: int = 1) -> str:
    """The mean and, of several, the standard deviation."""
    if not values:
        return "not run"
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread}"


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables(ledgers: Path) -> dict[str, str]:
    """All tables in Markdown, by the task that they are about."""
    if not ledgers.is_dir():
        raise FtorError(f"{ledgers}: expected a folder of ledgers, found none")
    records = read_ledgers(ledgers)
    parsing = {task: parsing_table(records, task) for task in PARSING_TABLES}
    return {"Mirror": mirror_tables(records), **parsing, "Style": style_table(records)}
