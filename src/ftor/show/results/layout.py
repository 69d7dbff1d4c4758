"""Tables of results as cells of text. All formats but JSON are made of them."""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from ftor.lab.aims import Aim
from ftor.lab.measured import Comparison, Measured
from ftor.lab.paper import LENGTHS, WITH_GRAMMAR, WITHOUT, PaperNumber
from ftor.lab.tables import READ, TRAINED, ResultRow, ResultTable, Runs

NONE, NOT_RUN, SAME = "–", "not run", "as shipped"
RELEASED, SHIPPED, BEYOND = "paper's settings", "as shipped", "beyond"
MORE_THAN_CHANCE = "†"
_COLUMN_HEADERS = {"mirror": "tested on", "style": "score"}
_COLUMN_LABELS = {WITH_GRAMMAR: "with grammar", WITHOUT: "without"} | {
    name: f"length {name}" for name in LENGTHS
}
_DETAIL_DIGITS = {"length error": 2, TRAINED: 2}


class Grid(NamedTuple):
    """A table of cells.

    Attributes:
        keys: the number of columns, from the left, that name what a line is about. The others are numbers.
    """

    caption: str
    header: tuple[str, ...]
    lines: list[tuple[str, ...]]
    keys: int

    def sections(self) -> list[list[tuple[str, ...]]]:
        """Return the lines of each model, or of each split if there is one model.

        A name that the line above has too is left out.
        """
        several = [place for place in range(self.keys - 1) if len({line[place] for line in self.lines}) > 1]
        by = several[0] if several else None
        sections = []
        for _, group in groupby(self.lines, key=lambda line: None if by is None else line[by]):
            lines = list(group)
            above = [("",) * len(self.header), *lines[:-1]]
            sections.append([self._below(*pair) for pair in zip(above, lines, strict=True)])
        return sections

    def _below(self, above: tuple[str, ...], line: tuple[str, ...]) -> tuple[str, ...]:
        same = 0
        while same < self.keys - 1 and above[same] == line[same]:
            same += 1
        return ("",) * same + line[same:]


def grids(table: ResultTable) -> list[Grid]:
    """Return the comparison with the paper, what the seeds say, and the other numbers of the runs."""
    parts = [_comparisons(table)]
    if table.runs:
        parts += [_seeds(table), _details(table)]
    if any(row.appendix for row in table.rows):
        parts.append(_appendix(table))
    if table.has_beyond and any(row.aim for row in table.rows):
        parts.append(_aims(table))
    if table.far_beyond:
        parts.append(_far_beyond(table))
    if any(table.by_parameters.values()):
        parts.append(_by_parameters(table))
    return parts


def notes(table: ResultTable) -> list[str]:
    """Return the notes below a table: the time of the runs, and what has not been run."""
    lines = [f"Total time: {table.hours:.1f} hours, {table.runs} run{'s' * (table.runs != 1)}."]
    if any(MORE_THAN_CHANCE in cell for line in _comparisons(table).lines for cell in line):
        lines.insert(
            0, f"{MORE_THAN_CHANCE}: the seeds do not explain the difference to the paper (p < 0.05)."
        )
    for why in dict.fromkeys(row.missing for row in table.not_run):
        rows = _listed((row.model, row.split) for row in table.not_run if row.missing == why)
        lines.append(f"{why[:1].upper()}{why[1:]}: {rows}." if why else f"Not run: {rows}.")
    if table.not_run_released:
        rows = _listed((row.model, row.split) for row in table.not_run_released)
        lines.append(f"Not run with the {RELEASED}: {rows}.")
    if table.fewer_seeds:
        few = _listed((row.model, f"{row.split} {len(row.shipped.seeds)}") for row in table.fewer_seeds)
        lines.append(f"Fewer seeds than the paper's {table.paper_seeds}: {few}.")
    released = [(row, row.released) for row in table.fewer_seeds_released if row.released]
    if released:
        few = _listed((row.model, f"{row.split} {len(runs.seeds)}") for row, runs in released)
        lines.append(f"Fewer seeds with the {RELEASED}: {few}.")
    return lines


