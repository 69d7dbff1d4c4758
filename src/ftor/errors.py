"""The base of all errors that a user can correct, and hints for misspelled names."""

from collections.abc import Iterable


class FtorError(ValueError):
    """Says what was expected and what was found; the command line shows it without a traceback."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was most likely meant; None if none is similar."""
    from rapidfuzz import fuzz, process  # here, because it takes a tenth of a second and errors are rare

    match = process.extractOne(name, list(known), scorer=fuzz.ratio, score_cutoff=75)
    return None if match is None else match[0]
