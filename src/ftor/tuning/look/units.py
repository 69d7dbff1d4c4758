"""Dev and test programs in the units of training: parts that only larger units have, or in new places."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ftor.grammar import Grammar
from ftor.text.copying import Copying
from ftor.text.programs import Programs, UnitSettings
from ftor.text.programs.codec import CLOSE_NAME
from ftor.text.programs.grammars import grammar_of
from ftor.text.programs.pairs import encode_pairs, learn_programs
from ftor.text.programs.units import CLOSE, REST, Symbol, owners, slots
from ftor.text.reading import Pair
from ftor.tuning.look.examples import EXAMPLES, lines_of, some_of
from ftor.tuning.look.findings import Finding, Split

HEADS = {"list": "a list", "array": "a list", "object": "an object", "quoted": "a name", "words": "a name"}
"""Nodes without a text that people know, by their kinds."""
NEVER = 2.0
"""A share of `UnitSettings` at which nothing is joined."""


@dataclass(frozen=True)
class TrainingUnits:
    """The units of the training programs.

    Attributes:
        train: the training pairs, with targets in units.
        programs: the units.
        copying: how words may be copied, if they are.
        keeps_copies: whether copied words were kept apart when units were learnt.
    """

    train: Sequence[Pair]
    programs: Programs
    copying: Copying | None
    keeps_copies: bool

    @cached_property
    def known(self) -> set[str]:
        """The units of training targets."""
        return {unit for pair in self.train for unit in pair.target}

    @cached_property
    def symbols(self) -> set[Symbol]:
        """The symbols of training targets."""
        return {symbol for unit in self.known for symbol in self._symbols(unit)}

    @cached_property
    def grammar(self) -> Grammar:
        """The grammar that is inferred from training."""
        return grammar_of(self.train, self.programs, self.copying)

    @cached_property
    def smaller(self) -> list[tuple[str, "TrainingUnits"]]:
        """The same in smaller units, with the settings for that."""
        found: list[tuple[str, TrainingUnits]] = []
        for settings, keys in (
            (UnitSettings(child_share=NEVER), "data.unit_child_share=2"),
            (UnitSettings(NEVER, NEVER), "data.unit_share=2, data.unit_child_share=2"),
        ):
            notation, train = self.programs.notation, {"train": self.train}
            arities = notation.arities or None
            learned = learn_programs(notation.name, train, settings, self.keeps_copies, arities=arities).units
            if isinstance(learned, Programs):
                pairs = encode_pairs(learned, self.train)
                found.append((keys, TrainingUnits(pairs, learned, self.copying, self.keeps_copies)))
        return found

    def copies(self, pair: Pair) -> list[str]:
        """The units of a target that may be copied. One with slots is none, whatever the words are."""
        copied = self.copying.copied(pair.target, pair.source) if self.copying else ()
        return [unit for unit in copied if not slots(self.programs.unit(unit))]

    def missing(self, pair: Pair) -> set[str]:
        """The units of a target that a model cannot write."""
        return set(pair.target) - self.known - set(self.copies(pair))

    def has_symbols(self, unit: str) -> bool:
        """Whether training has all symbols of a unit."""
        return self.symbols.issuperset(self._symbols(unit))

    def larger(self, unit: str) -> str:
        """The shortest unit of training with all symbols of another one, or with one of them."""
        wanted = self._symbols(unit)
        units = sorted(self.known, key=lambda one: (-len(wanted & self._symbols(one)), len(one), one))
        return units[0]

    def accepts(self, pair: Pair) -> bool:
        """Whether the inferred grammar writes a target."""
        return not self.missing(pair) and self.grammar.accepts(pair.target, self.copies(pair))

    def _symbols(self, unit: str) -> set[Symbol]:
        return {part for part in self.programs.unit(unit) if isinstance(part, Symbol)}


def only_joined(split: Split, pairs: Sequence[Pair], units: TrainingUnits) -> Iterator[Finding]:
    """A finding about programs whose every symbol is in training, but some only as a part of a larger unit.

    Args:
        split: dev or test.
        pairs: its pairs, with targets in units.
        units: those of training.
    """
    bad: list[Pair] = []
    first: dict[str, int] = {}  # the line of each part
    for pair in pairs:
        missing = units.missing(pair)
        if missing and all(map(units.has_symbols, missing)):
            bad.append(pair)
            for unit in pair.target:
                if unit in missing:
                    first.setdefault(unit, pair.line)
    if not bad:
        return
    show = units.programs.show
    some = [f"line {line}: {show(unit)}, as in {show(units.larger(unit))}" for unit, line in first.items()]
    named = "; ".join(some[:EXAMPLES]) + ("; …" if len(some) > EXAMPLES else "")
    text = (
        f"{len(bad)} of {len(pairs)} {split} programs need parts that training has only inside larger units "
        f"({named}). A unit is written as a whole, so the model cannot write these programs."
    )
    advice = "Add training pairs that have these parts without the others."
    writable = [
        (keys, sum(map(smaller.accepts, encode_pairs(smaller.programs, bad))))
        for keys, smaller in units.smaller
    ]
    keys, count = max(writable, key=lambda one: one[1], default=("", 0))
    if count:
        advice += f" With smaller units ({keys}), {count} of these programs can be written."
    yield Finding(kind="joined", text=text, warning=True, advice=advice, split=split, **lines_of(bad))


def refused(split: Split, pairs: Sequence[Pair], units: TrainingUnits) -> Iterator[Finding]:
    """A finding about programs of known units that the inferred grammar cannot write.

    Args:
        split, pairs, units: as above.
    """
    bad: list[Pair] = []
    parts: dict[str, None] = {}
    for pair in pairs:
        if units.missing(pair) or units.accepts(pair):
            continue
        place = units.grammar.misfit(pair.target, units.copies(pair))
        bad.append(pair)
        parts |= dict.fromkeys([_placed(pair.target, place, units.programs)])
    if bad:
        text = (
            f"{len(bad)} of {len(pairs)} {split} programs have parts where training never has them "
            f"({some_of(list(parts))}): the inferred grammar cannot write these programs."
        )
        advice = "Add training pairs that have such parts there, or compare: ftor evaluate … --grammar none."
        yield Finding(kind="grammar", text=text, warning=True, advice=advice, split=split, **lines_of(bad))


def _placed(target: Sequence[str], place: int, programs: Programs) -> str:
    """A part of a program with the argument that it is, such as `(area …)` as argument 2 of `paint`."""
    open_: list[tuple[Symbol, int, str]] = []  # the open slots, the next one last
    for name in target[:place]:
        unit = programs.unit(name)
        if unit == CLOSE or (open_ and open_[-1][2] != REST):
            open_.pop()
        new = zip(owners(unit), slots(unit), strict=True)
        open_ += reversed([(symbol, number, kind) for (symbol, number), kind in new])
    is_end = place == len(target) or target[place] == CLOSE_NAME
    part = "an end" if is_end else programs.show(target[place])
    if not open_:
        return f"{part} as a whole program"
    symbol, number, kind = open_[-1]
    head = HEADS.get(symbol.kind) or symbol.text
    return f"{part} in {head}" if kind == REST else f"{part} as argument {number + 1} of {head}"
