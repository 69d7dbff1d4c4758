"""How many lines of each file are left out: those that cannot be read, and those that are too long."""

from collections.abc import Mapping

from ftor.text.reading import PairsFile
from ftor.tuning.look.findings import Look


def lines_left_out(files: Mapping[str, PairsFile], found: Look) -> str:
    """The lines that are left out, of all lines of each file. Empty if none is.

    Args:
        files: the files by split.
        found: the look at their pairs.
    """
    long = sum(finding.left_out for finding in found.findings)
    parts = [_of_file(file, long if split == "train" else 0) for split, file in files.items()]
    return ", ".join(filter(None, parts))


def _of_file(file: PairsFile, long: int) -> str:
    if not long:
        return file.left_out
    bad = len(file.problems)
    why = f"{bad} cannot be read, {long} too long" if bad else "too long"
    return f"{file.path}: {bad + long} of {file.lines} lines ({why})"
