"""A report about the answers of a model: one HTML file that loads nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ftor._version import __version__
from ftor.files import write_text
from ftor.grammar import Grammar
from ftor.metrics.significance import RESAMPLES
from ftor.model.evaluation import Evaluation
from ftor.model.model import Model
from ftor.model.prediction import Prediction
from ftor.show.report import sections
from ftor.show.report.confidence import confidence
from ftor.show.report.elements import page, tag
from ftor.show.report.mistakes import mistakes, shown_rows
from ftor.text.reading import Pair


@dataclass(frozen=True)
class Question:
    """How the answers of a report came about.

    Attributes:
        file: the name of the file of pairs.
        lengths, grammar: as in `Model.predict`.
        training: the training pairs, in the units of the model, if they are there.
        missing: else why they are not.
    """

    file: str
    lengths: int | None = None
    grammar: Grammar | Path | str | None = "own"
    training: Sequence[Pair] | None = None
    missing: str = "the training pairs are not given"


def write_report(
    path: Path, model: Model, evaluation: Evaluation, question: Question, examples: int = 3
) -> None:
    """Write a report.

    Args:
        path: the file.
        model: the model. Answers that are shown are predicted again, to get their structure.
        evaluation: its answers.
        question: how they came about.
        examples: how many examples are shown of each class of mistakes.
    """
    write_text(path, report(model, evaluation, question, examples))


def report(model: Model, evaluation: Evaluation, question: Question, examples: int = 3) -> str:
    """Return the page of a report. See `write_report`."""
    explained = _explained(model, evaluation, question, shown_rows(evaluation, examples))
    parts = [
        sections.summary(evaluation),
        sections.lengths(evaluation, question.training),
        *sections.groups(evaluation, model.config.data.task),
        sections.novelty(evaluation, model.vocabularies, question.training, question.missing),
        mistakes(evaluation, examples, explained),
        sections.words(evaluation),
        confidence(evaluation.reliability),
    ]
    shown = [part for part in parts if part is not None]
    title = f"{model.config.name} on {question.file}"
    links = [tag("li", tag("a", part[0].text or "", href=f"#{part.get('id')}")) for part in shown]
    how = "with the grammar" if _uses_grammar(model, question) else "without a grammar"
    about = f"{model.config.model.description}, seed {model.config.training.seed}, decoded {how}. "
    about += f"{sections.plural(len(evaluation.pairs), 'pair')}."
    header = tag(
        "header",
        tag("h1", title),
        tag("p", about, class_="muted"),
        tag("nav", tag("ul", *links), aria_label="Sections"),
    )
    notes = (
        f"Intervals are between percentiles of {RESAMPLES:,} bootstrap resamples of the pairs. If all or "
        "none of a row are right, they are those of Clopper and Pearson. They say how much a number may vary "
        "with the pairs, not with the seed of training."
    )
    made = f"Made by ftor {__version__}; configuration {model.config.hash}."
    footer = tag("footer", tag("p", notes), tag("p", made))
    skip = tag("a", "Skip to the summary", href="#summary", class_="skip")
    return page(title, skip, header, tag("main", *shown), footer)


def _uses_grammar(model: Model, question: Question) -> bool:
    return question.grammar is not None and (question.grammar != "own" or model.uses_grammar)


def _explained(
    model: Model, evaluation: Evaluation, question: Question, rows: list[int]
) -> dict[int, Prediction]:
    """Return answers with their structure, by their place."""
    rows = [row for row in rows if evaluation.predictions[row].tokens]
    if not model.config.model.structured or not rows:
        return {}
    pairs = [evaluation.pairs[row] for row in rows]
    predictions = model.predict(
        [pair.source for pair in pairs],
        emphasis=[pair.emphasis for pair in pairs],
        lengths=question.lengths,
        grammar=question.grammar,
    )
    return {
        row: prediction
        for row, prediction in zip(rows, predictions, strict=True)
        # In another batch, rounding may decide a tie otherwise. A picture of another answer would mislead.
        if prediction.tokens == evaluation.predictions[row].tokens
    }
