"""Okapi: queries are sets of clauses, so the order of clauses and letter case do not count."""

import re
from collections.abc import Sequence
from pathlib import Path

from ftor.metrics import Grouping, Judge

KEYWORDS = ("GET", "FILTER", "ORDERBY", "COUNT", "SEARCH", "TOP")

_KEYWORD = re.compile("|".join(KEYWORDS))


def clauses(tokens: Sequence[str]) -> frozenset[tuple[str, str]] | None:
    """Each clause's keyword and the rest of it, in lower case; None if the query does not begin with one.

    A keyword counts wherever it occurs, also inside a word, as in the published figures.
    """
    text = " ".join(tokens).strip()
    starts = list(_KEYWORD.finditer(text))
    if not starts or starts[0].start() > 0:
        return None
    ends = [following.start() for following in starts[1:]] + [len(text)]
    return frozenset(
        (start[0].lower(), text[start.end() : end].strip().lower())
        for start, end in zip(starts, ends, strict=True)
    )


def same_clauses(gold: Sequence[str], predicted: Sequence[str]) -> bool:
    """Whether both are queries of the same clauses, in any order and repetition."""
    expected = clauses(gold)
    return list(gold) == list(predicted) or (expected is not None and expected == clauses(predicted))


def parameters(gold: Sequence[str]) -> int:
    """The number of different clauses, GET included."""
    return len(clauses(gold) or ())


GROUPING = Grouping("parameters", parameters)


def judges(data_folder: Path | None) -> tuple[Judge, ...]:
    """Clause accuracy; it needs nothing from the data folder."""
    return (Judge("clause_accuracy", same_clauses),)
