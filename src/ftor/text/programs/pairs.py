"""Pairs whose targets are programs: the targets in units instead of tokens."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ftor.reporting import Report
from ftor.text.programs.codec import Programs
from ftor.text.programs.parsing import ProgramError
from ftor.text.programs.units import UnitSettings
from ftor.text.reading import Pair

AUTO = "auto"
"""Find the notation from the targets."""


def learn_programs(
    notation: str,
    splits: Mapping[str, Sequence[Pair]],
    settings: UnitSettings,
    copying: bool,
    report: Report,
) -> Programs | None:
    """Learn the units of the training targets. None if not all targets of all splits are programs.

    Args:
        notation: the name of a notation, or `AUTO`.
        splits: the pairs of "train" and of other files.
        settings: when units are joined.
        copying: whether the model copies. Words of sources then stay units of their own.
        report: receives what was learned, or which line is no program.
    """
    train = splits["train"]
    copied = {word for pair in train for word in pair.source} if copying else set()
    try:
        named = None if notation == AUTO else notation
        programs = Programs.learn([pair.target_text for pair in train], named, settings, copied)
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
    report.say(
        f"targets: programs ({programs.notation.name}), {after:.1f} units each, not {before:.1f} tokens; "
        f"there are {units} units"
    )
    return programs


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _problem(programs: Programs, pair: Pair) -> str:
    """Why a target would not come back to the letter, or nothing."""
    try:
        written = programs.decode(programs.encode(pair.target_text))
    except ProgramError as error:
        return str(error)
    return "" if written == pair.target_text else f"it would be written as {written!r}"


def encode_pairs(programs: Programs, pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs with targets in units. A target that is no program keeps its tokens."""
    return [replace(pair, target=_units(programs, pair)) for pair in pairs]


def _units(programs: Programs, pair: Pair) -> tuple[str, ...]:
    try:
        return tuple(programs.encode(pair.target_text))
    except ProgramError:
        return pair.target
