"""What pairs have that training lacks: words, parts of outputs, and combinations of parts."""

from collections.abc import Sequence
from itertools import pairwise

from ftor.text.batches import NO_CLASS as NEW
from ftor.text.reading import Pair
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import COPY

Tokens = tuple[str, ...]


def new_words(
    pairs: Sequence[Pair], vocabularies: Vocabularies, trained: Sequence[str]
) -> tuple[Tokens, ...]:
    """The words of each source that are not among the words of the training pairs.

    Args:
        pairs: the pairs.
        vocabularies: those of the model. Words of other sentences may have been added to them.
        trained: the source words of the training pairs.
    """
    known = set(trained)
    return tuple(
        tuple(token for token in pair.source if vocabularies.word(token) not in known) for pair in pairs
    )


def new_parts(pairs: Sequence[Pair], vocabularies: Vocabularies) -> tuple[Tokens, ...]:
    """The tokens of each target that the training targets lack, without those that the model can copy."""
    return tuple(
        tuple(token for token, key in zip(pair.target, _keys(pair, vocabularies), strict=True) if key == NEW)
        for pair in pairs
    )


def new_combinations(
    pairs: Sequence[Pair], vocabularies: Vocabularies, training: Sequence[Pair]
) -> tuple[tuple[Tokens, ...], ...]:
    """Each two neighbouring tokens of a target that are nowhere neighbours in the training targets.

    Copies count as one and the same token. Both tokens are known by themselves.
    """
    known = {keys for pair in training for keys in pairwise(_keys(pair, vocabularies))}
    return tuple(
        tuple(
            tokens
            for tokens, keys in zip(pairwise(pair.target), pairwise(_keys(pair, vocabularies)), strict=True)
            if keys not in known and NEW not in keys
        )
        for pair in pairs
    )


def _keys(pair: Pair, vocabularies: Vocabularies) -> list[str | int]:
    """What stands for each token of a target: the token itself, or that it is a copy or new."""
    copying, target = vocabularies.copying, vocabularies.target
    words = copying.keys(pair.source) if copying else {}
    keys: list[str | int] = []
    for token in pair.target:
        copied = copying is not None and copying.is_copy(token, words) and (copying.open or token in target)
        keys.append(COPY if copied else token if token in target else NEW)
    return keys