def _comparisons(table: ResultTable) -> Grid:
    trivial = tuple(table.rows[0].comparisons[0].trivial)
    column = _COLUMN_HEADERS.get(table.name, "decoding")
    ours = (RELEASED, "difference", SHIPPED, "difference")
    beyond = (BEYOND, "difference") if table.has_beyond else ()
    lines = [
        (
            *(row.model, row.split, *_comparison(row, compared)),
            *(_beyond(row, compared) if beyond else ()),
            *(_trivial(compared, name) for name in trivial),
        )
        for row in table.rows
        for compared in row.comparisons
    ]
    header = ("model", "split", column, "paper", *ours, *beyond, *trivial)
    return Grid(f"{table.title}: {table.measure}", header, lines, keys=3)


def _appendix(table: ResultTable) -> Grid:
    beyond = (BEYOND, "difference") if table.has_beyond else ()
    lines = [
        (row.model, row.split, *_comparison(row, each), *(_beyond(row, each) if beyond else ()))
        for row in table.rows
        for each in row.appendix
    ]
    header = ("model", "split", "measure", "paper", RELEASED, "difference", SHIPPED, "difference", *beyond)
    return Grid(f"{table.title}: the tables of the paper's appendix", header, lines, keys=3)


def _aims(table: ResultTable) -> Grid:
    """What runs beyond the paper were to reach, and whether they do."""
    lines = [
        _aim(row.split, row.aim, each)
        for row in table.rows
        if row.aim is not None
        for each in row.comparisons
        if each.column == row.aim.column
    ]
    header = ("split", "paper", "best published", SHIPPED, BEYOND, "worst seed", "seeds", "aim", "reached")
    (column,) = {row.aim.column for row in table.rows if row.aim is not None}
    measure = _COLUMN_LABELS.get(column, column)
    return Grid(f"{table.title}: beyond the paper and our aims, {measure}", header, lines, keys=1)


def _aim(split: str, aim: Aim, compared: Comparison) -> tuple[str, ...]:
    digits, beyond, paper = compared.digits, compared.beyond, compared.paper
    published = NONE if aim.published is None else f"{aim.published:.{0 if aim.rounded else digits}f}"
    numbers = (
        with_deviation(paper, digits) if paper else NONE,
        f"≈ {published}" if aim.rounded else published,
        _measured(compared.ours, digits),
        _measured(beyond, digits),
    )
    if beyond is None:
        return (split, *numbers, NONE, NONE, f"{aim.aim:.{digits}f}", NONE)
    short = round(aim.aim - beyond.mean, digits)
    reached = "yes" if short <= 0 else f"no, {signed(-short, digits)}"
    return (
        *(split, *numbers, f"{beyond.worst:.{digits}f}", str(beyond.n), f"{aim.aim:.{digits}f}", reached),
    )


def _by_parameters(table: ResultTable) -> Grid:
    by_decoding = {
        decoding: {point.x: point for point in points} for decoding, points in table.by_parameters.items()
    }
    header = ("parameters", "examples", *(_COLUMN_LABELS[decoding] for decoding in by_decoding), "seeds")
    lines = []
    for x, point in by_decoding[WITHOUT].items():
        cells = (points[x].ours if x in points else None for points in by_decoding.values())
        shown = (_measured(ours, 1) for ours in cells)
        lines.append((str(x), str(point.examples), *shown, str(point.ours.n)))
    caption = f"{table.title}: F→R on the document domain by the number of parameters, as shipped"
    return Grid(caption, header, lines, keys=1)


def _comparison(row: ResultRow, compared: Comparison) -> tuple[str, ...]:
    paper, ours, digits = compared.paper, compared.ours, compared.digits
    released = _measured(compared.released, digits) if row.released is not None else SAME
    return (
        _COLUMN_LABELS.get(compared.column, compared.column),
        with_deviation(paper, digits) if paper else NONE,
        released,
        _difference(compared, compared.released if row.released is not None else None),
        row.missing if row.missing and ours is None else _measured(ours, digits),
        _difference(compared, ours),
    )


def _beyond(row: ResultRow, compared: Comparison) -> tuple[str, str]:
    """The number beyond the paper, and its difference to the paper's."""
    if row.beyond is None:
        return NONE, NONE
    return _measured(compared.beyond, compared.digits), _difference(compared, compared.beyond)


def _measured(ours: Measured | None, digits: int) -> str:
    return with_deviation(ours, digits) if ours else NOT_RUN


