"""A prediction and its structure as text: a summary, the reordering tree, the alignment."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ftor.model.prediction import Prediction, Structure
from ftor.show.explain.labels import shortened, stages
from ftor.show.explain.tree import draw_tree

LONGEST = 24  # characters of a token
SHADES = " ░▒▓█"
COPIED = "underline green"


@dataclass(frozen=True, eq=False)
class View:
    """A prediction for a console. A wide console also shows the probabilities of all source tokens."""

    prediction: Prediction
    structure: Structure

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield _summary(self.prediction, self.structure)
        tree, steps = self.structure.tree, self.structure.steps
        if tree is not None:
            leaves = self.prediction.source if steps[0].name == "reordering" else steps[0].labels
            yield Text("\nreordering tree: ∧ keeps its parts in order, △ reverses their order", style="bold")
            yield from draw_tree(tree, _short(leaves), options.max_width)
        yield Text("\nalignment: where each output token comes from", style="bold")
        table = _alignment(self.prediction, self.structure, shaded=True)
        wanted = Measurement.get(console, options.update(max_width=10_000), table).maximum
        if wanted > options.max_width:
            table = _alignment(self.prediction, self.structure, shaded=False)
        yield table


def _summary(prediction: Prediction, structure: Structure) -> Table:
    grid = Table.grid(padding=(0, 2))
    for number, (name, labels) in enumerate(stages(prediction, structure)):
        is_last = number == len(structure.steps)
        marks = structure.copied if is_last else ()
        grid.add_row(name, _tokens(labels, marks))
        if name == "source":
            grid.add_row("fertilities", _fertilities(labels, structure.fertilities))
        if name == "copies" and structure.tree is not None:
            grid.add_row("reordered", Text(" ".join(structure.tree.apply(_short(labels)))))
    if prediction.program is not None:
        grid.add_row("program", Text(prediction.program))
    assert prediction.length_score is not None  # every prediction with a structure has one
    score, length_score = math.exp(prediction.score), math.exp(prediction.length_score)
    grid.add_row("probability", f"{score:.3g} (of this length: {length_score:.3g})")
    return grid


def _tokens(labels: Sequence[str], copied: Sequence[bool]) -> Text:
    """Return tokens in a row, those that are copied underlined."""
    marks = copied or [False] * len(labels)
    return Text(" ").join(
        Text(label, style=COPIED if mark else "") for label, mark in zip(_short(labels), marks, strict=True)
    )


def _short(tokens: Iterable[str]) -> list[str]:
    return [shortened(token, LONGEST) for token in tokens]


def _fertilities(source: tuple[str, ...], fertilities: tuple[int, ...]) -> Text:
    counts = (
        Text(f"{token}×{count}", style=("dim", "", "bold")[min(count, 2)])
        for token, count in zip(_short(source), fertilities, strict=True)
    )
    return Text(" ").join(counts)


def _alignment(prediction: Prediction, structure: Structure, *, shaded: bool) -> Table:
    """Each output token, the number of its most likely source token, that token, and its probability.

    A column says which tokens are copied, and one what each unit of a program writes. If `shaded`, a last
    column shows the probabilities of all source tokens, two characters each.
    """
    table = Table("output", "from", "", "P", box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.columns[1].justify = "right"
    alignment, units = structure.alignment, structure.written not in ((), prediction.tokens)
    for title in [""] * any(structure.copied) + ["writes"] * units:
        table.add_column(title)
    if shaded:
        last_digits = (f"{number % 10:2}" for number in range(1, len(alignment) + 1))
        table.add_column("".join(last_digits), no_wrap=True, style="blue")
    source = _short(prediction.source)
    for place, (token, column) in enumerate(zip(_short(prediction.tokens), alignment.T, strict=True)):
        best = int(column.argmax())
        cells: list[RenderableType] = [Text(token), str(best + 1), Text(source[best]), f"{column[best]:.2f}"]
        if any(structure.copied):
            cells.append(Text("copied" if structure.copied[place] else "", COPIED))
        if units:
            cells.append(Text(shortened(structure.written[place], 2 * LONGEST)))
        if shaded:
            cells.append("".join(2 * SHADES[round(p * (len(SHADES) - 1))] for p in column.tolist()))
        table.add_row(*cells)
    return table
