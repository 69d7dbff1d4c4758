"""Inflected forms of English words, as lemminflect's dictionary has them: `cross` as `crossing`."""

from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

from ftor.errors import FtorError

INFLECTIONS = {"participle": "VBN", "gerund": "VBG"}
"""The rules by name, and the part of speech of what they write. Each is a further way to copy a word."""


def can_inflect() -> bool:
    """Whether the dictionary is installed."""
    return find_spec("lemminflect") is not None


@lru_cache(maxsize=100_000)
def inflected(word: str, rule: str) -> str | None:
    """The form of a verb in lower case, the usual one if it has several. None for other words.

    Words that the dictionary lacks are left alone: guesses of their forms explained nothing in StylePTB.

    Raises:
        FtorError: if lemminflect is not installed.
    """
    dictionary = _lemminflect()
    for lemma in dictionary.getAllLemmas(word.lower(), "VERB").get("VERB", ()):
        forms = dictionary.getInflection(lemma, INFLECTIONS[rule], inflect_oov=False)
        if forms:
            return str(forms[0])
    return None


@cache
def _lemminflect() -> Any:
    try:
        import lemminflect  # an extra
    except ImportError:
        rules = " and ".join(INFLECTIONS)
        raise FtorError(
            f"data.copy_forms, {rules}: lemminflect is not installed: pip install 'ftor[forms]'"
        ) from None
    return lemminflect
