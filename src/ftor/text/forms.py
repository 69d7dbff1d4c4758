"""Forms in which words of a sentence stand in its target: `seventh` as 7, `7pm` as 1900, `bob` as "bob".

One form is that of several words: `san francisco` as `san_francisco`. Inflected forms are in `inflecting`.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ftor.text.inflecting import INFLECTIONS, can_inflect, inflected
from ftor.text.reading import Pair

_NUMBERS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"""
_ONES, _TENS = _NUMBERS.split()[:20], _NUMBERS.split()[20:]
_IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth"}
_IRREGULAR |= {"nine": "ninth", "twelve": "twelfth"}
_NUMBERED = re.compile(r"(\d+)(st|nd|rd|th)")
_WORD = re.compile(r"\w+(-\w+)*")
_HOUR = re.compile(r"(\d{1,2})(?::?(\d\d))?(am|pm)")

LEAST_TYPES = 3
"""Target words of one pair only that a rule must explain: no other pair teaches them."""
LEAST_SHARE = 0.9
"""Of the words that a rule changes, the share whose form stands in the target."""


def _ordinal(word: str) -> str:
    return _IRREGULAR.get(word) or (f"{word[:-1]}ieth" if word.endswith("y") else f"{word}th")


_CARDINALS = {word: number for number, word in enumerate(_ONES)}
_CARDINALS |= {word: 10 * number for number, word in enumerate(_TENS, 2)}
_ORDINALS = {_ordinal(word): number for word, number in _CARDINALS.items()}
for _ten in _TENS:
    for _one in _ONES[1:10]:
        _CARDINALS[f"{_ten}-{_one}"] = _CARDINALS[_ten] + _CARDINALS[_one]
        _ORDINALS[f"{_ten}-{_ordinal(_one)}"] = _CARDINALS[_ten] + _CARDINALS[_one]


def _cardinal_form(word: str) -> str | None:
    number = _CARDINALS.get(word.lower())
    return None if number is None else str(number)


def _ordinal_form(word: str) -> str | None:
    numbered = _NUMBERED.fullmatch(word.lower())
    number = numbered.group(1) if numbered else _ORDINALS.get(word.lower())
    return None if number is None else str(number)


def _hour_form(word: str) -> str | None:
    match = _HOUR.fullmatch(word.lower())
    if match is None or not 1 <= int(match.group(1)) <= 12:
        return None
    hour = int(match.group(1)) % 12 + 12 * (match.group(3) == "pm")
    return str(100 * hour + int(match.group(2) or 0))


FORMS: dict[str, Callable[[str], str | None]] = {
    "cardinal": _cardinal_form,
    "ordinal": _ordinal_form,
    "hour": _hour_form,
    "underscores": lambda word: word.replace("-", "_") if "-" in word.strip("-") else None,
    "double-quotes": lambda word: f'"{word}"',
    "single-quotes": lambda word: f"'{word}'",
}
"""The rules for single words by name. Each gives the form of a word, or None if it does not apply."""


SNAKE = "snake"
"""The rule by which several words in a row are one target token."""
MOST_WORDS = 4
"""How many words such a token has at most."""


def snake(words: Sequence[str]) -> str | None:
    """Several words in lower case, with underscores between them. None if they are no words."""
    if len(words) < 2 or not all(_WORD.fullmatch(word) for word in words):
        return None
    return "_".join(words).replace("-", "_").lower()


def form(word: str, rules: Sequence[str]) -> str:
    """The form of a word by the first rule that applies, or the word itself."""
    changes = (FORMS[rule] for rule in rules if rule in FORMS)
    return next((found for change in changes if (found := change(word)) is not None), word)


class Evidence(NamedTuple):
    """What a rule explains in training pairs.

    Attributes:
        rule: its name.
        times: target tokens that are forms of words of their sentence, and no words of it.
        examples: some words and their forms.
        follows: whether the pairs call for the rule.
    """

    rule: str
    times: int
    examples: tuple[tuple[str, str], ...]
    follows: bool


def explained(pairs: Sequence[Pair]) -> list[Evidence]:
    """The rules that explain target tokens of pairs, and what each of them explains.

    A rule follows if it explains several tokens that only one pair has, and if the words that it changes
    stand in the targets in this form. A rule that changes every word, such as one that adds quotes, or any
    words in a row, changes those whose forms some target has. Rules for inflected forms never follow: they
    explain new words, but may make a model worse. Without lemminflect they are left out.
    """
    pairs_with = Counter(token for pair in pairs for token in set(pair.target))
    rules = (*FORMS, SNAKE, *(INFLECTIONS if can_inflect() else ()))
    found = (_evidence(rule, pairs, pairs_with) for rule in rules)
    return [evidence for evidence in found if evidence.times]


def _evidence(rule: str, pairs: Sequence[Pair], pairs_with: Mapping[str, int]) -> Evidence:
    everywhere = rule not in FORMS or FORMS[rule]("x") is not None
    count = applied = right = 0
    examples, taught = dict[str, str](), set[str]()
    for pair in pairs:
        target, source = set(pair.target), set(pair.source)
        for word, written in sorted(_changed(rule, pair.source).items()):
            if written in source or (everywhere and written not in pairs_with):
                continue
            applied += 1
            if written in target:
                right += 1
                count += pair.target.count(written)
                examples.setdefault(word, written)
                taught |= {written} if pairs_with[written] == 1 else set()
    follows = rule not in INFLECTIONS and len(taught) >= LEAST_TYPES and right >= LEAST_SHARE * applied
    return Evidence(rule, count, tuple(examples.items())[:3], follows)


def _changed(rule: str, source: Sequence[str]) -> dict[str, str]:
    """The words of a source that a rule changes, and their forms. Words in a row have spaces between them."""
    if rule == SNAKE:
        rows = (
            source[first : first + count]
            for count in range(2, MOST_WORDS + 1)
            for first in range(len(source) - count + 1)
        )
        return {" ".join(row): written for row in rows if (written := snake(row)) is not None}
    change = FORMS.get(rule) or partial(inflected, rule=rule)
    return {word: written for word in source if (written := change(word)) is not None}
