"""Training pairs that contradict each other, that occur twice, or that differ from the rest."""

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from ftor.reporting import counted
from ftor.text.lengths import longer_side
from ftor.text.reading import Pair
from ftor.tuning.look.association import association
from ftor.tuning.look.examples import EXAMPLES, lines_of
from ftor.tuning.look.findings import Finding, Part, Value

OUTLIER = 8.0
"""Median deviations of the log length ratio beyond which a pair differs from the rest."""
LEAST_DEVIATION = 0.15
RARE = 0.02
"""Share of the pairs below which something is an exception."""
LEAST_PAIRS = 20
"""With fewer pairs nothing is called an exception."""
TWINS = 0.05
"""Least share of the source words that have a twin, in another case or with a mark at the end."""
COPIED = 0.3
"""Share of copied target tokens from which on a target that is its source is nothing special."""
HEADER = frozenset(
    [
        "source",
        "target",
        "src",
        "tgt",
        "input",
        "output",
        "sentence",
        "sentences",
        "phrase",
        "phrases",
        "text",
        "utterance",
        "question",
        "query",
        "request",
        "english",
        "french",
        "german",
        "spanish",
        "translation",
        "program",
        "programs",
        "command",
        "commands",
        "code",
        "sql",
        "answer",
        "logical",
        "form",
        "label",
        "meaning",
    ]
)
"""Words of a first line that names the columns."""
MARKS = ".,;:?!"
MOJIBAKE = ("Ã", "â€", "Â", "\ufffd")


def oddities(pairs: Sequence[Pair], units: Sequence[Pair], part: Part) -> Iterator[Finding]:
    """Findings about training pairs.

    Args:
        pairs: the pairs as they are written.
        units: the same pairs with targets in units, if they are programs.
        part: what the targets of `units` consist of.
    """
    yield from _header(pairs[0])
    yield from _duplicates(pairs)
    yield from _contradictions(pairs)
    yield from _strangers(pairs)
    yield from _one_token(pairs, part)
    yield from _twins(pairs)
    if len(pairs) >= LEAST_PAIRS:
        yield from _length_ratios(units, part)
        yield from _untranslated(pairs)
        yield from _characters(pairs)


def too_long(units: Sequence[Pair], bound: int, part: Part) -> Finding:
    """The pairs beyond a `length_bound`."""
    long = [pair for pair in units if longer_side(pair) > bound]
    pairs = counted(len(long), "pair")
    text = f"{pairs} of more than {bound} source tokens or target {part}s left out of training."
    advice = "Each is far longer than nearly all others, and would cost more than all of them together."
    settings: dict[str, Value] = {"data.max_length": bound}
    return Finding(
        kind="too-long",
        text=text,
        warning=True,
        settings=settings,
        advice=advice,
        **lines_of(long),
        left_out=len(long),
    )


def _header(first: Pair) -> Iterator[Finding]:
    words = {word.lower() for word in (*first.source, *first.target)}
    if first.line == 1 and words <= HEADER:
        text = f"The first line looks like a header: {' '.join(first.source)}, {_target(first)}."
        advice = "Remove it: it is read as a pair."
        yield Finding(kind="header", text=text, warning=True, advice=advice, lines=(1,))


def _duplicates(pairs: Sequence[Pair]) -> Iterator[Finding]:
    seen: dict[tuple[tuple[str, ...], str], Pair] = {}
    again = [pair for pair in pairs if seen.setdefault((pair.source, _target(pair)), pair) is not pair]
    if len(seen) == 1 and again:
        yield Finding(
            kind="duplicates",
            text=f"All {len(pairs)} pairs are the same.",
            warning=True,
            advice="Give different pairs: from one pair nothing can be learnt.",
            **lines_of(again),
        )
    elif again:
        text = f"{len(again)} of {len(pairs)} pairs repeat an earlier one."
        advice = "Remove them, unless they are to count more often than others."
        yield Finding(kind="duplicates", text=text, advice=advice, **lines_of(again))


def _contradictions(pairs: Sequence[Pair]) -> Iterator[Finding]:
    by_source: defaultdict[tuple[tuple[str, ...], str | None], dict[str, Pair]] = defaultdict(dict)
    for pair in pairs:
        by_source[pair.source, pair.emphasis].setdefault(_target(pair), pair)
    several = [list(targets.values()) for targets in by_source.values() if len(targets) > 1]
    if not several:
        return
    first = several[0]
    text = (
        f"Sources with different targets: {len(several)}, such as lines "
        f"{' and '.join(str(pair.line) for pair in first[:EXAMPLES])}: {' '.join(first[0].source)}."
    )
    lines = lines_of((pair for group in several for pair in group), 2 * EXAMPLES)
    advice = "Choose one target for each source: of several, the model learns one or none."
    yield Finding(kind="contradictions", text=text, warning=True, advice=advice, **lines)


