"""The paper's tables: the experiment of each row, and the numbers that the paper reports for it."""

from collections.abc import Mapping
from typing import NamedTuple

from ftor.config import shipped
from ftor.metrics import CIDER, Metrics


class PaperNumber(NamedTuple):
    """A number of the paper: a mean over seeds, and the standard deviation if the paper has one."""

    mean: float
    deviation: float | None = None


class Row(NamedTuple):
    """A model on a split.

    Attributes:
        experiment: name of the shipped experiment.
        numbers: by column. Empty for a model that the paper does not have.
        baseline: whether the model is one that the paper compares with.
        missing: why it has not been run, if it needs what cannot be had.
    """

    model: str
    split: str
    experiment: str
    numbers: Mapping[str, PaperNumber]
    baseline: bool = False
    missing: str = ""

    @property
    def released(self) -> str:
        """The experiment with the paper's settings: NAME-paper, or `experiment` if its settings are these."""
        name = f"{self.experiment}-paper"
        return name if name in shipped() else self.experiment

    @property
    def beyond(self) -> str | None:
        """The experiment with what the paper does not have: NAME-beyond, if there is one."""
        name = f"{self.experiment}-beyond"
        return name if name in shipped() else None

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiment that we ship and, if there are others, those of the paper and beyond it."""
        names = (self.experiment, self.released, self.beyond)
        return tuple(dict.fromkeys(name for name in names if name is not None))


class Table(NamedTuple):
    """The rows of one dataset.

    Attributes:
        title: name of the dataset.
        seeds: number of seeds in the paper.
    """

    title: str
    seeds: int
    rows: tuple[Row, ...]


LENGTHS = {"11": range(11, 12), "12": range(12, 13), "13": range(13, 14), "14–20": range(14, 21)}
"""The columns of mirror's test, and the input lengths of each."""
WITH_GRAMMAR, WITHOUT = "grammar", "none"
STYLE_SCORES = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", CIDER)

NO_WEIGHTS = "weights not available here"

ACCURACIES = {"geo": "execution_accuracy", "atis": "tree_accuracy", "okapi": "clause_accuracy"}
"""The share of correct outputs that the paper reports, by table."""


def scaled_score(metrics: Metrics | None, name: str) -> float | None:
    """Return a score of style transfer, scaled as in the paper. METEOR is missing if Java was."""
    score = None if metrics is None else metrics.scores.get(name)
    return None if score is None else score * (1 if name == CIDER else 100)


def _mirror(
    model: str, suffix: str, numbers: tuple[float, ...] = (), baseline: bool = False
) -> tuple[Row, ...]:
    """`numbers` are those on dev, of each length, and on unseen combinations."""
    columns = ("dev", *LENGTHS, "test")
    by_length = {name: PaperNumber(mean) for name, mean in zip(columns, numbers, strict=bool(numbers))}
    unseen = {"test": by_length.pop("test")} if by_length else {}
    return (
        Row(model, "length", f"mirror{suffix}", by_length, baseline),
        Row(model, "unseen combinations", f"mirror-xyz{suffix}", unseen, baseline),
    )


def _parsing(
    model: str,
    split: str,
    experiment: str,
    without: tuple[float, float],
    with_grammar: tuple[float, float] | None = None,
    baseline: bool = False,
) -> Row:
    constrained = {WITH_GRAMMAR: PaperNumber(*with_grammar)} if with_grammar else {}
    missing = NO_WEIGHTS if experiment.endswith("-bart") else ""
    return Row(model, split, experiment, constrained | {WITHOUT: PaperNumber(*without)}, baseline, missing)


def _marian(split: str, experiment: str) -> Row:
    """A pretrained model that the paper does not have."""
    return Row("Marian", split, experiment, {}, baseline=True, missing=NO_WEIGHTS)


def _style(split: str, experiment: str, *numbers: tuple[float, float]) -> Row:
    scores = {name: PaperNumber(*number) for name, number in zip(STYLE_SCORES, numbers, strict=True)}
    return Row("F→R", split, experiment, scores)


