"""What a look at pairs finds: numbers, findings in words, and the settings that follow from them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Literal

from pydantic import BaseModel, ConfigDict

Value = bool | int | float | str
"""The value of a setting."""
Split = Literal["train", "dev", "test"]
Kind = Literal[
    "doubling",
    "not-separable",
    "reordering",
    "alignment",
    "fertility",
    "copying",
    "forms",
    "quotes",
    "programs",
    "size",
    "vectors",
    "strangers",
    "header",
    "contradictions",
    "duplicates",
    "lengths",
    "too-long",
    "untranslated",
    "characters",
    "one-token",
    "case",
    "punctuation",
    "same-pairs",
    "swapped",
    "unknown-words",
    "unseen-targets",
    "joined",
    "grammar",
    "longer",
]
"""What a finding is about. The page "When it does not work" has a section for each."""
Part = Literal["token", "unit"]
"""What targets consist of: tokens, or units if they are written in units."""


class Record(BaseModel):
    """Values that are written as JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class Finding(Record):
    """One thing that was found, and what follows from it.

    Attributes:
        kind: what it is about.
        text: what was found.
        warning: whether it may spoil training or evaluation.
        settings: the settings that follow, by their keys.
        advice: what to do, where no setting helps.
        split: the file that `lines` are in.
        lines: example lines of that file.
        more_lines: whether the same was found in more lines.
        left_out: the number of training pairs that are left out.
    """

    kind: Kind
    text: str
    warning: bool = False
    settings: dict[str, Value] = {}
    advice: str = ""
    split: Split = "train"
    lines: tuple[int, ...] = ()
    more_lines: bool = False
    left_out: int = 0

    def message(self, files: Mapping[str, Path]) -> str:
        """The finding in one line, with the file and its first example line if there is one.

        Args:
            files: the file of each split.
        """
        place = f"{files[self.split]}:{self.lines[0]}: " if self.lines and self.split in files else ""
        return f"{place}{self.text}" + (f" {self.advice}" if self.warning and self.advice else "")


class Lengths(Record):
    """The number of tokens on one side."""

    least: int
    median: float
    mean: float
    most: int

    @classmethod
    def of(cls, lengths: Sequence[int]) -> "Lengths":
        """Summarise lengths, of which there is at least one."""
        return cls(least=min(lengths), median=median(lengths), mean=fmean(lengths), most=max(lengths))


class Fertility(Record):
    """How many copies of each source position the targets need.

    Attributes:
        all: the least d such that every target has at most d · (source tokens + 1) tokens.
        most: the same for 99 % of the targets.
        without_start: the same for 99 % of the targets, if the start token writes nothing.
        of_a_word: the most target tokens that the aligner links with one word; 99 % of the words have fewer.
    """

    all: int
    most: int
    without_start: int
    of_a_word: int


class Words(Record):
    """The words of one side.

    Attributes:
        types: number of different words.
        tokens: number of words.
        seen_once: share of the types that occur once.
    """

    types: int
    tokens: int
    seen_once: float


class Copies(Record):
    """Target tokens that are words of their source, as shares of all target tokens.

    Attributes:
        same: written in the same way.
        other_case: only in another case.
        quoted: only with quotes around them.
        numbers: those of `same` that are numbers.
        rare_types: number of target words that occur in one pair only.
        rare_copied: share of these that are words of their source, in any case.
        number_types: number of different numbers in targets.
        numbers_copied: share of the numbers in targets that are words of their source.
    """

    same: float
    other_case: float
    quoted: float
    numbers: float
    rare_types: int
    rare_copied: float
    number_types: int
    numbers_copied: float


class Alignment(Record):
    """What an aligner explains, and the reorderings that its links need.

    Attributes:
        explained: share of the target tokens with a posterior of at least 0.8 for one source word.
        none, separable, not_separable: shares of the pairs by the reordering that their links need. Tokens
            without a link may need more.
        words_first: share of the pairs for which it is enough to reorder words before they are copied (R→F).
        doubling: share of the pairs whose target repeats a whole source of four words or more.
        pairs: the number of pairs that were aligned.
    """

    explained: float
    none: float
    separable: float
    not_separable: float
    words_first: float
    doubling: float
    pairs: int


class Look(Record):
    """What pairs are like. `look` returns one.

    Attributes:
        pairs: the number of pairs in each file.
        source, target: lengths in tokens.
        units: lengths of targets in units, if they are written in units.
        ratio: mean number of target tokens (units, if there are any) for each source token.
        notation: the notation of the programs, None if targets are plain tokens.
        fertility, source_words, target_words, copies, alignment: see their classes.
        findings: what was found, warnings first.
        settings: the settings of all findings.
        open: settings that the data does not decide, each with the values to try.
        vectors: the file of pretrained word vectors that has most of the source words, if there is one.
        reader: the name of the pretrained encoder that is there for natural language, if there is one.
    """

    pairs: dict[Split, int]
    source: Lengths
    target: Lengths
    units: Lengths | None
    ratio: float
    notation: str | None
    fertility: Fertility
    source_words: Words
    target_words: Words
    copies: Copies
    alignment: Alignment
    findings: tuple[Finding, ...]
    settings: dict[str, Value]
    open: dict[str, tuple[Value, ...]]
    vectors: str | None = None
    reader: str | None = None

    @property
    def warnings(self) -> list[Finding]:
        """The findings that may spoil training or evaluation."""
        return [finding for finding in self.findings if finding.warning]
