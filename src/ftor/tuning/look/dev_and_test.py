"""What dev and test pairs need that training lacks, and whether they are pairs of the same kind."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ftor.text.comparing import looks_swapped, same_pairs
from ftor.text.copying import Copying
from ftor.text.programs import ProgramError, Programs
from ftor.text.reading import Pair
from ftor.tuning.look.examples import lines_of, some_of
from ftor.tuning.look.findings import Finding, Kind, Split, Value
from ftor.tuning.look.units import TrainingUnits, only_joined, refused

LONGER = "Training needs no change: a transducer is made for this. Trust an LSTM less on these pairs."
SAME = 0.2
"""Share of the pairs that are also training pairs that is worth a warning."""


def needs(
    split: Split,
    pairs: Sequence[Pair],
    train: Sequence[Pair],
    copying: Copying | None,
    units: TrainingUnits | None,
) -> Iterator[Finding]:
    """Findings about the pairs of dev or test.

    Args:
        split: which of the two.
        pairs: its pairs, with targets in units if they are programs.
        train: the training pairs, likewise.
        copying: how the model copies words that training lacks, if it does.
        units: those of training, if targets are programs.
    """
    source_words = {word for pair in train for word in pair.source}
    target_words = {word for pair in train for word in pair.target}
    if looks_swapped(pairs, train):
        text = f"The {split} sources look like training targets, and the targets like sources."
        advice = f"Swap the columns of the {split} file: source, tab, target."
        yield _finding(split, "swapped", text, advice, pairs)
        return
    yield from _same(split, pairs, train)
    unknown = [pair for pair in pairs if not source_words.issuperset(pair.source)]
    if unknown:
        words = {word for pair in unknown for word in pair.source} - source_words
        count = _share(unknown, pairs)
        text = f"{count} {split} sources have words that training lacks ({some_of(sorted(words))})."
        settings: dict[str, Value] = {} if split == "test" else {"training.word_dropout": 0.1}
        advice = "Word dropout trains the vector of unknown words; pretrained vectors help more."
        yield _finding(split, "unknown-words", text, advice, unknown, warning=False, settings=settings)
    unseen = [(pair, _unseen(pair, target_words, copying, units)) for pair in pairs]
    missing = [pair for pair, words in unseen if words]
    if missing:
        words = {word if units is None else units.programs.show(word) for _, some in unseen for word in some}
        count = _share(missing, pairs)
        parts = "tokens" if units is None else "units"
        text = f"{count} {split} targets need {parts} that no training target has ({some_of(sorted(words))})."
        advice = f"The model cannot learn these {parts}: add training pairs that have them."
        yield _finding(split, "unseen-targets", text, advice, missing)
    for side in ("source", "target"):
        most = max(len(getattr(pair, side)) for pair in train)
        longer = [pair for pair in pairs if len(getattr(pair, side)) > most]
        if longer:
            text = f"{_share(longer, pairs)} {split} {side}s are longer than any in training ({most})."
            yield _finding(split, "longer", text, LONGER, longer, warning=False)
    if units is not None:
        yield from _longer_lists(split, pairs, train, units.programs)
        yield from only_joined(split, pairs, units)
        yield from refused(split, pairs, units)


def unwritable(
    splits: Mapping[str, Sequence[Pair]], problems: Mapping[str, Mapping[int, str]]
) -> Iterator[Finding]:
    """Findings about dev and test targets that do not come back to the letter, by split and line."""
    others: tuple[Split, ...] = ("dev", "test")
    for split in others:
        pairs = splits[split]
        bad = [pair for pair in pairs if pair.line in problems.get(split, ())]
        if bad:
            first = bad[0].line
            text = (
                f"{_share(bad, pairs)} {split} targets cannot be written as programs of training, and count "
                f"as wrong: line {first}: {problems[split][first]}."
            )
            yield _finding(split, "programs", text, "Mend these lines.", bad)


def _same(split: Split, pairs: Sequence[Pair], train: Sequence[Pair]) -> Iterator[Finding]:
    same = same_pairs(pairs, train)
    if len(same) <= SAME * len(pairs):
        return
    which = "All" if len(same) == len(pairs) else _share(same, pairs)
    text = f"{which} {split} pairs are training pairs."
    advice = f"Take them out of one of the two: the {split} score does not show what is new to the model."
    yield _finding(split, "same-pairs", text, advice, same)


def _unseen(
    pair: Pair, target_words: set[str], copying: Copying | None, units: TrainingUnits | None
) -> set[str]:
    """The target tokens that a model cannot write. Of units, those with a symbol that training lacks."""
    if units is not None:
        return {unit for unit in units.missing(pair) if not units.has_symbols(unit)}
    copied = copying.copied(pair.target, pair.source) if copying else ()
    return {token for token in pair.target if token not in target_words} - set(copied)


def _longer_lists(
    split: Split, pairs: Sequence[Pair], train: Sequence[Pair], programs: Programs
) -> Iterator[Finding]:
    """Programs in which a symbol has more children than in training."""
    most: defaultdict[tuple[str, str], int] = defaultdict(int)
    for pair in train:
        for head, children in _children(programs, pair):
            most[head] = max(most[head], children)
    longer = [
        pair
        for pair in pairs
        if any(head in most and children > most[head] for head, children in _children(programs, pair))
    ]
    if longer:
        text = f"{_share(longer, pairs)} {split} programs have longer lists than any in training."
        yield _finding(split, "longer", text, LONGER, longer, warning=False)


def _children(programs: Programs, pair: Pair) -> Iterator[tuple[tuple[str, str], int]]:
    try:
        for node in programs.notation.read(pair.target_text):
            yield (node.kind, node.text), node.children
    except ProgramError:
        return


def _finding(
    split: Split,
    kind: Kind,
    text: str,
    advice: str,
    pairs: Sequence[Pair],
    warning: bool = True,
    settings: Mapping[str, Value] | None = None,
) -> Finding:
    return Finding(
        kind=kind,
        text=text,
        warning=warning,
        settings=dict(settings or {}),
        advice=advice,
        split=split,
        **lines_of(pairs),
    )


def _share(some: Sequence[Pair], pairs: Sequence[Pair]) -> str:
    return f"{len(some)} of {len(pairs)}"
