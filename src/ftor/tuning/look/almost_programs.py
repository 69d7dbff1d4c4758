"""Targets of which nearly all, but not all, are programs."""

from collections.abc import Sequence

from ftor.text.programs import Notation, ProgramError, learn
from ftor.text.programs.finding import lacks_structure
from ftor.text.programs.lexing import possible_dialects
from ftor.text.reading import Pair
from ftor.tuning.look.almost_prefix import almost_prefix
from ftor.tuning.look.examples import lines_of
from ftor.tuning.look.findings import Finding, Value

NEARLY_ALL = 0.8
BRACKETS = "([{"


def not_programs(pairs: Sequence[Pair], settings: dict[str, Value]) -> Finding:
    """Say that targets are plain tokens, and which lines stand in the way if nearly all are programs."""
    texts = [pair.target_text for pair in pairs]
    notations = [
        Notation(name, dialect=dialect)
        for name in ("json", "s-expression", "calls")
        for dialect in possible_dialects(name, texts)
    ]
    for notation in notations:
        name = notation.name
        bad = [(pair, problem) for pair in pairs if (problem := _problem(notation, pair.target_text))]
        if len(bad) <= (1 - NEARLY_ALL) * len(pairs):
            what = _exceptions(str(notation), bad, len(pairs)) if bad else _spacing(name, pairs)
            return _nearly(name, bad, what, settings)
    found = almost_prefix([pair.target_text.split() for pair in pairs])
    if found is not None and found.exceptions:
        notation = Notation("prefix", {}, found.arities)
        others = [pairs[place] for place in found.exceptions]
        bad = [(pair, _prefix_problem(notation, pair.target_text)) for pair in others]
        return _nearly("prefix", bad, _exceptions("prefix", bad, len(pairs)), settings)
    return Finding(kind="programs", text="Targets are plain tokens, not programs.", settings=settings)


def _exceptions(name: str, bad: Sequence[tuple[Pair, str]], count: int) -> str:
    first, problem = bad[0]
    return (
        f"{count - len(bad)} of {count} targets are programs ({name}), but not all: "
        f"line {first.line}: {problem}. Targets are read as plain tokens."
    )


def _nearly(name: str, bad: Sequence[tuple[Pair, str]], text: str, settings: dict[str, Value]) -> Finding:
    """The finding. Without bad lines, programs are written in several ways."""
    what = "Mend these lines" if bad else "Write all of them in one way"
    advice = f"{what}: programs are learnt far better as trees than as plain tokens."
    lines = lines_of(pair for pair, _ in bad)
    return Finding(kind="programs", text=text, warning=True, settings=settings, advice=advice, **lines)


def _problem(notation: Notation, text: str) -> str:
    """Why a target is no program of the notation, or nothing."""
    if not any(bracket in text for bracket in BRACKETS):
        return "it has no brackets"
    try:
        program = notation.read(text)
    except ProgramError as error:
        return str(error)
    is_flat = lacks_structure(notation.name, [program])  # brackets in quotes are none
    return "it has no brackets" if is_flat else ""


def _prefix_problem(notation: Notation, text: str) -> str:
    """Why a target is an exception in prefix order."""
    try:
        first = notation.read(text)[0].text
    except ProgramError as error:
        return str(error)
    return f"it begins with {first!r}, unlike nearly all others"


def _spacing(name: str, pairs: Sequence[Pair]) -> str:
    """Say why programs, each of which can be read, do not come back to the letter."""
    try:
        learn(name, [pair.target_text for pair in pairs])
    except ProgramError as error:
        return f"Targets are programs ({name}), but written in several ways: {error}."
    raise AssertionError("programs that can be learned are not asked about")
