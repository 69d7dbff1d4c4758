"""Wrong answers one by one: the sentence, the gold and the output with their differences, and the picture."""

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element

from rapidfuzz.distance import Levenshtein

from ftor.model.evaluation import Evaluation
from ftor.model.prediction import Prediction
from ftor.show.report.elements import Child, tag
from ftor.show.report.picture import alignment_picture

LONGEST = 150
"""Parts of a longer output are not all shown, and not drawn, to keep the page small."""


def example(evaluation: Evaluation, row: int, explained: Prediction | None, is_open: bool) -> Element:
    """Return one wrong answer.

    Args:
        evaluation: all answers.
        row: which one.
        explained: the same answer with its structure, if the model has one.
        is_open: whether its picture is shown at once.
    """
    pair, prediction = evaluation.pairs[row], evaluation.predictions[row]
    gold, output = evaluation.golds[row], evaluation.outputs[row]
    new = set(evaluation.new_words[row])
    facts: list[tuple[str, Sequence[Child]]] = [
        (
            "sentence",
            _spaced(tag("mark", word, class_="new") if word in new else word for word in pair.source),
        )
    ]
    if pair.emphasis is not None:
        facts.append(("emphasis", [pair.emphasis]))
    facts.append(("gold", _differences(gold, output, "lacking")))
    facts.append(("output", [prediction.error] if prediction.error else _differences(output, gold, "extra")))
    if prediction.confidence is not None:
        facts.append(("confidence", [f"{100 * prediction.confidence:.0f} %"]))
    listed = tag("dl", class_="facts")
    for name, content in facts:
        listed.append(tag("div", tag("dt", name), tag("dd", *content)))
    picture = None
    if explained is not None and explained.structure is not None and len(output) <= LONGEST:
        drawn = alignment_picture(explained, explained.structure, pair.target)
        frame = tag("div", drawn, class_="scroll", tabindex=0, role="region", aria_label="alignment picture")
        picture = tag("details", tag("summary", "Alignment"), frame, open=True if is_open else None)
    return tag("article", tag("p", f"line {pair.line}", class_="line"), listed, picture, class_="example")


def _differences(parts: Sequence[str], others: Sequence[str], class_: str) -> list[Child]:
    """Return the parts. Those that the others do not have in this place are marked."""
    if not parts:
        return [tag("em", "nothing")]
    kept = {
        place
        for block in Levenshtein.opcodes(parts, others)
        if block.tag == "equal"
        for place in range(block.src_start, block.src_end)
    }
    shown: list[Child] = []
    for place, part in enumerate(parts[:LONGEST]):
        shown.append(part if place in kept else tag("mark", part, class_=class_))
    if len(parts) > LONGEST:
        shown.append(f"… and {len(parts) - LONGEST} more")
    return _spaced(shown)


def _spaced(children: Iterable[Child]) -> list[Child]:
    return [part for child in children for part in (child, " ")][:-1]
