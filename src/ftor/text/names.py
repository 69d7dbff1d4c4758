"""The words in the names of target tokens: `_arrival_month` is named by "arrival" and "month"."""

import re

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def name_words(token: str) -> tuple[str, ...]:
    """The words of a token's name in lower case: split at case, and at all that is no letter."""
    return tuple(word.lower() for word in _WORDS.findall(token))
