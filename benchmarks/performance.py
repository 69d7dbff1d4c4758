"""Writes docs/performance.md from the figures that the other benchmarks wrote: all times on one page."""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
Figures = Mapping[str, Any]
Find = Callable[[Figures], tuple[float, float | None]]
NOT_MEASURED = "not measured"


class Row(NamedTuple):
    """A row of the page.

    Attributes:
        what: is measured.
        benchmark: that measures it.
        find: gives its time, and the time of its floating-point work if that is known. A KeyError means that
            it was not measured.
        unit: of both.
        aim: in words.
        released: the time of the released research code on the same kind of machine.
    """

    what: str
    benchmark: str
    find: Find
    unit: str
    aim: str
    released: str = NOT_MEASURED


def _in_products(what: str) -> Find:
    def find(figures: Figures) -> tuple[float, float | None]:
        row = _row(figures, what)
        return row["products"], row["products"] / row["ratio"]

    return find


def _epoch(what: str) -> Find:
    def find(figures: Figures) -> tuple[float, float | None]:
        row = _row(figures, what)
        return row["seconds"], row["work_seconds"]

    return find


def _row(figures: Figures, what: str) -> Figures:
    rows: dict[str, Figures] = {row["what"]: row for row in figures["rows"]}
    return rows[what]


def _alone(*keys: str) -> Find:
    def find(figures: Figures) -> tuple[float, float | None]:
        value: Any = figures
        for key in keys:
            value = value[key]
        return value, None

    return find


_MIRROR, _GEOQUERY, _FIRST = "mirror, ms", "Geoquery with grammar, ms", "first use, s"
ROWS = (
    Row(
        "reordering, forward and backward, batch 32, l 30, D 200",
        "arithmetic",
        _in_products("reordering"),
        "products of 1600²",
        "0.58",
        "67 × as long (published algorithm in torch)",
    ),
    Row("mirror epoch", "arithmetic", _epoch("mirror epoch"), "s", "2.0 × its work", "39.5 s (two threads)"),
    Row("Geoquery epoch", "arithmetic", _epoch("Geoquery epoch"), "s", "2.0 × its work", "5 s (two threads)"),
    Row(
        "ATIS-length epoch",
        "arithmetic",
        _epoch("ATIS-length epoch"),
        "s",
        "1.6 × its work",
        "130 s (two threads)",
    ),
    Row("one sentence, mirror, 10 words", "latency", _alone(_MIRROR, "answer"), "ms", "4 ms"),
    Row("the same with structure", "latency", _alone(_MIRROR, "with structure"), "ms", ""),
    Row(
        "one sentence, Geoquery with grammar, five lengths",
        "latency",
        _alone(_GEOQUERY, "answer"),
        "ms",
        "10 ms",
        "112 ms (ATIS, in batches, two threads)",
    ),
    Row("the same with structure", "latency", _alone(_GEOQUERY, "with structure"), "ms", ""),
    Row(
        "500 output tokens, one sentence",
        "latency",
        _alone("mirror, long output, s", "500 tokens"),
        "s",
        "5 s",
    ),
    Row(
        "first use: a training step and a sentence, nothing compiled",
        "latency",
        _alone(_FIRST, "nothing compiled"),
        "s",
        "3 s",
    ),
    Row("the same, compiled kernels on disk", "latency", _alone(_FIRST, "compiled kernels on disk"), "s", ""),
    Row(
        "the same, kernels that a wheel brings",
        "latency",
        _alone(_FIRST, "kernels that a wheel brings"),
        "s",
        "3 s",
    ),
    Row(
        "`import ftor.nn` beyond torch's own",
        "import_time",
        _alone("seconds", "import ftor.nn, after torch"),
        "s",
        "0.06 s",
    ),
)
HEAD = """# Performance

Written by `make bench`. Do not edit it.

Times of one thread are processor times, so other programs change them little. Times of several threads are
times on the clock. The floating-point work is that of products, recurrences, span scores and trees. Its
time is what a product of two matrices of 1600² takes for as much work in the same run. The released code was
measured earlier, on two idle cores of the same kind. [Speed](lab-notes/speed.md) says how the parts were made
faster, and what did not help.
"""


def row_cells(row: Row, files: Mapping[str, Figures]) -> list[str]:
    """The cells of a row. It was not measured if its figures are not there."""
    try:
        value, work = row.find(files[row.benchmark])
    except KeyError:
        return [row.what, NOT_MEASURED, "", "", row.aim, row.released]
    beside = ["", ""] if work is None else [f"{work:.2g} {row.unit}", f"{value / work:.1f}"]
    return [row.what, f"{value:.2g} {row.unit}", *beside, row.aim, row.released]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(line)} |".replace("|  |", "| |").replace("|  |", "| |") for line in lines]


def growth_table(figures: Figures) -> list[str]:
    """Fitted and documented exponents."""
    rows = [
        [
            row["what"],
            row["size"],
            *(f"{row[key]:.1f} of {row[f'{key}_documented']:g}" for key in ("time", "memory")),
        ]
        for row in figures["growth"]
    ]
    text = "Fitted exponents of time and memory in one size, and the documented ones."
    return ["## Growth", "", text, "", *_table(["what", "size", "time", "memory"], rows), ""]


def page(files: Mapping[str, Figures]) -> str:
    """The page, from the figures of each benchmark by its name."""
    header = ["what", "time", "its floating-point work", "ratio", "aim", "released code"]
    lines = [HEAD, *_table(header, [row_cells(row, files) for row in ROWS]), ""]
    if "growth" in files:
        lines += growth_table(files["growth"])
    lines += ["## Commands and machines", ""]
    lines += [f"    python benchmarks/{name}.py" for name in files]
    lines += ["", *(f"- {name}: {_machine(figures['machine'])}" for name, figures in files.items()), ""]
    return "\n".join(lines)


def _machine(machine: Figures) -> str:
    threads = "one thread" if machine["threads"] == 1 else f"{machine['threads']} threads"
    return (
        f"{machine['processor']}, {machine['cores']} cores, {threads}, load {machine['load_average']:.1f}, "
        f"Python {machine['python']}, torch {machine['torch']}"
    )


def main() -> None:
    """Read the figures and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, epilog="example: python benchmarks/performance.py")
    folder, out = ROOT / "benchmarks" / "out", ROOT / "docs" / "performance.md"
    parser.add_argument("--figures", type=Path, default=folder, metavar="DIR", help="default: benchmarks/out")
    parser.add_argument(
        "--out", type=Path, default=out, metavar="FILE.md", help="default: docs/performance.md"
    )
    options = parser.parse_args()
    names = dict.fromkeys([*(row.benchmark for row in ROWS), "growth"])
    paths = {name: options.figures / f"{name}.json" for name in names}
    files = {name: json.loads(path.read_text("utf-8")) for name, path in paths.items() if path.is_file()}
    if not files:
        raise SystemExit(f"{options.figures}: no figures; run `make bench`")
    options.out.write_text(page(files), "utf-8")
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
