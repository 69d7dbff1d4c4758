"""The section of a report about wrong answers: their classes, with examples and the words behind them."""

from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element

import numpy as np

from ftor.metrics.mistakes import Mistake, suspects
from ftor.model.evaluation import Evaluation
from ftor.model.prediction import Prediction
from ftor.reporting import percent
from ftor.show.report.elements import Child, section, table, tag
from ftor.show.report.examples import example
from ftor.show.report.sections import plural

MOST_SUSPECTS = 6


def shown_rows(evaluation: Evaluation, examples: int) -> list[int]:
    """Return the wrong answers that are shown: for each class the ones with the shortest golds."""
    return [row for mistake in Mistake for row in _rows(evaluation, mistake)[:examples]]


def mistakes(evaluation: Evaluation, examples: int, explained: Mapping[int, Prediction]) -> Element:
    """Return the classes of mistakes.

    Args:
        evaluation: the answers.
        examples: how many are shown of each class.
        explained: answers with their structure, by their place.
    """
    found = {mistake: _rows(evaluation, mistake) for mistake in Mistake}
    wrong = sum(map(len, found.values()))
    if not wrong:
        return section("mistakes", "Mistakes", tag("p", "Every answer is right."))
    rows: list[list[Child]] = []
    for mistake, its_rows in found.items():
        if its_rows:
            share = len(its_rows) / wrong
            fill = tag("span", class_="fill bad", style=f"width:{100 * share:.1f}%")
            link = tag("a", mistake.value, href=f"#{_name(mistake)}")
            rows.append(
                [
                    link,
                    tag("span", fill, class_="bar", aria_hidden="true"),
                    f"{len(its_rows):,}",
                    percent(share),
                ]
            )
    caption = f"{plural(wrong, 'wrong answer')} by class. Each is in the first class that fits it."
    counts = table(caption, ["class", "", "answers", "share"], rows, (2, 3), "bars")
    for row in counts.iter("tr"):
        row[1].set("class", "wide")
    key = tag(
        "p",
        "In the examples, ",
        tag("mark", "parts of the gold that the output lacks", class_="lacking"),
        ", ",
        tag("mark", "parts of the output that the gold lacks", class_="extra"),
        " and ",
        tag("mark", "words that the training pairs lack", class_="new"),
        " are marked. In pictures, ×2 behind a word is the number of its copies.",
        class_="muted",
    )
    classes = (
        _class(evaluation, mistake, its_rows, examples, explained)
        for mistake, its_rows in found.items()
        if its_rows
    )
    return section("mistakes", "Mistakes", counts, key, *classes)


def _class(
    evaluation: Evaluation,
    mistake: Mistake,
    rows: list[int],
    examples: int,
    explained: Mapping[int, Prediction],
) -> Element:
    """Return one class: what it is, the words behind it, and its first examples."""
    shown = [
        example(evaluation, row, explained.get(row), is_open=place == 0)
        for place, row in enumerate(rows[:examples])
    ]
    count = plural(len(rows), "answer")
    if len(rows) > examples:
        count += f", {examples} shown" if examples else ""
    return tag(
        "div",
        tag("h3", mistake.value.capitalize(), tag("span", count, class_="count")),
        tag("p", mistake.meaning),
        _behind(evaluation, rows),
        *shown,
        id=_name(mistake),
        class_="class",
    )


def _behind(evaluation: Evaluation, rows: Iterable[int]) -> Element | None:
    """Return the words that a class has more often than other answers have them, if any."""
    inside = np.zeros(len(evaluation.pairs), bool)
    inside[list(rows)] = True
    found = suspects([pair.source for pair in evaluation.pairs], inside)[:MOST_SUSPECTS]
    if not found:
        return None
    children: list[Child] = ["More often here than elsewhere: "]
    for place, one in enumerate(found):
        children += [", " if place else None, tag("code", one.item), f" ({one.wrong} of {one.count})"]
    return tag("p", *children, ".", class_="muted")


def _rows(evaluation: Evaluation, mistake: Mistake) -> list[int]:
    """Return the answers of a class, those with the shortest golds first."""
    rows = [row for row, found in enumerate(evaluation.mistakes) if found == mistake]
    return sorted(rows, key=lambda row: (len(evaluation.golds[row]), len(evaluation.pairs[row].source), row))


def _name(mistake: Mistake) -> str:
    return mistake.value.replace(" ", "-")
