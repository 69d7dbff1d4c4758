"""Units of plain token targets: tokens that come together are written as one output token."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

from ftor.text.programs.lexing import ProgramError
from ftor.text.programs.units import JOINER, UnitSettings

TOKENS = "tokens"
"""The name of the notation."""
TokenUnit = tuple[str, ...]
Pairs = frozenset[tuple[TokenUnit, TokenUnit]]


class TokenUnits:
    """Units of adjacent tokens. Every single token is a unit too, so that every target has units.

    >>> targets = ["go to the hall", "go to the attic", "look at the hall"]
    >>> units = TokenUnits.learn(targets, UnitSettings(count=2))
    >>> units.encode("go to the attic")
    ['go·to', 'the', 'attic']

    Args:
        rounds: the pairs of units that are joined, one round after the other. No unit is both a left and a
            right one in one round.
        tokens: the tokens of training, whose names no other unit has.
    """

    def __init__(self, rounds: Iterable[Pairs] = (), tokens: Collection[str] = ()) -> None:
        self.rounds, self.tokens = tuple(rounds), frozenset(tokens)
        self.units: dict[str, TokenUnit] = {}
        """The units of several tokens by their names."""
        self._names: dict[TokenUnit, str] = {}
        for pairs in self.rounds:
            for left, right in sorted(pairs):
                self._name(left + right)

    @classmethod
    def learn(
        cls,
        targets: Sequence[str],
        settings: UnitSettings | None = None,
        copied: Collection[str] = (),
        apart: Collection[tuple[str, str]] = (),
    ) -> Self:
        """Join adjacent units in rounds while the left one predicts the right one and the other way round.

        Args:
            targets: the texts. Spaces separate their tokens.
            settings: when a pair is predictable. The left unit is the parent, the right one the child. Both
                shares have to be reached. A share above 1 leaves its direction out.
            copied: words that are copied from sources. They stay units of their own, like words in quotes.
            apart: adjacent tokens that are never in one unit, such as those of names.
        """
        settings = settings or UnitSettings()
        counts = Counter(tuple(target.split()) for target in targets)
        tokens = {token for target in counts for token in target}
        never = set(copied).union(*map(_words_in_quotes, counts))
        sequences: dict[TokenUnit, list[TokenUnit]] = {
            target: [(token,) for token in target] for target in counts
        }
        rounds: list[Pairs] = []
        none = min(settings.share, settings.child_share) > 1
        while len(rounds) < settings.rounds and not none:
            pairs = _predictable(sequences, counts, settings, never, apart)
            if not pairs:
                break
            rounds.append(pairs)
            sequences = {target: _joined(units, pairs) for target, units in sequences.items()}
        return cls(rounds, tokens)

    def encode(self, text: str) -> list[str]:
        """The names of a target's units. Raises `ProgramError` if a token is the name of another unit."""
        units: list[TokenUnit] = [(token,) for token in text.split()]
        self._check(token for (token,) in units)
        for pairs in self.rounds:
            units = _joined(units, pairs)
        return [self._names.get(unit, unit[0]) for unit in units]

    def _name(self, unit: TokenUnit) -> None:
        name = JOINER.join(unit)
        while name in self.tokens or name in self.units:
            name += "′"
        if unit not in self._names:
            self._names[unit], self.units[name] = name, unit

    def _check(self, tokens: Iterable[str]) -> None:
        for token in tokens:
            if token in self.units:
                raise ProgramError(f"the token {token!r} is the name of a unit of training")

    def spell(self, names: Iterable[str]) -> list[str]:
        """The tokens of units. An unknown name is a token, such as a word that was copied."""
        return [token for name in names for token in self.units.get(name, (name,))]

    def size(self, names: Iterable[str]) -> int:
        """The number of tokens that units stand for."""
        return len(self.spell(names))

    def show(self, name: str) -> str:
        """A unit as people write it."""
        return " ".join(self.spell([name]))

    def decode(self, names: Sequence[str], strict: bool = True) -> str:
        """The text of units, which always are some text."""
        return " ".join(self.spell(names))

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists and strings that JSON knows."""
        return {
            "notation": TOKENS,
            "tokens": sorted(self.tokens),
            "rounds": [[[list(left), list(right)] for left, right in sorted(pairs)] for pairs in self.rounds],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` gave."""
        rounds = [
            frozenset((tuple(left), tuple(right)) for left, right in pairs) for pairs in values["rounds"]
        ]
        return cls(rounds, values["tokens"])


def _words_in_quotes(tokens: Sequence[str]) -> Iterator[str]:
    """The words of names such as `' salt lake city '` or `'salt lake city'`. The marks are no words."""
    mark, inside = "", list[str]()
    for token in tokens:
        if mark:
            inside += [token] * (token != mark)
            if token.endswith(mark):
                yield from inside
                mark, inside = "", []
        elif token[0] in "'\"" and (len(token) == 1 or token[-1] != token[0]):
            mark, inside = token[0], [token] * (len(token) > 1)


def _predictable(
    sequences: Mapping[TokenUnit, Sequence[TokenUnit]],
    counts: Mapping[TokenUnit, int],
    settings: UnitSettings,
    never: Collection[str],
    apart: Collection[tuple[str, str]],
) -> Pairs:
    units, found = Counter[TokenUnit](), Counter[tuple[TokenUnit, TokenUnit]]()
    for target, sequence in sequences.items():
        for unit in sequence:
            units[unit] += counts[target]
        for pair in pairwise(sequence):
            found[pair] += counts[target]
    lefts, rights = set[TokenUnit](), set[TokenUnit]()
    pairs = set()
    for (left, right), count in sorted(found.items(), key=lambda item: (-item[1], item[0])):
        if count < settings.count:
            break
        forward = settings.share > 1 or count >= settings.share * units[left]
        backward = settings.child_share > 1 or count >= settings.child_share * units[right]
        if not (forward and backward) or left in rights or right in lefts or left == right:
            continue
        if left[0] in never or right[0] in never:  # such words are in no longer unit
            continue
        if (left[-1], right[0]) in apart:
            continue
        pairs.add((left, right))
        lefts.add(left)
        rights.add(right)
    return frozenset(pairs)


def _joined(units: Sequence[TokenUnit], pairs: Pairs) -> list[TokenUnit]:
    joined: list[TokenUnit] = []
    place = 0
    while place < len(units):
        if tuple(units[place : place + 2]) in pairs:
            joined.append(units[place] + units[place + 1])
            place += 2
        else:
            joined.append(units[place])
            place += 1
    return joined
