"""Recombined pairs: parts of training programs put together anew, with the phrases that name them.

A *part* of a program is a subtree, or a modifier: a node without the subtree of its own kind that it
modifies, such as a filter without the set that it filters. The aligner says which words name a part. A part
is replaced by another one of its kind, or a modifier is put beside another one, or an item beside another one
of a list. The sentence is put together in the same way.

A user's grammar gives trees to targets that have none: `by_rules`. Where targets are plain tokens, a whole
pair in another one is replaced by a third: `substituting`, and words by other words: `swapping`. Sentences
are chained by the words that join them: `chaining`, and so are those whose programs are items of a list:
`root_lists`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from ftor.grammar import Grammar
from ftor.text.programs import Programs
from ftor.text.programs.grammars import inferred_grammar
from ftor.text.programs.pairs import TargetUnits
from ftor.text.programs.rules import RuleUnits
from ftor.text.reading import Pair
from ftor.text.recombining.by_rules import check_derived, recombined_by_rules
from ftor.text.recombining.chaining import Chains
from ftor.text.recombining.keys import Keys
from ftor.text.recombining.kinds import read_nodes
from ftor.text.recombining.recombiner import Recombiner
from ftor.text.recombining.root_lists import chained_lists
from ftor.text.recombining.substituting import substituted
from ftor.text.recombining.swapping import Swaps
from ftor.text.seeds import derived_seed

__all__ = ["check_derived", "recombined"]

SWAPPED = 0.5
"""The share of pairs with plain tokens that get another word, and of these that get one more."""


def recombined(
    pairs: Sequence[Pair],
    programs: TargetUnits | None,
    count: int,
    seed: int,
    iterations: int,
    grow_lists: bool = False,
) -> list[Pair]:
    """Pairs put together from parts of training pairs, at most `count`. The same seed gives the same pairs.

    Args:
        pairs: training pairs, with targets in units if they are programs.
        programs: the units, if any.
        count: how many are wanted.
        seed: draws the parts.
        iterations: EM iterations of the aligner.
        grow_lists: with a grammar, whether half of the pairs have longer lists than is usual in training.
    """
    if isinstance(programs, Programs):
        accepts = _accepts(pairs, programs)
        chained = chained_lists(pairs, programs, count, seed, iterations)
        chained = [pair for pair in chained if accepts(pair.target)]
        made = Recombiner(pairs, programs, iterations, accepts).draw(count, seed)
        return _mixed(chained, made, count)
    if isinstance(programs, RuleUnits):
        return recombined_by_rules(pairs, programs, count, seed, iterations, grow_lists)
    chained = Chains(pairs, iterations).draw(count, seed)
    replaced = substituted(pairs, count, seed)
    made = _swapped(_mixed(chained, replaced, count), pairs, count, seed)
    text = " ".join if programs is None else programs.decode
    return [replace(pair, target_text=text(pair.target)) for pair in made]


def _accepts(pairs: Sequence[Pair], programs: Programs) -> Callable[[Sequence[str]], bool]:
    """Whether a program may be made. To recombiners, the keys of a JSON object are items of a list."""
    if programs.notation.name != "json":
        return lambda _: True
    grammar = Grammar.parse(inferred_grammar(pairs, programs))
    keys = Keys([read_nodes(pair.target, programs) for pair in pairs], programs)
    return lambda units: grammar.accepts(units) and keys.fit(read_nodes(units, programs))


def _swapped(made: list[Pair], pairs: Sequence[Pair], count: int, seed: int) -> list[Pair]:
    """The same pairs, half of them with other words, and training pairs with other words if they are few."""
    swaps, random = Swaps(pairs), Random(derived_seed("swapped", seed))
    known = {pair.source for pair in pairs}
    found: dict[tuple[str, ...], Pair] = {}
    for pair in made:
        new = pair
        while random.random() < SWAPPED and (other := swaps.drawn(new, random)) is not None:
            new = other
        found.setdefault(new.source, new) if new.source not in known else None
    for _ in range(count):
        new_pair = swaps.drawn(random.choice(pairs), random) if len(found) < count else None
        if new_pair is not None and new_pair.source not in known:
            found.setdefault(new_pair.source, new_pair)
    return list(found.values())


def _mixed(chained: list[Pair], others: list[Pair], count: int) -> list[Pair]:
    """So many pairs with different sources, half of either kind if there are enough."""
    sources = {pair.source for pair in chained[: max(count // 2, count - len(others))]}
    some = chained[: len(sources)]
    return some + [pair for pair in others if pair.source not in sources][: count - len(some)]
