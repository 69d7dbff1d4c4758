"""Looks at pairs before anything is trained."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ftor.datasets.folders import data_folders
from ftor.text.lengths import length_bound, longer_side
from ftor.text.programs import Programs, UnitSettings
from ftor.text.programs.pairs import AUTO, TargetUnits, encode_pairs, learn_programs, unwritable_targets
from ftor.text.programs.token_pieces import PIECES, are_glued
from ftor.text.programs.tokens import TOKENS
from ftor.text.reading import Pair
from ftor.tuning.look import copies, dev_and_test, linking, oddities, pretrained, sizes
from ftor.tuning.look.almost_programs import not_programs
from ftor.tuning.look.findings import Finding, Lengths, Look, Part, Split, Words
from ftor.tuning.look.names import names_from_sentences
from ftor.tuning.look.units import TrainingUnits

MOST_PAIRS = 5000
"""From more pairs, programs are learnt from a sample, if that can write all of them. Training reads all."""
SHORTER = 1.5
"""How many times shorter units make targets that are worth it."""
RARE, LEFT = 0.15, 0.3
"""Tokens are read in pieces if at least the share RARE of them stands in one target only, and at most LEFT
times that share of the pieces does."""


def look(
    train: Sequence[Pair],
    dev: Sequence[Pair] = (),
    test: Sequence[Pair] = (),
    data_folder: Path | None = None,
    arities: Mapping[str, int] | None = None,
    dialects: bool = True,
) -> Look:
    """Look at pairs: what they are like, what is odd about them, and which settings follow.

    Args:
        train: the training pairs, at least one.
        dev, test: other pairs, if there are any. What they need is compared with what training has. No
            setting follows from test pairs.
        data_folder: where a pretrained encoder and vectors are, if not in the usual folders.
        arities: the number of arguments of each symbol of prefix order that takes some, if they are known.
        dialects: whether targets may be read in dialects of notations, and in pieces. A user's own grammar of
            tokens knows neither: see `ftor.model.programs.reads_dialects`.
    """
    data_folders(data_folder)  # raises if it does not exist
    some = train[:: math.ceil(len(train) / MOST_PAIRS)]
    splits: dict[str, Sequence[Pair]] = {"train": some, "dev": dev, "test": test}
    programs, program_findings = _programs(splits, copying=True, arities=arities, dialects=dialects)
    if programs is not None and len(some) < len(train) and unwritable_targets(programs, train):
        splits["train"] = train  # pairs that the sample lacks are no programs, or written in another way
        programs, program_findings = _programs(splits, copying=True, arities=arities, dialects=dialects)
    all_units = _units(programs, train)
    counts = copies.CopyCounts(_without_long(all_units))
    part: Part = "token" if programs is None else "unit"
    names = names_from_sentences(some, programs) if isinstance(programs, Programs) else []
    copying = copies.decide(counts, copies.NeededLater.of(counts, _units(programs, dev)), part, names)
    if programs is not None and not copying.finding.settings.get("model.copying"):
        programs, program_findings = _programs(splits, copying=False, arities=arities, dialects=dialects)
        all_units = _units(programs, train)
    bound = length_bound(all_units)
    train_units = _without_long(all_units)
    links = linking.link(linking.sample(train_units))
    alignment, alignment_findings = linking.summarise(links, part)
    need = sizes.fertility(train_units, links)
    copy_summary = counts.summary()
    source_words = Counter(word for pair in train for word in pair.source)
    readable = pretrained.pretrained(source_words, _words(source_words), data_folder)
    findings = [
        sizes.by_size(train_units, part),
        sizes.max_fertility(need, train_units, part),
        *program_findings,
        copying.finding,
        *copies.forms(counts),
        *copies.quotes(counts, isinstance(programs, Programs)),
        *alignment_findings,
        *readable.findings,
        *([] if bound is None else [oddities.too_long(all_units, bound, part)]),
        *oddities.oddities(train, train_units, part),
    ]
    others: dict[Split, Sequence[Pair]] = {"dev": dev, "test": test}
    encoded = {split: _units(programs, pairs) for split, pairs in others.items() if pairs}
    keeps_copies = bool(copying.finding.settings.get("model.copying"))
    known = None
    if isinstance(programs, Programs):
        known = TrainingUnits(train_units, programs, copying.rules, keeps_copies)
    for split, units in encoded.items():
        findings += dev_and_test.needs(split, units, train_units, copying.rules, known)
    unit_lengths = Lengths.of([len(pair.target) for pair in train_units])
    source = Lengths.of([len(pair.source) for pair in train])
    return Look(
        pairs={"train": len(train), "dev": len(dev), "test": len(test)},
        source=source,
        target=Lengths.of([len(pair.target) for pair in train]),
        units=None if programs is None else unit_lengths,
        ratio=unit_lengths.mean / source.mean,
        notation=programs.notation.name if isinstance(programs, Programs) else None,
        fertility=need,
        source_words=_words(source_words),
        target_words=_words(Counter(word for pair in train_units for word in pair.target)),
        copies=copy_summary,
        alignment=alignment,
        findings=tuple(sorted(findings, key=lambda finding: not finding.warning)),
        settings={key: value for finding in findings for key, value in finding.settings.items()},
        open=copying.open,
        vectors=readable.vectors,
        reader=readable.reader,
    )


def _programs(
    splits: Mapping[str, Sequence[Pair]], copying: bool, arities: Mapping[str, int] | None, dialects: bool
) -> tuple[TargetUnits | None, list[Finding]]:
    """How targets are read as programs, if they are, and what that gives."""
    learned = learn_programs(AUTO, splits, UnitSettings(), copying, arities=arities, dialects=dialects)
    if learned.units is None and not learned.unexpected:
        return _token_units(splits, copying, dialects)
    is_tokens = learned.units is None and arities is None  # arities have no use with "none"
    finding = Finding(
        kind="programs",
        text=f"Targets: {learned}.",
        warning=learned.unexpected,
        settings={"data.programs": "none" if is_tokens else AUTO},
    )
    return learned.units, [finding, *dev_and_test.unwritable(splits, learned.unwritable)]


def _token_units(
    splits: Mapping[str, Sequence[Pair]], copying: bool, dialects: bool
) -> tuple[TargetUnits | None, list[Finding]]:
    """Targets that are no programs: in units of tokens that come together, if that makes them far shorter."""
    train = splits["train"]
    finding = not_programs(train, {"data.programs": "none"})
    if dialects and not finding.warning and are_glued([" ".join(pair.target) for pair in train], RARE, LEFT):
        return _piece_units(splits, copying)
    learned = learn_programs(TOKENS, splits, UnitSettings(), copying)
    if learned.units is None or finding.warning or learned.tokens < SHORTER * learned.length:
        return None, [finding]
    text = (
        "Targets are plain tokens, but many of them always come together: "
        f"{learned.length:.1f} units each, not {learned.tokens:.1f} tokens."
    )
    finding = Finding(kind="programs", text=text, settings={"data.programs": TOKENS})
    return learned.units, [finding, *dev_and_test.unwritable(splits, learned.unwritable)]


def _piece_units(
    splits: Mapping[str, Sequence[Pair]], copying: bool
) -> tuple[TargetUnits | None, list[Finding]]:
    """Targets whose tokens are written together from parts that are far less rare."""
    learned = learn_programs(PIECES, splits, UnitSettings(), copying)
    text = (
        "Many target tokens stand in one pair only, but their numbers, words and marks in more. "
        f"These pieces are units: {learned.length:.1f} per target instead of {learned.tokens:.1f} tokens."
    )
    finding = Finding(kind="programs", text=text, settings={"data.programs": PIECES})
    return learned.units, [finding, *dev_and_test.unwritable(splits, learned.unwritable)]


def _units(programs: TargetUnits | None, pairs: Sequence[Pair]) -> list[Pair]:
    return list(pairs) if programs is None else encode_pairs(programs, pairs)


def _without_long(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs that are not far longer than the others."""
    bound = length_bound(pairs)
    return [pair for pair in pairs if bound is None or longer_side(pair) <= bound]


def _words(counts: Counter[str]) -> Words:
    once = sum(count == 1 for count in counts.values())
    return Words(types=len(counts), tokens=counts.total(), seen_once=once / max(len(counts), 1))