def _difference(compared: Comparison, ours: Measured | None) -> str:
    difference = compared.difference_of(ours)
    if difference is None:
        return NONE
    mark = MORE_THAN_CHANCE if compared.within_chance(ours) is False else ""
    return signed(difference, compared.digits) + mark


def _seeds(table: ResultTable) -> Grid:
    column = _COLUMN_HEADERS.get(table.name, "decoding")
    header = ("model", "split", column, "settings", "seeds", "worst seed", "95 % interval", "within chance")
    lines = [
        (row.model, row.split, _COLUMN_LABELS.get(compared.column, compared.column), *cells)
        for row in table.rows
        for compared in row.comparisons
        for cells in _seed_cells(row, compared)
    ]
    caption = f"{table.title}: the seeds behind the means, the interval of the mean over test examples"
    return Grid(caption, header, lines, keys=4)


def _seed_cells(row: ResultRow, compared: Comparison) -> Iterable[tuple[str, ...]]:
    digits, settings = compared.digits, {SHIPPED: compared.ours, BEYOND: compared.beyond}
    if row.released is not None:
        settings = {RELEASED: compared.released, **settings}
    for name, ours in settings.items():
        if ours is not None:
            bounds = ours.interval
            interval = NONE if bounds is None else f"{bounds.low:.{digits}f} – {bounds.high:.{digits}f}"
            chance = {True: "yes", False: "no", None: NONE}[compared.within_chance(ours)]
            yield name, str(ours.n), f"{ours.worst:.{digits}f}", interval, chance


def _trivial(compared: Comparison, name: str) -> str:
    score = compared.trivial[name]
    return NOT_RUN if score is None else f"{score:.{compared.digits}f}"


def _details(table: ResultTable) -> Grid:
    rows = [(row, runs) for row in table.rows for runs in row.all_runs if runs.seeds]
    names = [name for name in rows[0][1].details if any(runs.details[name] for _, runs in rows)]
    grammar = ", without the grammar" if table.rows[0].comparisons[0].column == WITH_GRAMMAR else ""
    caption = f"{table.title}{grammar}: shares of outputs in percent, length error in tokens, time per run"
    lines = [_detail(row, runs, names) for row, runs in rows]
    return Grid(caption, ("model", "split", "settings", *names), lines, keys=3)


def _detail(row: ResultRow, runs: Runs, names: Iterable[str]) -> tuple[str, ...]:
    cells = (_detail_cell(name, runs.details[name]) for name in names)
    settings = {row.shipped.experiment: SHIPPED}
    if row.released is not None:
        settings[row.released.experiment] = RELEASED
    return (row.model, row.split, settings.get(runs.experiment, BEYOND), *cells)


def _detail_cell(name: str, value: Measured | None) -> str:
    digits = _DETAIL_DIGITS.get(name, 1)
    if value is None:
        return NONE
    counted = name in (TRAINED, READ)  # the same for all seeds
    return f"{value.mean:.{digits}f}" if counted else with_deviation(value, digits)


def _far_beyond(table: ResultTable) -> Grid:
    header = ("input length", "output length", "strings", "exact match", "seeds")
    lines = [
        (*map(str, (far.x, 2 * far.x, far.examples)), with_deviation(far.ours, 1), str(far.ours.n))
        for far in table.far_beyond
    ]
    return Grid(f"{table.title}: F→R far beyond the lengths of training", header, lines, keys=1)


def with_deviation(number: Measured | PaperNumber, digits: int) -> str:
    """Format a mean with its standard deviation, if that is known."""
    spread = "" if number.deviation is None else f" ± {number.deviation:.{digits}f}"
    return f"{number.mean:.{digits}f}{spread}"


def signed(number: float, digits: int) -> str:
    """Format a number with a sign, or without one if it rounds to 0."""
    shown = f"{abs(number):.{digits}f}"
    return shown if not float(shown) else f"{'−' if number < 0 else '+'}{shown}"


def _listed(pairs: Iterable[tuple[str, str]]) -> str:
    """Return models, each with its splits in parentheses."""
    groups = groupby(pairs, key=lambda pair: pair[0])
    return "; ".join(f"{model} ({', '.join(split for _, split in group)})" for model, group in groups)
