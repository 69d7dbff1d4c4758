"""A prediction and its structure as a picture: lines from token to token, and heat maps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from textwrap import wrap

from matplotlib import style
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import text_to_path

from ftor.model.prediction import Prediction, Step, Structure
from ftor.show import drawing
from ftor.show.explain.labels import shortened, stages

FONT = FontProperties(family="DejaVu Sans")
LONGEST = 16  # characters of a token
FAINTEST = 0.02  # smaller weights are not drawn
COLOURS = {"fertility": "#1b5e9e", "reordering": "#c4511b"}
SYMBOLS = {"fertility": r"$\tilde{F}$", "reordering": r"$\tilde{R}$"}
GREY = "#666666"
COPIED = "#1a7f37"

# Lengths are in inches, font sizes in points.
SIZE = 10.0
LINE = 0.22  # from one line of text to the next
GAP = 0.4  # between parts of the picture
WIDE = 8.0  # a wider picture turns its tokens upright and gets smaller cells in its heat maps
SMALLEST_CELL, LARGEST_CELL = 0.12, 0.3


def save(prediction: Prediction, structure: Structure, path: Path) -> None:
    """Draw into a PNG or SVG file."""
    with style.context("default"):
        drawing.save(_draw(prediction, structure), path, f"{' '.join(prediction.source)} → {prediction.text}")


def _draw(prediction: Prediction, structure: Structure) -> Figure:
    source, *middle, output = stages(prediction, structure)
    copied = frozenset(place for place, mark in enumerate(structure.copied) if mark)
    last = replace(_row(*output, shift=1), copied=copied)
    rows = [_row(*source, shift=-1), *(_row(*stage, shift=0) for stage in middle), last]
    heat_maps = [_HeatMap(*parts) for parts in zip(structure.steps, rows, rows[1:], strict=False)]
    rows_width = max(row.width for row in rows)
    frames = sum(heat_map.frame for heat_map in heat_maps) + GAP * (len(heat_maps) - 1)
    columns = sum(len(heat_map.after.labels) for heat_map in heat_maps)
    cell = min(max((max(rows_width, WIDE) - frames) / columns, SMALLEST_CELL), LARGEST_CELL)
    maps_width = frames + cell * columns
    width = max(rows_width, maps_width)
    # In a figure of one square inch, coordinates are inches. The tight bounding box saves all of it.
    figure = Figure(figsize=(1, 1))
    bottom = _draw_rows(figure, structure.steps, rows, width)
    notes = [f"program  {prediction.program}"] * (prediction.program is not None)
    bottom = _draw_notes(figure, [*notes, *["copied from the source"] * bool(copied)], width, bottom)
    left = (width - maps_width) / 2
    for heat_map in heat_maps:
        heat_map.draw(figure, left, bottom - GAP, cell)
        left += heat_map.frame + cell * len(heat_map.after.labels) + GAP
    return figure


@dataclass(frozen=True)
class _Row:
    """A row of tokens. Each has an equal share of the width and stands in the middle of it.

    Labels that are copied from the source are green.
    Upright labels stand at the bottom of the row (shift −1), in the middle (0), or hang from its top (1).
    """

    name: str
    labels: tuple[str, ...]
    shift: int
    upright: bool
    copied: frozenset[int] = frozenset()

    @property
    def width(self) -> float:
        return len(self.labels) * (LINE if self.upright else max(_widest(self.labels) + 0.1, LINE))

    @property
    def height(self) -> float:
        return _widest(self.labels) + 0.1 if self.upright else LINE

    def slack(self, label: str) -> float:
        """Return how much higher the row is than the label."""
        return _widest(self.labels) - _widest((label,)) if self.upright else 0.0

    def place(self, position: int, width: float) -> float:
        return (position + 0.5) * width / len(self.labels)


def _row(name: str, tokens: Sequence[str], shift: int) -> _Row:
    labels = tuple(_drawable(shortened(token, LONGEST)) for token in tokens)
    row, upright = (_Row(name, labels, shift, upright) for upright in (False, True))
    return upright if row.width > max(WIDE, 1.5 * upright.width) else row


def _draw_rows(figure: Figure, steps: Sequence[Step], rows: Sequence[_Row], width: float) -> float:
    """Draw the rows from y = 0 downwards, and the lines of the steps between them. Returns the lowest y."""
    between = min(max(0.12 * width, 0.9), 1.6)
    height = sum(row.height for row in rows) + between * len(steps)
    axes = figure.add_axes((0, -height, width, height), xlim=(0, width), ylim=(-height, 0))
    axes.axis("off")
    name = {"color": GREY, "style": "italic", "fontsize": SIZE - 1, "ha": "right", "va": "center"}
    top = 0.0
    for place, row in enumerate(rows):
        middle = top - row.height / 2
        axes.text(-0.15, middle, row.name, name)
        for position, label in enumerate(row.labels):
            centred = {"ha": "center", "va": "center", "rotation": 90 if row.upright else 0}
            x, y = row.place(position, width), middle + row.shift * row.slack(label) / 2
            colour = COPIED if position in row.copied else "black"
            axes.text(x, y, label, centred, fontsize=SIZE, color=colour, parse_math=False)
        top -= row.height
        if place < len(steps):
            step = steps[place]
            axes.text(-0.15, top - between / 2, step.name, name | {"color": COLOURS[step.name]})
            axes.add_collection(_lines(step, row, rows[place + 1], width, top, top - between))
            top -= between
    return top


def _draw_notes(figure: Figure, notes: Sequence[str], width: float, top: float) -> float:
    """Draw lines of text below the rows. Returns the lowest y."""
    if not notes:
        return top
    lines = [line for note in notes for line in wrap(note, max(int(width / 0.085), 40))]
    height = LINE * (len(lines) + 1)
    axes = figure.add_axes((0, top - height, width, height), xlim=(0, width), ylim=(-height, 0))
    axes.axis("off")
    for number, line in enumerate(lines, 1):
        colour = COPIED if line == "copied from the source" else GREY
        axes.text(0, -number * LINE, _drawable(line), fontsize=SIZE - 1, color=colour, parse_math=False)
    return top - height


def _lines(step: Step, above: _Row, below: _Row, width: float, top: float, bottom: float) -> LineCollection:
    """Return lines from label to label. Inside a row, between a short label and the edge, they run down."""
    weights = sorted(
        (float(weight), i, o)
        for i, row in enumerate(step.marginals)
        for o, weight in enumerate(row)
        if weight >= FAINTEST
    )  # the strongest last, so that they lie over the others
    starts = [top + (1 + above.shift) * above.slack(label) / 2 for label in above.labels]
    ends = [bottom - (1 - below.shift) * below.slack(label) / 2 for label in below.labels]
    x, y = ([row.place(position, width) for position in range(len(row.labels))] for row in (above, below))
    return LineCollection(
        [[(x[i], starts[i]), (x[i], top), (y[o], bottom), (y[o], ends[o])] for _, i, o in weights],
        colors=[to_rgba(COLOURS[step.name], min(weight, 1.0)) for weight, _, _ in weights],
        linewidths=[0.5 + 1.5 * weight for weight, _, _ in weights],
    )


@dataclass(frozen=True)
class _HeatMap:
    """The heat map of a step."""

    step: Step
    before: _Row
    after: _Row

    @property
    def frame(self) -> float:
        """The width beside the cells: labels and colour bar."""
        return self.margin + 0.35

    @property
    def margin(self) -> float:
        return _widest(self.before.labels) + LINE + 0.1

    def draw(self, figure: Figure, left: float, top: float, cell: float) -> None:
        columns, rows = self.after.labels, self.before.labels
        width, height, size = cell * len(columns), cell * len(rows), min(SIZE - 1, 72 * 0.8 * cell)
        left, bottom = left + self.margin, top - LINE - height
        colour = COLOURS[self.step.name]
        shades = LinearSegmentedColormap.from_list(self.step.name, ["white", colour])
        axes = figure.add_axes((left, bottom, width, height))
        image = axes.imshow(self.step.marginals, cmap=shades, vmin=0, vmax=1, aspect="auto")
        axes.set_title(f"{SYMBOLS[self.step.name]}  {self.step.name}", fontsize=SIZE, color=colour, pad=4)
        angle = 0 if _widest(columns) * size / SIZE < 0.9 * cell else 90
        axes.set_xticks(range(len(columns)), columns, rotation=angle, parse_math=False)
        axes.set_yticks(range(len(rows)), rows, parse_math=False)
        axes.set_xlabel(self.after.name, color=GREY, style="italic", fontsize=size)
        axes.set_ylabel(self.before.name, color=GREY, style="italic", fontsize=size)
        bar = figure.add_axes((left + width + 0.08, bottom, 0.08, height))
        figure.colorbar(image, cax=bar, ticks=[0, 1])
        for framed in (axes, bar):
            framed.tick_params(length=0, pad=2, labelsize=size)
            framed.spines[:].set(color=GREY, linewidth=0.5)


@lru_cache(maxsize=1000)
def _widest(labels: tuple[str, ...]) -> float:
    """Return the width of the widest label in font size `SIZE`."""
    font = FONT.copy()
    font.set_size(SIZE)
    widths = (text_to_path.get_text_width_height_descent(label, font, ismath=False)[0] for label in labels)
    return max(widths, default=0.0) / 72


def _drawable(label: str) -> str:
    """Return the label with □ for characters that the font does not have."""
    font = get_font(findfont(FONT))
    return "".join(letter if font.get_char_index(ord(letter)) else "□" for letter in label)
