"""Units by a user's grammar: the words of each rule that stand together are one output token."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

from ftor.grammar import Grammar
from ftor.text.programs.grammar_trees import GrammarTrees
from ftor.text.programs.lexing import ProgramError
from ftor.text.programs.tokens import TokenUnit, TokenUnits
from ftor.text.programs.units import UnitSettings

GRAMMAR = "grammar"
"""The name of the notation."""


class RuleUnits(TokenUnits):
    """Units of the words that one rule of a grammar writes together. Words of names stay alone.

    >>> rules = "Query -> 'FILTER' Key 'eq' Name", "Key : from | to", "Name -> @copy | @copy Name"
    >>> grammar = Grammar.parse("\\n".join(rules))
    >>> targets = ["FILTER from eq new york", "FILTER to eq rome"]
    >>> RuleUnits.learn_rules(targets, grammar, UnitSettings(count=1)).encode(targets[0])
    ['FILTER·from·eq', 'new', 'york']

    Args:
        grammar: the grammar of the targets.
        units: the units of several tokens that training has.
        tokens: the tokens of training.
        apart: adjacent tokens that are never in one unit.
    """

    def __init__(
        self,
        grammar: Grammar,
        units: Iterable[TokenUnit],
        tokens: Collection[str],
        apart: Iterable[tuple[str, str]] = (),
    ) -> None:
        super().__init__((), tokens)
        self._apart = frozenset(apart)
        self.grammar, self.trees = grammar, GrammarTrees(grammar)
        self._encoded: dict[str, list[str]] = {}
        for unit in units:
            self._name(unit)

    @classmethod
    def learn_rules(
        cls,
        targets: Sequence[str],
        grammar: Grammar,
        settings: UnitSettings | None = None,
        apart: Collection[tuple[str, str]] = (),
    ) -> Self:
        """The units that training has at least `settings.count` times.

        Args:
            targets: the texts. Spaces separate their tokens.
            grammar: their grammar. A target that it does not derive is written in single tokens.
            settings: the least number of a unit.
            apart: adjacent tokens that are never in one unit.
        """
        trees, counts = GrammarTrees(grammar), Counter(targets)
        found = Counter[TokenUnit]()
        for target, count in counts.items():
            for run in _runs(trees, target.split(), apart):
                found[run] += count
        least = (settings or UnitSettings()).count
        units = [unit for unit, count in found.items() if len(unit) > 1 and count >= least]
        return cls(grammar, units, {token for target in counts for token in target.split()}, apart)

    def encode(self, text: str) -> list[str]:
        """The names of a target's units. Words that training does not have as one unit are single tokens."""
        names = self._encoded.get(text)
        if names is None:
            tokens = text.split()
            self._check(tokens)
            runs = _runs(self.trees, tokens, self._apart)
            names = [name for run in runs for name in ([self._names[run]] if run in self._names else run)]
            self._encoded[text] = names
        return list(names)

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists and strings that JSON knows."""
        return {
            "notation": GRAMMAR,
            "grammar": self.grammar.text,
            "tokens": sorted(self.tokens),
            "units": [list(unit) for unit in self.units.values()],
            "apart": sorted(map(list, self._apart)),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read back what `to_dict` gave."""
        grammar = Grammar.parse(values["grammar"], "grammar of units")
        return cls(
            grammar, map(tuple, values["units"]), values["tokens"], [(a, b) for a, b in values["apart"]]
        )


def _runs(trees: GrammarTrees, tokens: Sequence[str], apart: Collection[tuple[str, str]]) -> list[TokenUnit]:
    try:
        runs = trees.runs(tokens)
    except ProgramError:
        return [(token,) for token in tokens]
    return [part for run in runs for part in _cut(run, apart)]


def _cut(run: TokenUnit, apart: Collection[tuple[str, str]]) -> Iterator[TokenUnit]:
    start = 0
    for place, neighbours in enumerate(pairwise(run), 1):
        if neighbours in apart:
            yield run[start:place]
            start = place
    yield run[start:]
