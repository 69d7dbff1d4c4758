"""How a model made its output: fertilities, reordering tree and alignment, as text or as a picture."""

from pathlib import Path

from rich.console import RenderableType

from ftor.errors import FtorError
from ftor.model.prediction import Prediction, Structure
from ftor.show.explain.terminal import View


def view(prediction: Prediction) -> RenderableType:
    """Return the prediction and its structure for a `rich` console: colours in a terminal, text in a pipe."""
    return View(prediction, _structure(prediction))


def picture(prediction: Prediction, path: str | Path) -> None:
    """Draw the prediction and its structure into a PNG or SVG file, by the suffix of its name.

    Characters that the font (DejaVu Sans) does not have are drawn as □.
    """
    from ftor.show.explain import figure  # here for start-up time: matplotlib

    if not prediction.tokens and prediction.error is None:
        raise FtorError("the prediction has no output token to draw")
    figure.save(prediction, _structure(prediction), Path(path))


def _structure(prediction: Prediction) -> Structure:
    if prediction.error is not None:
        raise FtorError(prediction.error)
    if prediction.structure is None:
        raise FtorError("the prediction has no structure; predict with structure=True")
    return prediction.structure
