"""The style of charts, and the one place that saves figures."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from matplotlib import rc_context, style
from matplotlib.figure import Figure

from ftor.errors import FtorError
from ftor.files import write_atomically

# The colours of Okabe and Ito. People with red-green colour blindness can tell them apart.
BLUE, ORANGE, GREEN, PINK, YELLOW, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
BLACK, LIGHT_GREY, GREY = "#000000", "#999999", "#555555"
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e5e5e5",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.handlelength": 3,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "black",
    "ytick.labelcolor": "black",
}


SUFFIXES = (".png", ".svg")


@contextmanager
def house_style() -> Iterator[None]:
    """Draw and save charts in the style of this project, whatever the user's settings are."""
    with style.context(["default", STYLE]):
        yield


def save(figure: Figure, path: Path, title: str, description: str | None = None) -> None:
    """Write a figure as SVG or PNG, by its suffix. The same figure always gives the same SVG."""
    if path.suffix.lower() not in SUFFIXES:
        raise FtorError(f"{path}: a figure is a {' or '.join(SUFFIXES)} file")
    buffer, suffix = io.BytesIO(), path.suffix[1:].lower()
    metadata = {"Date": None, "Creator": "ftor", "Title": title, "Description": description}
    with rc_context({"svg.hashsalt": "ftor", "svg.fonttype": "path"}):
        figure.savefig(
            buffer,
            format=suffix,
            dpi=200,
            metadata=metadata if suffix == "svg" else None,
            bbox_inches="tight",
            pad_inches=0.1,
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda unfinished: unfinished.write_bytes(buffer.getvalue()))
