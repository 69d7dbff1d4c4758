"""Target tokens that are words of their source, and whether the model should copy them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ftor.reporting import counted, percent
from ftor.text.copying import Copying
from ftor.text.forms import Evidence, explained
from ftor.text.inflecting import INFLECTIONS
from ftor.text.reading import Pair
from ftor.tuning.look.examples import some_of
from ftor.tuning.look.findings import Copies, Finding, Part, Value

QUOTES = "\"'`“”‘’"
NUMBER = re.compile(r"[+-]?\d+([.,:/-]\d+)*")
RARE_TYPES = 3
"""Least number of copied words that occur in one pair only that calls for copying."""
RARE_COPIED = 0.3
"""Least share of the rare words that are copied."""
NUMBERS_COPIED = 0.95
"""Least share of the numbers in targets that are copied that calls for copying."""
NUMBER_TYPES = 5
"""Least number of different numbers in targets for that."""
OFTEN = 3
"""If every number stands in so many pairs, new pairs hardly have new numbers: they need not be copied."""
OTHER_CASE = 0.1
"""Share of the copied words that differ in case from which on case is ignored. Numbers have no case."""
AS_IN_SENTENCES = (
    "A word in another case is written as training targets write it, and a new one as in the sentence. Exact "
    "match compares case."
)
FAITHFUL_TYPES = 5
"""Number of words that are always copied from which on copying is tried."""
QUOTED = 0.01
"""Share of the target tokens that are quoted words of the source from which on it is said."""


class Decision(NamedTuple):
    """Whether the model should copy: a finding with its settings, and settings that are to be tried."""

    finding: Finding
    open: dict[str, tuple[Value, ...]]

    @property
    def may_copy(self) -> bool:
        """Whether copying is on or to be tried."""
        return bool(self.open or self.finding.settings["model.copying"])

    @property
    def rules(self) -> Copying | None:
        """How words are copied, if copying is on or to be tried."""
        settings = self.finding.settings
        forms = str(settings.get("data.copy_forms", "")).split()
        any_case = settings.get("data.copy_case") == "any"
        return Copying(any_case=any_case, forms=tuple(forms)) if self.may_copy else None


class CopyCounts:
    """Counts of copies in training pairs. Targets are in units if they are programs.

    Attributes:
        forms: the forms in which words of sources stand in targets, and how often.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.tokens = self.same = self.other_case = self.quoted = 0
        self.number_tokens = self.numbers_copied = 0
        self.pairs_with: Counter[str] = Counter()
        self.copied_in: Counter[str] = Counter()
        self.in_source: Counter[str] = Counter()
        self.case_only: Counter[str] = Counter()
        for pair in pairs:
            self._count(pair)
        self.forms = explained(pairs)
        self.rare = [token for token, count in self.pairs_with.items() if count == 1]
        self.rare_copied = [token for token in self.rare if self.copied_in[token] or self.case_only[token]]
        self.number_types = [token for token in self.pairs_with if NUMBER.fullmatch(token)]

    def _count(self, pair: Pair) -> None:
        source, lower = set(pair.source), {word.lower() for word in pair.source}
        for word in source:
            self.in_source[word] += 1
        for token in dict.fromkeys(pair.target):  # not a set: its order differs from run to run
            self.pairs_with[token] += 1
            self.copied_in[token] += token in source
            self.case_only[token] += token not in source and token.lower() in lower
        for token in pair.target:
            number = NUMBER.fullmatch(token) is not None
            self.tokens += 1
            self.number_tokens += number
            if token in source:
                self.same += 1
                self.numbers_copied += number
            elif token.lower() in lower:
                self.other_case += 1
            elif token.strip(QUOTES) != token and token.strip(QUOTES).lower() in lower:
                self.quoted += 1

    @property
    def faithful(self) -> list[str]:
        """Words that stand in a target if and only if they stand in its source."""
        return [
            token
            for token, count in self.pairs_with.items()
            if count == self.copied_in[token] == self.in_source[token]
        ]

    def summary(self) -> Copies:
        """The counts as shares."""
        tokens = max(self.tokens, 1)
        return Copies(
            same=self.same / tokens,
            other_case=self.other_case / tokens,
            quoted=self.quoted / tokens,
            numbers=self.numbers_copied / tokens,
            rare_types=len(self.rare),
            rare_copied=len(self.rare_copied) / max(len(self.rare), 1),
            number_types=len(self.number_types),
            numbers_copied=self.numbers_copied / max(self.number_tokens, 1),
        )


class NeededLater(NamedTuple):
    """Words of dev sources that dev targets have, and no training target has.

    Attributes:
        same: those that are written in the same way.
        other_case: those that are only written in another case.
    """

    same: list[str]
    other_case: list[str]

    @classmethod
    def of(cls, counts: CopyCounts, dev: Sequence[Pair]) -> "NeededLater":
        """The words of dev pairs, with targets in units if they are programs."""
        same, other_case = dict[str, None](), dict[str, None]()
        for pair in dev:
            lower = {word.lower() for word in pair.source}
            for token in pair.target:
                if token not in counts.pairs_with and token.lower() in lower:
                    (same if token in pair.source else other_case)[token] = None
        return cls(list(same), list(other_case))

    @property
    def all(self) -> list[str]:
        """Both."""
        return [*self.same, *self.other_case]


