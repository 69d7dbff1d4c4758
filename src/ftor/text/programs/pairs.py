"""Pairs whose targets are in units instead of tokens: trees of programs, or tokens that come together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ftor.reporting import Report
from ftor.text.programs.codec import Programs
from ftor.text.programs.parsing import ProgramError
from ftor.text.programs.tokens import TOKENS, TokenUnits
from ftor.text.programs.units import UnitSettings
from ftor.text.reading import Pair

AUTO = "auto"
"""Find the notation from the targets."""
TargetUnits = Programs | TokenUnits
"""How targets are written in units."""


def read_units(values: Mapping[str, Any]) -> TargetUnits:
    """Read back what `to_dict` gave."""
    kind = TokenUnits if values["notation"] == TOKENS else Programs
    return kind.from_dict(values)


def learn_programs(
    notation: str,
    splits: Mapping[str, Sequence[Pair]],
    settings: UnitSettings,
    copying: bool,
    report: Report,
) -> TargetUnits | None:
    """Learn the units of the training targets. None if not all targets of all splits can be written in them.

    Args:
        notation: the name of a notation, `AUTO`, or `TOKENS` for targets that are no trees.
        splits: the pairs of "train" and of other files.
        settings: when units are joined.
        copying: whether the model copies. Words of sources then stay units of their own.
        report: receives what was learned, or which line is no program.
    """
    train = splits["train"]
    copied = {word for pair in train for word in pair.source} if copying else set()
    targets = [target_text(pair, notation == TOKENS) for pair in train]
    programs: TargetUnits
    try:
        if notation == TOKENS:
            programs = TokenUnits.learn(targets, settings, copied)
        else:
            programs = Programs.learn(targets, None if notation == AUTO else notation, settings, copied)
    except ProgramError as error:
        if notation == AUTO:
            report.say(f"targets: plain tokens, because they are no programs:\n{_indented(str(error))}")
        else:
            report.warn(f"targets: plain tokens, because training is not {notation}: {error}")
        return None
    for split, pairs in splits.items():
        for pair in pairs:
            problem = _problem(programs, pair)
            if problem:
                report.warn(f"targets: plain tokens, because of {split} line {pair.line}: {problem}")
                return None
    before = sum(len(pair.target) for pair in train) / len(train)
    encoded = encode_pairs(programs, train)
    after = sum(len(pair.target) for pair in encoded) / len(train)
    units = len({unit for pair in encoded for unit in pair.target})
    what = "tokens" if isinstance(programs, TokenUnits) else f"programs ({programs.notation.name})"
    report.say(f"targets: {what}, {after:.1f} units each, not {before:.1f} tokens; there are {units} units")
    return programs


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def target_text(pair: Pair, tokens: bool) -> str:
    """What is written in units: the tokens of a target, or the target as it is written in the file."""
    return " ".join(pair.target) if tokens else pair.target_text


def _problem(programs: TargetUnits, pair: Pair) -> str:
    """Why a target would not come back to the letter, or nothing."""
    text = target_text(pair, isinstance(programs, TokenUnits))
    try:
        written = programs.decode(programs.encode(text))
    except ProgramError as error:
        return str(error)
    return "" if written == text else f"it would be written as {written!r}"


def encode_pairs(programs: TargetUnits, pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs with targets in units. A target that is no program keeps its tokens."""
    return [replace(pair, target=_units(programs, pair)) for pair in pairs]


def _units(programs: TargetUnits, pair: Pair) -> tuple[str, ...]:
    try:
        return tuple(programs.encode(target_text(pair, isinstance(programs, TokenUnits))))
    except ProgramError:
        return pair.target