TABLES = {
    "mirror": Table(
        "Mirror",
        5,
        (
            *_mirror("F→R", "", (100.0, 100.0, 100.0, 100.0, 100.0, 79.9)),
            *_mirror("R→F", "-rf", (0.0, 0.0, 0.0, 0.0, 0.0, 1.3)),
            *_mirror("AR F→R", "-ar", (100.0, 100.0, 100.0, 100.0, 100.0, 32.1)),
            *_mirror("AR R→F", "-ar-rf", (90.0, 85.7, 89.8, 87.5, 80.5, 1.2)),
            *_mirror("LSTM", "-lstm", (100.0, 94.3, 67.9, 6.9, 0.0, 0.1), baseline=True),
            *_mirror("Transformer", "-transformer", (82.0, 3.0, 0.0, 0.0, 0.0, 42.0), baseline=True),
            *_mirror("Transformer, small", "-transformer-small", baseline=True),
        ),
    ),
    "geo": Table(
        "Geoquery",
        5,
        (
            _parsing("F→R", "iid", "geo-iid", (80.7, 2.3), (88.6, 3.3)),
            _parsing("F→R", "template", "geo-template", (68.7, 4.3), (79.9, 2.5)),
            _parsing("F→R", "length", "geo-length", (53.4, 5.9), (68.8, 5.2)),
            _parsing("R→F", "iid", "geo-iid-rf", (83.5, 0.7), (89.1, 1.0)),
            _parsing("R→F", "template", "geo-template-rf", (73.0, 1.6), (80.4, 1.2)),
            _parsing("R→F", "length", "geo-length-rf", (49.2, 5.1), (68.6, 1.4)),
            _parsing("AR F→R", "iid", "geo-iid-ar", (81.1, 1.0)),
            _parsing("AR F→R", "template", "geo-template-ar", (52.8, 3.3)),
            _parsing("AR F→R", "length", "geo-length-ar", (37.6, 1.8)),
        ),
    ),
    "atis": Table(
        "ATIS",
        5,
        (
            _parsing("F→R", "iid", "atis-iid", (68.26, 1.53), (74.15, 1.35)),
            _parsing("F→R", "length", "atis-length", (29.91, 2.91), (35.41, 4.09)),
            _parsing("LSTM", "iid", "atis-iid-lstm", (75.98, 1.30), (76.52, 1.66), baseline=True),
            _parsing("LSTM", "length", "atis-length-lstm", (4.95, 2.16), (4.95, 2.16), baseline=True),
            _parsing("Transformer", "iid", "atis-iid-transformer", (75.76, 1.43), baseline=True),
            _parsing("Transformer", "length", "atis-length-transformer", (1.15, 1.41), baseline=True),
            _parsing("BART-base", "iid", "atis-iid-bart", (86.96, 1.26), baseline=True),
            _parsing("BART-base", "length", "atis-length-bart", (19.03, 4.57), baseline=True),
            _marian("iid", "atis-iid-marian"),
            _marian("length", "atis-length-marian"),
        ),
    ),
    "okapi": Table(
        "Okapi",
        5,
        (
            _parsing("F→R", "calendar", "okapi-calendar", (57.2, 19.9), (69.5, 13.9)),
            _parsing("F→R", "document", "okapi-document", (36.1, 5.6), (42.4, 5.7)),
            _parsing("F→R", "email", "okapi-email", (43.9, 3.8), (55.6, 2.7)),
            _parsing("BART-base", "calendar", "okapi-calendar-bart", (36.7, 3.0), baseline=True),
            _parsing("BART-base", "document", "okapi-document-bart", (2.7, 2.1), baseline=True),
            _parsing("BART-base", "email", "okapi-email-bart", (20.5, 9.8), baseline=True),
            _marian("calendar", "okapi-calendar-marian"),
            _marian("document", "okapi-document-marian"),
        ),
    ),
    "style": Table(
        "Style",
        3,
        (
            _style(
                *("active to passive", "style-passive"),
                *((92.1, 1.3), (85.4, 1.5), (79.7, 1.7), (74.6, 1.9)),
                *((55.9, 0.5), (86.0, 1.1), (7.610, 0.130)),
            ),
            _style(
                *("adjective emphasis", "style-adjective"),
                *((78.3, 1.4), (61.9, 0.7), (49.9, 1.3), (40.5, 1.4)),
                *((43.0, 1.0), (69.1, 0.6), (4.268, 0.170)),
            ),
            _style(
                *("verb emphasis", "style-verb"),
                *((68.4, 0.6), (52.7, 0.6), (41.6, 0.7), (32.8, 0.6)),
                *((37.4, 0.4), (58.9, 0.4), (3.498, 0.121)),
            ),
        ),
    ),
}
"""The tables by the name that commands use."""
