"""Words that stand in each sentence as often as a symbol in its program: `wake` as often as `alarm`."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from ftor.text.programs import Programs
from ftor.text.programs.nodes import Node
from ftor.text.programs.units import ANY, Symbol

LEAST = 10
"""Pairs with a word and a symbol that must show it."""


def symbols(nodes: Iterable[Node], programs: Programs) -> Counter[str]:
    """How often a program has each symbol with a fixed number of children, and each text. Lists may grow.

    A word may be the name of several symbols, as `hives` in `hives(keepers)` and in `filter(hives, new)`.
    """
    units = (programs.unit(node.unit) for node in nodes)
    found = [part for unit in units for part in unit if isinstance(part, Symbol) and part.arity != ANY]
    return Counter(map(repr, found)) + Counter(symbol.text for symbol in found)


def steady(targets: Iterable[Sequence[str]], separators: Iterable[Collection[int]]) -> set[str]:
    """The separators of lists that no target has more often than another one. They tell nothing of words.

    Args:
        targets: the tokens of each program.
        separators: which of them separate the items of lists.
    """
    numbers: dict[str, set[int]] = {}
    for target, places in zip(targets, separators, strict=True):
        for token in {target[place] for place in places}:
            numbers.setdefault(token, set()).add(target.count(token))
    return {token for token, counts in numbers.items() if len(counts) == 1}


class Counts:
    """The words and symbols that all pairs of training have equally often.

    Args:
        pairs: for each pair its sentence, and how often its program has each symbol.
    """

    def __init__(self, pairs: Sequence[tuple[Sequence[str], Mapping[str, int]]]) -> None:
        self._words: dict[str, set[str]] = {}
        with_symbol, with_word = Counter[str](), Counter[str]()
        equal: set[str]
        for source, symbols in pairs:
            times = Counter(source)
            with_word.update(times.keys())
            with_symbol.update(symbols.keys())
            for symbol, count in symbols.items():
                equal = {word for word, number in times.items() if number == count}
                self._words[symbol] = self._words.get(symbol, equal) & equal
        for symbol, words in self._words.items():
            often = with_symbol[symbol] >= LEAST
            self._words[symbol] = {word for word in words if often and with_word[word] == with_symbol[symbol]}

    def hold(self, source: Sequence[str], symbols: Mapping[str, int]) -> bool:
        """Whether a sentence and a program have them equally often, too."""
        words = Counter(source)
        return all(
            words[word] == symbols.get(symbol, 0) for symbol, equal in self._words.items() for word in equal
        )
