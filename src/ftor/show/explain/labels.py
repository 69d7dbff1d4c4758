"""Names of the stages of a prediction, and short forms of long tokens."""

from ftor.model.prediction import Prediction, Structure

AFTER = {"fertility": "copies", "reordering": "reordered"}


def stages(prediction: Prediction, structure: Structure) -> list[tuple[str, tuple[str, ...]]]:
    """Return the name and the tokens of each stage: source, what is between the steps, output.

    The output of a model of programs is in units.
    """
    middle = [(AFTER[step.name], step.labels) for step in structure.steps[:-1]]
    last = "output" if prediction.program is None else "units"
    return [("source", prediction.source), *middle, (last, prediction.tokens)]


def shortened(token: str, limit: int) -> str:
    """Return the token, or its beginning and its end if it has more than `limit` characters."""
    return token if len(token) <= limit else f"{token[: limit - 4]}…{token[-3:]}"