def _strangers(pairs: Sequence[Pair]) -> Iterator[Finding]:
    found = association(pairs)
    if found is not None and found.is_chance:
        text = (
            "Sources say nothing about their targets: words go together no better than if targets were in "
            f"random order ({found.found:.2f}, by chance {found.by_chance:.2f})."
        )
        advice = "Check that each line has a source and its own target; one column may have been sorted."
        yield Finding(kind="strangers", text=text, warning=True, advice=advice, **lines_of(pairs))


def _one_token(pairs: Sequence[Pair], part: Part) -> Iterator[Finding]:
    """Words without spaces. A program such as `do(open(door))` is one token, too, but has several units."""
    for side in ("source", "target") if part == "token" else ("source",):
        tokens = [getattr(pair, side) for pair in pairs]
        if all(len(some) == 1 for some in tokens) and max(len(some[0]) for some in tokens) > 1:
            text = f"Each {side} is one token, such as {tokens[0][0]}: there is nothing to copy or reorder."
            advice = "Put spaces between the parts of words, for example between letters: w a l k."
            if len(set(tokens)) > 0.5 * len(pairs):
                yield Finding(kind="one-token", text=text, warning=True, advice=advice)


def _twins(pairs: Sequence[Pair]) -> Iterator[Finding]:
    words = {word for pair in pairs for word in pair.source}
    lower = Counter(word.lower() for word in words)
    cased = [word for word in words if lower[word.lower()] > 1 and word != word.lower()]
    if len(cased) > TWINS * len(words) and not _case_matters(pairs):
        text = f"{len(cased)} source words also stand there in another case, such as {min(cased)}."
        yield Finding(kind="case", text=text, settings={"data.lowercase": True})
    marked = [word for word in words if word[-1] in MARKS and word.rstrip(MARKS) in words]
    if len(marked) > TWINS * len(words):
        text = f"{len(marked)} source words also stand there with a mark at the end, such as `{min(marked)}`."
        advice = 'Put a space before the mark, or set data.source_tokenizer="english".'
        yield Finding(kind="punctuation", text=text, warning=True, advice=advice)


def _case_matters(pairs: Sequence[Pair]) -> bool:
    """Whether sources that differ in case only have different targets."""
    targets: dict[str, tuple[tuple[str, ...], str]] = {}
    for pair in pairs:
        source, target = targets.setdefault(" ".join(pair.source).lower(), (pair.source, _target(pair)))
        if source != pair.source and target != _target(pair):
            return True
    return False


def _length_ratios(units: Sequence[Pair], part: Part) -> Iterator[Finding]:
    ratios = [math.log(len(pair.target) / (len(pair.source) + 1)) for pair in units]
    middle = median(ratios)
    deviation = max(median(abs(ratio - middle) for ratio in ratios), LEAST_DEVIATION)
    odd = [
        pair for pair, ratio in zip(units, ratios, strict=True) if abs(ratio - middle) > OUTLIER * deviation
    ]
    if odd and len(odd) <= RARE * len(units):
        first = odd[0]
        text = (
            f"{counted(len(odd), 'pair')} with a far longer or shorter target than the rest, such as line "
            f"{first.line}: {counted(len(first.source), 'source token')}, "
            f"{counted(len(first.target), f'target {part}')}."
        )
        advice = "Read these lines: often a line is cut, or two are joined."
        yield Finding(kind="lengths", text=text, warning=True, advice=advice, **lines_of(odd))


def _untranslated(pairs: Sequence[Pair]) -> Iterator[Finding]:
    same = [pair for pair in pairs if pair.source == pair.target]
    copied = sum(token in pair.source for pair in pairs for token in pair.target)
    usual = copied > COPIED * sum(len(pair.target) for pair in pairs)
    if same and len(same) <= RARE * len(pairs) and not usual:
        text = f"{counted(len(same), 'pair')} whose target is the source itself, unlike nearly all others."
        advice = "Read these lines: they may not have been translated."
        yield Finding(kind="untranslated", text=text, warning=True, advice=advice, **lines_of(same))


def _characters(pairs: Sequence[Pair]) -> Iterator[Finding]:
    pairs_with: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        text = " ".join((*pair.source, _target(pair)))
        if not text.isascii():
            for kind in sorted({_kind(character) for character in text} - {""}):
                pairs_with[kind].append(pair)
            if any(part in text for part in MOJIBAKE):
                pairs_with["characters of a wrong encoding"].append(pair)
    for kind, some in pairs_with.items():
        if len(some) <= RARE * len(pairs) or kind == "characters of a wrong encoding":
            text = f"{counted(len(some), 'pair')} with {kind}, unlike nearly all others."
            advice = "Read these lines: they may be of another language, or damaged."
            yield Finding(kind="characters", text=text, warning=True, advice=advice, **lines_of(some))


def _kind(character: str) -> str:
    """The script of a letter, or what is odd about another character. Empty for a usual one."""
    if character.isascii():
        return ""
    if character.isalpha():
        script = unicodedata.name(character, "").partition(" ")[0]
        return "" if script in ("LATIN", "MODIFIER") else f"{script.lower()} letters"
    return "invisible characters" if unicodedata.category(character) in ("Cc", "Cf", "Co", "Cn") else ""


def _target(pair: Pair) -> str:
    return pair.target_text or " ".join(pair.target)
