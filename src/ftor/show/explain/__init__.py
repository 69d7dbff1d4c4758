"""How a model came to its output, to look at: fertilities, reordering tree and alignment."""

import io
from pathlib import Path

from rich.console import RenderableType

from ftor.errors import FtorError
from ftor.files import write_atomically
from ftor.model.prediction import Prediction, Structure
from ftor.show.explain.terminal import View

SUFFIXES = (".png", ".svg")


def view(prediction: Prediction) -> RenderableType:
    """Return the prediction and its structure for a `rich` console: colours in a terminal, text in a pipe."""
    return View(prediction, _structure(prediction))


def picture(prediction: Prediction, path: str | Path) -> None:
    """Draw the prediction and its structure into a PNG or SVG file, which the name's suffix decides.

    Characters that the font (DejaVu Sans) does not have are drawn as □.
    """
    path, structure = Path(path), _structure(prediction)
    if path.suffix.lower() not in SUFFIXES:
        raise FtorError(f"{path}: expected the suffix {' or '.join(SUFFIXES)}, found {path.suffix!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: expected a folder {path.parent}, found none")
    if not prediction.tokens:
        raise FtorError("prediction: expected at least one output token to draw, found none")
    from ftor.show.explain import figure

    buffer = io.BytesIO()
    figure.save(prediction, structure, buffer, path.suffix[1:].lower())
    write_atomically(path, lambda unfinished: unfinished.write_bytes(buffer.getvalue()))


def _structure(prediction: Prediction) -> Structure:
    if prediction.structure is None:
        raise FtorError("prediction: expected one with a structure, found None; ask for it when predicting")
    return prediction.structure
