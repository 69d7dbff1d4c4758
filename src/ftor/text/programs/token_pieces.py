"""Units of plain token targets whose tokens have several parts, such as `2009-12-19` and `14:30`."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Self

from ftor.text.programs.lexing import ProgramError
from ftor.text.programs.tokens import TokenUnits
from ftor.text.programs.units import UnitSettings

PIECES = "pieces"
"""The name of the notation."""
GLUE = "⁀"
"""Stands where a piece is written beside another one without a space."""
GLUED = ("mark", "word", "number")
"""The kinds of pieces. Of two that are side by side, the first of these has the glue."""


class PieceUnits(TokenUnits):
    """Numbers, words of letters and single marks. Those that always come together are one unit.

    >>> units = PieceUnits.learn(["2009-12-19", "1999-01-19 or 2009-01-20"], UnitSettings(share=2))
    >>> units.encode("2009-12-19")
    ['2009', '⁀-⁀', '12', '⁀-⁀', '19']

    The glue is at marks, or else at words, so that numbers are those of the sentence and can be copied.
    """

    @classmethod
    def learn(
        cls,
        targets: Sequence[str],
        settings: UnitSettings | None = None,
        copied: Collection[str] = (),
        apart: Collection[tuple[str, str]] = (),
    ) -> Self:
        """See `TokenUnits.learn`. Raises `ProgramError` if a target has the glue in it."""
        return super().learn([" ".join(pieces(target)) for target in targets], settings, copied, apart)

    def encode(self, text: str) -> list[str]:
        """The names of a target's units."""
        return super().encode(" ".join(pieces(text)))

    def spell(self, names: Iterable[str]) -> list[str]:
        """The tokens of units. An unknown name is a piece, such as a word that was copied."""
        text = " ".join(super().spell(names))
        return re.sub(rf" ?{GLUE} ?{GLUE}? ?", "", text).split()

    def size(self, names: Iterable[str]) -> int:
        """The number of pieces that units stand for."""
        return len(super().spell(names))

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists and strings that JSON knows."""
        return super().to_dict() | {"notation": PIECES}


def pieces(text: str) -> list[str]:
    """The pieces of the tokens of a text. The glue is at marks, or else at words: numbers can be copied."""
    if GLUE in text:
        raise ProgramError(f"it has {GLUE!r} in it")
    found: list[str] = []
    for token in text.split():
        parts = _parts(token)
        before, after = [False] * len(parts), [False] * len(parts)
        for place, (left, right) in enumerate(pairwise(parts)):
            if GLUED.index(_class(left[0])) < GLUED.index(_class(right[0])):
                after[place] = True
            else:
                before[place + 1] = True
        both = zip(before, parts, after, strict=True)
        found += [f"{GLUE * start}{part}{GLUE * end}" for start, part, end in both]
    return found


def _parts(token: str) -> list[str]:
    """The numbers, words of letters and single marks of a token. Accents belong to their letters."""
    parts: list[str] = []
    for kind, some in groupby(token, _class):
        text = "".join(some)
        parts += list(text) if kind == "mark" else [text]
    return parts


def _class(character: str) -> str:
    if character.isdecimal():
        return "number"
    return "word" if unicodedata.category(character)[0] in "LM" else "mark"


def are_glued(targets: Sequence[str], least_rare: float, most_left: float) -> bool:
    """Whether many tokens stand in one target only, and far fewer of their pieces do.

    Args:
        targets: the tokens of each, with spaces between them.
        least_rare: the least share of tokens that stand in one target.
        most_left: the same share of pieces is at most this times the share of tokens.
    """
    if any(GLUE in target for target in targets):
        return False
    share = _share_seen_once([target.split() for target in targets])
    return share >= least_rare and _share_seen_once(list(map(pieces, targets))) <= most_left * share


def _share_seen_once(targets: Sequence[Sequence[str]]) -> float:
    counts: Mapping[str, int] = Counter(token for target in targets for token in {*target})
    tokens = [token for target in targets for token in target]
    return sum(counts[token] == 1 for token in tokens) / max(len(tokens), 1)
