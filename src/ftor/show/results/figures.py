"""Figures of results: accuracy by length and by parameters, training curves, time by length."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator, ScalarFormatter

from ftor.lab.lines import Line
from ftor.lab.paper import WITH_GRAMMAR, WITHOUT
from ftor.lab.series import (
    CURVES,
    DEV_PARAMETERS,
    Curve,
    Series,
    Span,
    Timing,
    accuracy_by_length,
    accuracy_by_parameters,
    fingerprint,
    time_by_length,
    training_curves,
)
from ftor.reporting import Report
from ftor.show.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LIGHT_GREY,
    ORANGE,
    PINK,
    SKY,
    YELLOW,
    house_style,
    save,
)

COLOURS = {
    "F→R": BLUE,
    "R→F": ORANGE,
    "AR F→R": GREEN,
    "AR R→F": PINK,
    "LSTM": YELLOW,
    "Transformer": SKY,
    "Transformer, small": BLACK,
    "BART-base": LIGHT_GREY,
}
PAPER_LINE = (0, (4, 2))
PAPER_MARKER: dict[str, Any] = {"marker": "s", "markersize": 7.5, "markerfacecolor": "white"}
LAST_LENGTH = 20
"""The longest input of mirror's test pairs."""
METRIC_NAMES = {
    "exact_match": "exact match",
    "execution_accuracy": "execution accuracy",
    "tree_accuracy": "accuracy",
    "clause_accuracy": "accuracy",
}


def draw(
    folder: Path, lines: Sequence[Line], tables: Iterable[str], runs: Path, report: Report
) -> list[Path]:
    """Draw the figures of some tables into a folder, as SVG, and return their paths.

    Args:
        folder: where the figures go.
        lines: those of the ledgers.
        tables: names of the paper's tables.
        runs: the folder of the run folders, for training curves.
        report: receives which figures have no data.
    """
    written = []
    with house_style():
        for name, title, series, figure in _figures(lines, tables, runs, report):
            written.append(folder / f"{name}.svg")
            save(figure, written[-1], title, f"numbers: {fingerprint(series)}")
    return written


def _figures(
    lines: Sequence[Line], tables: Iterable[str], runs: Path, report: Report
) -> Iterator[tuple[str, str, object, Figure]]:
    """Yield the name, the title, the numbers and the drawing of each figure."""
    for table in tables:
        if table == "mirror":
            lengths = accuracy_by_length(lines)
            yield "mirror-by-length", "Exact match on mirror by length", lengths, by_length(lengths)
            times = time_by_length(lines)
            if times:
                yield "time-by-length", "Time by output length", times, by_output_length(times)
            else:
                report.say("no times by output length; benchmarks/output_length.py --ledger records them")
        if table == "okapi":
            parameters = accuracy_by_parameters(lines)
            title = "Accuracy on Okapi's document domain by number of parameters"
            yield "okapi-by-parameters", title, parameters, by_parameters(parameters)
        curves = training_curves(runs, table, report)
        if curves:
            yield f"{table}-training", f"Training curves of {table}", curves, training(curves, CURVES[table])
        else:
            report.say(f"no training curves of {table}: no run of its shipped experiments in {runs}")


def by_length(series: Sequence[Series]) -> Figure:
    """Draw exact match on mirror: one panel per model, the paper's numbers dashed."""
    shown = [line for line in series if line.points or line.paper]
    columns = 4
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(9.5, 2.3 * rows + 0.5), layout="constrained")
    for place, line in enumerate(shown, 1):
        axes = figure.add_subplot(rows, columns, place)
        far = [point.x for point in line.points if point.x > LAST_LENGTH]
        places = {length: LAST_LENGTH + 2 + 2.5 * number for number, length in enumerate(far)}
        ticks = [*range(10, LAST_LENGTH + 1, 5 if far else 2), *far]
        axes.set_xticks([places.get(length, length) for length in ticks], list(map(str, ticks)))
        axes.set_xlim(9.2, max(places.values(), default=LAST_LENGTH) + 0.8)
        _percent(axes)
        _line(axes, line, places)
        if far:  # far lengths stand side by side behind a line, to leave room for the others
            axes.axvline(LAST_LENGTH + 1, color=GREY, linewidth=0.8, linestyle=":")
        axes.set_title(line.model, color=COLOURS[line.model], loc="left", fontweight="bold")
        if not line.points:
            axes.text(0.97, 0.5, "not run", transform=axes.transAxes, ha="right", color=GREY, style="italic")
        if place > len(shown) - columns:
            axes.set_xlabel("input length, symbols")
        axes.tick_params(labelleft=place % columns == 1)
        if place % columns == 1:
            axes.set_ylabel("exact match, %")
    if len(shown) < rows * columns:
        legend = figure.add_subplot(rows, columns, rows * columns)
        legend.axis("off")
        legend.legend(handles=_legend(), loc="center left", borderaxespad=0)
    else:
        figure.legend(handles=_legend(), loc="outside lower center", ncols=3)
    return figure