def decide(counts: CopyCounts, needed_later: NeededLater, part: Part, names: Sequence[str] = ()) -> Decision:
    """Whether the model should copy.

    A copied word that no other pair has is the evidence: only copying can write such a word in a new pair.

    Args:
        counts: the copies of the training pairs.
        needed_later: copied words that training targets lack.
        part: what targets consist of.
        names: in quotes, if they come from the sentences.
    """
    copies = counts.summary()
    rare = len(counts.rare_copied) >= RARE_TYPES and copies.rare_copied >= RARE_COPIED
    numbers = copies.number_types >= NUMBER_TYPES and copies.numbers_copied >= NUMBERS_COPIED
    numbers = numbers and any(counts.pairs_with[number] < OFTEN for number in counts.number_types)
    forms = " ".join(one.rule for one in counts.forms if one.follows)
    any_case = _ignores_case(counts, needed_later)
    needed = needed_later.all if any_case else needed_later.same
    if not (rare or numbers or needed or forms or names):
        return _no_evidence(counts, copies, part)
    settings: dict[str, Value] = {"model.copying": True, "training.word_dropout": 0.1}
    if any_case:
        settings["data.copy_case"] = "any"
    why = []
    if rare:
        why.append(
            f"{len(counts.rare_copied)} of {len(counts.rare)} target words that only one pair has are words "
            f"of its source ({some_of(counts.rare_copied)})"
        )
    if names:
        why.append(f"{len(names)} names in quotes stand in their sources ({some_of(names)})")
    if numbers:
        why.append(f"{percent(copies.numbers_copied, 0)} of the numbers in targets stand in the source")
    if needed:
        case = "" if needed_later.same else " in another case"
        why.append(f"dev targets have new words of their sources{case} ({some_of(needed)})")
    if forms:
        settings["data.copy_forms"] = forms
        why.append("target words that only one pair has are other forms of words of its source")
    text = f"Words are copied: {'; '.join(why)}."
    advice = AS_IN_SENTENCES if any_case else ""
    return Decision(Finding(kind="copying", text=text, settings=settings, advice=advice), {})


def _ignores_case(counts: CopyCounts, needed_later: NeededLater) -> bool:
    """Whether copies differ in case: of rare words and words that dev needs, or else of all."""
    rare = [token for token in counts.rare_copied if not NUMBER.fullmatch(token)]
    case = sum(counts.case_only[token] > 0 for token in rare) + len(needed_later.other_case)
    words = len(rare) + sum(not NUMBER.fullmatch(token) for token in needed_later.all)
    if not words:
        case, words = counts.other_case, counts.other_case + counts.same - counts.numbers_copied
    return case > OTHER_CASE * words


def _no_evidence(counts: CopyCounts, copies: Copies, part: Part) -> Decision:
    if len(counts.faithful) >= FAITHFUL_TYPES:
        text = (
            f"{len(counts.faithful)} words stand in a target whenever they stand in its source "
            f"({some_of(counts.faithful)}), but all of them are frequent: copying may help or not."
        )
        advice = "Try both values of model.copying, as a race does."
        return Decision(Finding(kind="copying", text=text, advice=advice), {"model.copying": (False, True)})
    share = percent(copies.same, 0)
    text = f"{share} of the target {part}s are words of their source; none of them calls for copying."
    settings: dict[str, Value] = {"model.copying": False}
    return Decision(Finding(kind="copying", text=text, settings=settings), {})


def forms(counts: CopyCounts) -> Iterator[Finding]:
    """Say which rules explain target words that are no words of their source."""
    if counts.forms:
        rules = "; ".join(map(_rule, counts.forms))
        text = f"Words of sources stand in targets in other forms: {rules}."
        following = " ".join(one.rule for one in counts.forms if one.follows)
        settings: dict[str, Value] = {"data.copy_forms": following} if following else {}
        yield Finding(kind="forms", text=text, settings=settings, advice=_advice_on_forms(counts.forms))


def _advice_on_forms(rules: Sequence[Evidence]) -> str:
    others = " ".join(one.rule for one in rules if not one.follows and one.rule not in INFLECTIONS)
    inflections = " and ".join(one.rule for one in rules if one.rule in INFLECTIONS)
    advice = []
    if others:
        advice.append(f"The pairs do not call for {others}: set data.copy_forms if new words need it.")
    if inflections:
        advice.append(f"Copies as {inflections} are only set by hand, in data.copy_forms: compare on dev.")
    return " ".join(advice)


def _rule(one: Evidence) -> str:
    examples = ", ".join(f"{word} as {form}" for word, form in one.examples)
    return f"{one.rule} {counted(one.times, 'time')} ({examples})"


def quotes(counts: CopyCounts, programs: bool) -> Iterator[Finding]:
    """Say that words are only copied with quotes around them, if no rule for that follows."""
    copies = counts.summary()
    known = any(one.follows and one.rule.endswith("quotes") for one in counts.forms)
    if not programs and not known and copies.quoted >= QUOTED:
        share = percent(copies.quoted, 0)
        text = f"{share} of the target tokens are words of their source with quotes around them."
        advice = "Write a space between quotes and words in the targets, so that the words can be copied."
        yield Finding(kind="quotes", text=text, warning=True, advice=advice)
