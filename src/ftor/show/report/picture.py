"""The alignment of one answer as inline SVG: words of the sentence, parts of the output, and the gold.

Its colours are those of the page, and its labels are text, so it is small and can be read in the dark.
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element

from rapidfuzz.distance import Levenshtein

from ftor.model.prediction import Prediction, Structure
from ftor.show.explain.labels import shortened
from ftor.show.report.elements import tag
from ftor.text.vocabulary import START_TOKEN

FAINTEST = 0.05
"""Smaller probabilities are not drawn."""
LONGEST = 30
"""Characters of a label."""
LETTER, LINE = 7.3, 21
"""Width of a letter and height of a line, for a font size of 12 units."""
SPACE = 24
"""Between the output and the gold."""
START = "‹start›"


def beside(output: Sequence[str], gold: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Return which positions of output and gold stand beside each other. None is beside a part alone."""
    rows: list[tuple[int | None, int | None]] = []
    for block in Levenshtein.opcodes(output, gold):
        written = range(block.src_start, block.src_end)
        wanted = range(block.dest_start, block.dest_end)
        if block.tag in ("equal", "replace"):
            rows += zip(written, wanted, strict=True)
        else:
            rows += [(place, None) for place in written]
            rows += [(None, place) for place in wanted]
    return rows


def alignment_picture(prediction: Prediction, structure: Structure, gold: Sequence[str]) -> Element:
    """Return lines from the words of the sentence to the parts of the output, and the gold beside them."""
    words = [START if word == START_TOKEN else word for word in prediction.source]
    labels = [
        f"{shortened(word, LONGEST)} ×{count}"
        for word, count in zip(words, structure.fertilities, strict=True)
    ]
    outputs, golds = ([shortened(part, LONGEST) for part in parts] for parts in (prediction.tokens, gold))
    rows = beside(prediction.tokens, gold)
    left, middle, right = (LETTER * max(map(len, column), default=0) for column in (labels, outputs, golds))
    middle, right = max(middle, LETTER * len("output")), max(right, LETTER * len("gold"))
    left = max(left, LETTER * len("sentence"))
    lines = max(len(labels), len(rows))
    output_x = left + min(70 + 4 * lines, 190)  # steep lines are hard to follow
    gold_x = output_x + middle + SPACE
    y = [LINE * (1.5 + (place + 0.5) * lines / len(labels)) for place in range(len(labels))]
    row_y = [LINE * (1.5 + (place + 0.5) * lines / max(len(rows), 1)) for place in range(len(rows))]
    places = {output: row_y[place] for place, (output, _) in enumerate(rows) if output is not None}
    width, height = round(gold_x + right + 8), round(LINE * (lines + 1.5))
    svg = tag(
        "svg",
        *(
            tag("text", name, x=f"{x:.0f}", y=LINE, class_="head", text_anchor=anchor)
            for name, x, anchor in (
                ("sentence", left, "end"),
                ("output", output_x, "start"),
                ("gold", gold_x, "start"),
            )
        ),
        role="img",
        aria_label=described(prediction, structure, words),
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )
    svg.extend(_links(structure, left + 8, output_x - 8, y, places))
    for label, place in zip(labels, y, strict=True):
        svg.append(tag("text", label, x=f"{left:.0f}", y=f"{place:.0f}", text_anchor="end"))
    for (i, j), place in zip(rows, row_y, strict=True):
        same = i is not None and j is not None and prediction.tokens[i] == gold[j]
        text = {"y": f"{place:.0f}"}
        one, other = outputs[i] if i is not None else "–", golds[j] if j is not None else "–"
        svg.append(tag("text", one, x=f"{output_x:.0f}", class_=None if same else "extra", **text))
        svg.append(tag("text", other, x=f"{gold_x:.0f}", class_="same" if same else "lacking", **text))
        if not same:
            svg.append(tag("text", "≠", x=f"{gold_x - SPACE / 2:.0f}", text_anchor="middle", **text))
    return svg


def _links(
    structure: Structure, left: float, right: float, y: list[float], places: dict[int, float]
) -> list[Element]:
    """Return a line for each probable pair of a word and a part of the output, the strongest last."""
    pairs = sorted(
        (float(weight), i, o)
        for i, row in enumerate(structure.alignment)
        for o, weight in enumerate(row)
        if weight >= FAINTEST
    )
    bend = 0.3 * (right - left)
    return [
        tag(
            "path",
            d=f"M{left:.0f} {y[i] - 4:.0f}C{left + bend:.0f} {y[i] - 4:.0f} "
            f"{right - bend:.0f} {places[o] - 4:.0f} {right:.0f} {places[o] - 4:.0f}",
            class_="link",
            stroke_width=f"{0.6 + 1.6 * weight:.1f}",
            opacity=f"{min(weight, 1.0):.2f}",
        )
        for weight, i, o in pairs
    ]


def described(prediction: Prediction, structure: Structure, words: Sequence[str]) -> str:
    """Return the picture in words: the most likely word behind each part of the output."""
    origins = (
        f"{part} from {words[int(column.argmax())]}"
        for part, column in zip(prediction.tokens, structure.alignment.T, strict=True)
    )
    return f"Alignment: {'; '.join(origins)}." if prediction.tokens else "Alignment: the output is empty."