def by_parameters(series: dict[str, list[Series]]) -> Figure:
    """Draw accuracy on Okapi's document domain, with a grammar and without."""
    figure = Figure(figsize=(7.5, 3.3), layout="constrained")
    titles = {WITH_GRAMMAR: "with the grammar", WITHOUT: "without"}
    points = [point for lines in series.values() for line in lines for point in line.points]
    counts = {point.x: point.examples for point in points}
    for place, (decoding, lines) in enumerate(series.items(), 1):
        axes = figure.add_subplot(1, len(series), place)
        _percent(axes)
        for line in lines:
            _line(axes, line)
        axes.set_title(titles[decoding], loc="left")
        axes.set_xlim(3.6, 7.4)
        axes.set_xticks(
            range(4, 8), [f"{x}\n{counts[x]} pairs" if x in counts else str(x) for x in range(4, 8)]
        )
        axes.axvline(DEV_PARAMETERS + 0.5, color=GREY, linewidth=0.8, linestyle=":")
        for x, name in ((DEV_PARAMETERS + 0.45, "dev"), (DEV_PARAMETERS + 0.55, "test")):
            axes.text(x, 98, name, ha="right" if name == "dev" else "left", color=GREY, style="italic")
        axes.set_xlabel("parameters in the gold program")
        if place == 1:
            axes.set_ylabel("accuracy, %")
    models = dict.fromkeys(line.model for lines in series.values() for line in lines)
    handles = [Line2D([], [], color=COLOURS[model], label=model) for model in models]
    figure.legend(handles=[*handles, *_legend()], loc="outside lower center", ncols=5)
    return figure


def _percent(axes: Axes) -> None:
    axes.set_ylim(-4, 104)
    axes.set_yticks(range(0, 101, 20))


def _line(axes: Axes, line: Series, places: Mapping[int, float] | None = None) -> None:
    """Draw a model's means and standard deviations, and the paper's numbers dashed and hollow.

    `places` moves some points: it gives their place on the x-axis by their x.
    """
    colour = COLOURS[line.model]
    for span in line.paper:
        _paper(axes, span, colour)
    if line.points:
        x = [(places or {}).get(point.x, point.x) for point in line.points]
        mean = np.array([point.ours.mean for point in line.points])
        deviation = np.array([point.ours.deviation or 0.0 for point in line.points])
        axes.fill_between(
            x, (mean - deviation).clip(0), (mean + deviation).clip(max=100), color=colour, alpha=0.18, lw=0
        )
        axes.plot(x, mean, color=colour, marker="o", markersize=3.5, zorder=4)


def _paper(axes: Axes, span: Span, colour: str) -> None:
    ends = [span.first, span.last]
    axes.plot(ends, [span.number.mean] * 2, color=colour, linestyle=PAPER_LINE, linewidth=1.4)
    axes.errorbar(
        (span.first + span.last) / 2,
        span.number.mean,
        span.number.deviation,
        color=colour,
        markeredgewidth=1.2,
        elinewidth=1,
        capsize=3,
        zorder=3,
        **PAPER_MARKER,
    )


def _legend() -> list[Line2D]:
    ours = Line2D([], [], color=GREY, marker="o", markersize=3.5, label="ftor, mean ± deviation")
    paper = Line2D([], [], color=GREY, linestyle=PAPER_LINE, linewidth=1.4, label="paper", **PAPER_MARKER)
    return [ours, paper]


def training(curves: Sequence[Curve], metric: str) -> Figure:
    """Draw a dev metric by epoch: one panel per split, thin lines for seeds, thick lines for their means."""
    splits = list(dict.fromkeys(curve.split for curve in curves))
    figure = Figure(figsize=(3.2 * len(splits) + 0.4, 3.2), layout="constrained")
    for place, split in enumerate(splits, 1):
        axes = figure.add_subplot(1, len(splits), place)
        for curve in curves:
            if curve.split == split:
                _curve(axes, curve)
        axes.set_title(split, loc="left")
        axes.set_xlim(left=0)
        axes.set_ylim(-4, 104) if metric != "BLEU-3" else axes.set_ylim(bottom=0)
        axes.set_xlabel("epoch")
        if place == 1:
            name = METRIC_NAMES.get(metric, metric)
            axes.set_ylabel(f"dev {name} × 100" if name == metric else f"dev {name}, %")
    models = dict.fromkeys(curve.model for curve in curves)
    handles = [Line2D([], [], color=COLOURS[model], label=model) for model in models]
    handles.append(Line2D([], [], color=GREY, linewidth=0.7, alpha=0.6, label="one seed"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def _curve(axes: Axes, curve: Curve) -> None:
    colour = COLOURS[curve.model]
    shortest = min(map(len, curve.seeds.values()))
    for values in curve.seeds.values():
        axes.plot(range(1, len(values) + 1), values, color=colour, linewidth=0.7, alpha=0.5)
    mean = np.mean([values[:shortest] for values in curve.seeds.values()], axis=0)
    axes.plot(range(1, shortest + 1), mean, color=colour)


def by_output_length(times: Sequence[Timing]) -> Figure:
    """Draw milliseconds per sentence on logarithmic axes, beside a line of cubic cost."""
    figure = Figure(figsize=(4.8, 3.4), layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log")
    for timing in times:
        milliseconds = [1000 * seconds for seconds in timing.seconds]
        axes.plot(timing.lengths, milliseconds, color=COLOURS["F→R"], marker="o", markersize=3.5)
        last, most = timing.lengths[-1], milliseconds[-1]
        axes.plot([last / 4, last], [most / 4**3, most], color=GREY, linewidth=1, linestyle=PAPER_LINE)
        axes.annotate("∝ length³", (last / 4, most / 4**3), (6, -3), textcoords="offset points", color=GREY)
    axes.set_xticks([10, 20, 50, 100, 200])
    axes.set_yticks([5, 10, 20, 50, 100, 200, 500])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(ScalarFormatter())
    axes.set_xlabel("output length, tokens")
    axes.set_ylabel("milliseconds per sentence")
    return figure
