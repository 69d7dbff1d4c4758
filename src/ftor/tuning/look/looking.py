"""Looks at pairs before anything is trained."""

from collections import Counter
from collections.abc import Iterable, Sequence

from ftor.reporting import Report
from ftor.text.programs import Programs, UnitSettings
from ftor.text.programs.pairs import AUTO, encode_pairs, learn_programs
from ftor.text.reading import Pair
from ftor.tuning.look import copies, linking, sizes
from ftor.tuning.look.findings import Finding, Lengths, Look, Value, Words


def look(train: Sequence[Pair], dev: Sequence[Pair] = (), test: Sequence[Pair] = ()) -> Look:
    """Look at pairs: what they are like, what is odd about them, and which settings follow.

    Args:
        train: the training pairs, at least one.
        dev, test: other pairs, if there are any. What they need is compared with what training has.
    """
    programs, program_finding = _programs(train, dev, test, copying=True)
    train_units, dev_units, test_units = (_units(programs, pairs) for pairs in (train, dev, test))
    counts = copies.CopyCounts(train_units)
    known = set(counts.pairs_with)
    later = dict.fromkeys(
        token
        for pair in (*dev_units, *test_units)
        for token in pair.target
        if token not in known and token.lower() in {word.lower() for word in pair.source}
    )
    copying = copies.decide(counts, list(later))
    if programs is not None and copying.settings.get("model.copying") is False:
        programs, program_finding = _programs(train, dev, test, copying=False)
        train_units = _units(programs, train)
    links = linking.link(linking.sample(train_units))
    alignment, alignment_findings = linking.summarise(links)
    need = sizes.fertility(train_units, links)
    max_fertility, fertility_finding = sizes.max_fertility(need, train_units)
    size_settings, size_finding = sizes.by_size(train_units)
    copy_summary = counts.summary()
    quotes = copies.quotes(copy_summary, programs is not None)
    settings: dict[str, Value] = {
        "data.programs": "none" if programs is None else AUTO,
        "data.start_token": True,
        "model.max_fertility": max_fertility,
        **copying.settings,
        **size_settings,
    }
    findings = [
        size_finding,
        fertility_finding,
        program_finding,
        copying.finding,
        *alignment_findings,
        *([quotes] if quotes else []),
    ]
    unit_lengths = Lengths.of([len(pair.target) for pair in train_units])
    source = Lengths.of([len(pair.source) for pair in train])
    return Look(
        pairs={"train": len(train), "dev": len(dev), "test": len(test)},
        source=source,
        target=Lengths.of([len(pair.target) for pair in train]),
        units=None if programs is None else unit_lengths,
        ratio=unit_lengths.mean / source.mean,
        notation=None if programs is None else programs.notation.name,
        fertility=need,
        source_words=_words(pair.source for pair in train),
        target_words=_words(pair.target for pair in train_units),
        copies=copy_summary,
        alignment=alignment,
        findings=tuple(sorted(findings, key=lambda finding: not finding.warning)),
        settings=settings,
        open=copying.open,
    )


class _Heard(Report):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.warned: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def warn(self, text: str) -> None:
        self.warned.append(text)


def _programs(
    train: Sequence[Pair], dev: Sequence[Pair], test: Sequence[Pair], copying: bool
) -> tuple[Programs | None, Finding]:
    """How targets are read as programs, if they are, and what that gives."""
    heard = _Heard()
    splits = {"train": train, "dev": dev, "test": test}
    programs = learn_programs(AUTO, splits, UnitSettings(), copying, heard)
    text = (heard.warned or heard.said)[0].removeprefix("targets: ")
    setting = "auto" if programs is not None else "none"
    return programs, Finding(
        kind="programs",
        text=f"Targets: {text}.",
        warning=bool(heard.warned),
        settings=(f'data.programs="{setting}"',),
        advice="Mend this line: without it all targets are programs." if heard.warned else "",
    )


def _units(programs: Programs | None, pairs: Sequence[Pair]) -> list[Pair]:
    return list(pairs) if programs is None else encode_pairs(programs, pairs)


def _words(sentences: Iterable[Sequence[str]]) -> Words:
    counts = Counter(word for sentence in sentences for word in sentence)
    once = sum(count == 1 for count in counts.values())
    return Words(types=len(counts), tokens=counts.total(), seen_once=once / max(len(counts), 1))
