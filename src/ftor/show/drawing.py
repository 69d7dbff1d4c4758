"""How charts look, and how they are written."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from matplotlib import style
from matplotlib.figure import Figure

from ftor.files import write_atomically

# Okabe and Ito's colours, which people who confuse red and green can tell apart.
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
    "svg.hashsalt": "ftor",  # the same to the byte
    "svg.fonttype": "path",
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw and write charts in it."""
    with style.context(["default", STYLE]):
        yield


def save(figure: Figure, path: Path, title: str, description: str | None = None) -> None:
    """Write a chart as SVG or PNG, by the name's ending; what says when it was made is left out."""
    buffer, suffix = io.BytesIO(), path.suffix[1:].lower()
    metadata = {"Date": None, "Creator": "ftor", "Title": title, "Description": description}
    figure.savefig(
        buffer,
        format=suffix,
        dpi=150,
        metadata=metadata if suffix == "svg" else None,
        bbox_inches="tight",
        pad_inches=0.1,
    )
    image = _rounded(buffer.getvalue()) if suffix == "svg" else buffer.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda unfinished: unfinished.write_bytes(image))


def _rounded(svg: bytes) -> bytes:
    """Have lines go to hundredths of a point, which is all that is seen: they take most of a file."""
    return re.sub(
        rb"(?m)^L (-?\d+\.\d+) (-?\d+\.\d+)", lambda to: b"L %.2f %.2f" % (float(to[1]), float(to[2])), svg
    )
