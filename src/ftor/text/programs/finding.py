"""Finds the notation in which all targets are programs."""

from collections.abc import Sequence

from ftor.text.programs.lexing import ProgramError
from ftor.text.programs.notations import Notation, learn_and_read
from ftor.text.programs.parsing import Program

LENGTHS = 3
"""Prefix order is only looked for in targets of at least so many different lengths."""
_NO_PREFIX = "sentences could be read so, too: no common first symbol, or no symbol with two arguments"


def find_notation(targets: Sequence[str]) -> tuple[Notation | None, dict[str, str]]:
    """The notation of which all targets are programs, or None, and why each other notation was refused."""
    notation, _, reasons = find_and_read(targets)
    return notation, reasons


def find_and_read(
    targets: Sequence[str], dialects: bool = True
) -> tuple[Notation | None, list[Program], dict[str, str]]:
    """The same, and the programs of all targets. `dialects`: see `learn_and_read`."""
    reasons: dict[str, str] = {}
    for name in ("json", "s-expression", "calls", "prefix"):
        try:
            if name == "prefix":
                _check_first_symbol(targets)
            notation, programs = learn_and_read(name, targets, dialects=dialects)
        except ProgramError as error:
            reasons[name] = str(error)
            continue
        reasons[name] = lacks_structure(name, programs)
        if not reasons[name]:
            return notation, programs, reasons
    return None, [], reasons


def _check_first_symbol(targets: Sequence[str]) -> None:
    """Refuse targets without a common first symbol: to look for numbers of arguments takes seconds."""
    for line, text in enumerate(targets, 1):
        if not text.strip():
            raise ProgramError(f"line {line}: the program is empty")
    if len({text.split(maxsplit=1)[0] for text in targets}) > 1:
        raise ProgramError(_NO_PREFIX)


def lacks_structure(name: str, programs: Sequence[Program]) -> str:
    """Why programs are no trees worth the name, or nothing."""
    if name != "prefix":
        brackets = {"apply", "list", "object", "array"}
        nested = any(node.kind in brackets for program in programs for node in program)
        return "" if nested else "no target has brackets"
    lengths = {len(program) for program in programs}
    roots = {program[0].text for program in programs}
    branches = any(node.children > 1 for program in programs for node in program)
    if len(lengths) >= LENGTHS and len(roots) == 1 and branches:
        return ""
    return _NO_PREFIX
