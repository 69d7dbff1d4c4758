"""Sections of a report: summary, accuracy by length, group and novelty, words behind mistakes."""

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from ftor.datasets import groupings
from ftor.metrics import (
    EXACT_MATCH,
    WELL_FORMED,
    accuracy_name,
    edit_distance,
    format_score,
    group_keys,
    measure_name,
)
from ftor.metrics.groups import ranges
from ftor.metrics.mistakes import Suspect, confusions, suspects
from ftor.metrics.significance import LEVEL, Estimate, bootstrap, share
from ftor.model.evaluation import Evaluation
from ftor.model.novelty import new_combinations
from ftor.reporting import percent
from ftor.show.report.elements import Child, section, table, tag
from ftor.text.reading import Pair
from ftor.text.vocabularies import Vocabularies

MOST_WORDS = 12
"""Rows of the tables of words and confusions."""
INTERVAL = f"{100 * LEVEL:.0f} % interval"


def plural(count: int, word: str) -> str:
    """Return a number of things: 1 pair, 2 pairs."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def interval(estimate: Estimate) -> str:
    """Return the interval of a share in percent."""
    return f"{100 * estimate.low:.1f}–{100 * estimate.high:.1f}"


def summary(evaluation: Evaluation) -> Element:
    """Return the accuracy and the other measures of all answers together, with their intervals."""
    metrics, verdicts = evaluation.metrics, evaluation.verdicts
    lengths = np.array([len(one) == len(other) for one, other in _answers(evaluation)], bool)
    first = accuracy_name(verdicts)
    shares = {first: verdicts[first], **verdicts, "right length": lengths}
    wrong = int(np.sum(~evaluation.right))
    tiles = tag("dl", class_="tiles")
    for name in [first, *(other for other in (EXACT_MATCH, "right length", WELL_FORMED) if other != first)]:
        if name in shares:
            estimate = share(shares[name])
            tiles.append(tile(measure_name(name), percent(estimate.value), interval(estimate), name == first))
    tiles.append(tile("wrong answers", f"{wrong:,}", f"of {metrics.count:,}"))
    rows = [
        [measure_name(name), percent(share(right).value), interval(share(right))]
        for name, right in shares.items()
    ]
    for name, values in (
        ("edits from output to gold", [edit_distance(*answer) for answer in _answers(evaluation)]),
        ("length error", [abs(len(one) - len(other)) for one, other in _answers(evaluation)]),
    ):
        mean = bootstrap(values)
        rows.append([f"mean {name}", f"{mean.value:.2f}", f"{mean.low:.2f}–{mean.high:.2f}"])
    rows.append(["edits per part of the golds", f"{metrics.per:.4f}", "–"])
    rows += [[name, format_score(name, score), "–"] for name, score in metrics.scores.items()]
    caption = f"All measures, with bootstrap intervals of {100 * LEVEL:.0f} %."
    measures = table(caption, ["measure", "value", "interval"], rows, numbers=(1, 2))
    return section("summary", "Summary", tiles, tag("details", tag("summary", "All measures"), measures))


def tile(name: str, value: str, below: str, first: bool = False) -> Element:
    """Return a number in large letters, with its name above it."""
    return tag(
        "div",
        tag("dt", name),
        tag("dd", value, class_="value"),
        tag("dd", below, class_="interval"),
        class_="first" if first else None,
    )


def lengths(evaluation: Evaluation, training: Sequence[Pair] | None) -> Element:
    """Return the accuracy by the lengths of sentences and of golds."""
    pairs, known = evaluation.pairs, training or ()
    tables = [
        _by_length(
            "sentence", "words", [len(p.source) for p in pairs], [len(p.source) for p in known], evaluation
        ),
        _by_length(
            "gold", "parts", [len(p.target) for p in pairs], [len(p.target) for p in known], evaluation
        ),
    ]
    return section("lengths", "By length", tag("div", *tables, class_="columns"))


def _by_length(name: str, unit: str, values: list[int], known: list[int], evaluation: Evaluation) -> Element:
    """Return the accuracy by lengths. Those that are longer than all known lengths are marked."""
    longest, array = max(known, default=None), np.array(values)
    caption = f"Right answers by the number of {unit} in the {name}."
    if longest is not None:
        caption += f" ↑ is longer than the longest training {name}, which has {longest}."
    rows: list[tuple[Child, NDArray[np.bool_]]] = []
    for some in ranges(values, limit=longest):
        label = str(some[0]) if len(some) == 1 else f"{some[0]}–{some[-1]}"
        longer = longest is not None and some[0] > longest
        shown = tag("span", f"{label} ↑" if longer else label, class_="length")
        rows.append((shown, (array >= some[0]) & (array <= some[-1])))
    return _bars(caption, unit, rows, evaluation.right)


def groups(evaluation: Evaluation, task: str) -> list[Element]:
    """Return the accuracy by each of what the task groups examples by."""
    sources = [pair.source for pair in evaluation.pairs]
    sections = []
    for name, values in group_keys(groupings(task), sources, evaluation.golds).items():
        keys = np.array(values)
        rows = [(str(key), keys == key) for key in np.unique(keys).tolist()]
        bars = _bars(f"Right answers by {name}.", name, rows, evaluation.right)
        sections.append(section(f"groups-{name.replace(' ', '-')}", f"By {name}", bars))
    return sections


def novelty(
    evaluation: Evaluation, vocabularies: Vocabularies, training: Sequence[Pair] | None, missing: str
) -> Element:
    """Return the accuracy by what the training pairs lack.

    Args:
        evaluation: the answers.
        vocabularies: those of the model.
        training: the training pairs, if they are there.
        missing: else why they are not.
    """
    combinations: Sequence[object] = [()] * len(evaluation.pairs)
    if training is not None:
        combinations = new_combinations(evaluation.pairs, vocabularies, training)
    kinds = {
        "a new part in the gold": evaluation.new_parts,
        "a new word": evaluation.unknown_words,
        "a new combination of parts": combinations,
        "a new name to copy": evaluation.new_words,
    }
    left, rows = np.ones(len(evaluation.pairs), bool), list[tuple[Child, NDArray[np.bool_]]]()
    for name, new in kinds.items():
        has = np.array([bool(some) for some in new]) & left
        left &= ~has
        rows.append((name, has))
    rows.append(("nothing new", left))
    note = (
        "A part is new if the training golds lack it and it is no copy of a word. A new word of the sentence "
    )
    note += "that is also in the gold is a name to copy. A combination is two neighbouring parts of the gold."
    if training is None:
        rows = [row for row in rows if row[0] != "a new combination of parts"]
        note = f"Combinations of parts are not shown, because {missing}."
    caption = "Right answers by what the training pairs lack. A pair counts in the first row that fits it."
    return section(
        "new",
        "New words and parts",
        _bars(caption, "the pair has", [row for row in rows if row[1].any()], evaluation.right),
        tag("p", note, class_="muted"),
    )


def words(evaluation: Evaluation) -> Element | None:
    """Return the words and parts behind wrong answers, and frequent confusions. None if all are right."""
    wrong = ~evaluation.right
    if not wrong.any():
        return None
    rate = percent(float(wrong.mean()))
    tables = []
    for item, name, items in (
        ("word", "Words of sentences", [pair.source for pair in evaluation.pairs]),
        ("part", "Parts of golds", evaluation.golds),
    ):
        found = suspects(items, wrong)
        caption = f"{name} that wrong answers have more often than chance gives. In all, {rate} are wrong."
        rows: list[list[Child]] = [
            [one.item, f"{one.wrong:,}", f"{one.count:,}", p_value(one)] for one in found[:MOST_WORDS]
        ]
        if not found:
            rows.append([tag("em", "none"), "", "", ""])
        tables.append(table(caption, [item, "wrong", "of", "p"], rows, (1, 2, 3), "words"))
    rows_wrong = np.flatnonzero(wrong).tolist()
    golds, outputs = ([parts[row] for row in rows_wrong] for parts in (evaluation.golds, evaluation.outputs))
    counts = confusions(golds, outputs).most_common(MOST_WORDS)
    edits: list[list[Child]] = [
        [part or "–", tag("span", other or "–", class_="part"), str(n)] for (part, other), n in counts
    ]
    caption = (
        "The most frequent edits from golds to outputs. – is no part: the other one is missing or extra."
    )
    confused = table(caption, ["in the gold", "in the output", "times"], edits, (2,), "words")
    note = "p is the probability of so many wrong answers with the word if it had nothing to do with them "
    note += "(Fisher's exact test, one-sided). Every word is tested by itself, so some are here by chance."
    return section(
        "words",
        "Words behind the mistakes",
        tag("div", *tables, class_="columns"),
        tag("p", note, class_="muted"),
        confused,
    )


def p_value(suspect: Suspect) -> str:
    """Return a p-value, rounded."""
    return f"{suspect.p_value:.3f}" if suspect.p_value >= 0.001 else "< 0.001"


def _bars(
    caption: str, name: str, rows: Iterable[tuple[Child, NDArray[np.bool_]]], right: NDArray[np.bool_]
) -> Element:
    """Return a table: in each row a bar for the share of right answers, with a whisker for its interval."""
    cells: list[list[Child]] = []
    for label, inside in rows:
        estimate = share(right[inside])
        low, high = 100 * estimate.low, 100 * estimate.high
        bar = tag(
            "span",
            tag("span", class_="fill", style=f"width:{100 * estimate.value:.1f}%"),
            tag("span", class_="whisker", style=f"left:{low:.1f}%;width:{max(high - low, 0.5):.1f}%"),
            class_="bar",
            aria_hidden="true",
        )
        spread = tag("span", interval(estimate), class_="range")
        cells.append(
            [label, bar, tag("span", percent(estimate.value), " ", spread), f"{int(inside.sum()):,}"]
        )
    made = table(caption, [name, "", f"right ({INTERVAL})", "pairs"], cells, (2, 3), "bars")
    for row in made.iter("tr"):
        row[1].set("class", "wide")
    return made


def _answers(evaluation: Evaluation) -> Iterable[tuple[Sequence[str], Sequence[str]]]:
    return zip(evaluation.outputs, evaluation.golds, strict=True)
