"""Pairs whose targets are in units instead of tokens: trees of programs, or tokens that come together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ftor.grammar import Grammar
from ftor.reporting import Report
from ftor.text.linking import named_apart
from ftor.text.programs.codec import Programs
from ftor.text.programs.lexing import ProgramError
from ftor.text.programs.names import neighbours_in_sources
from ftor.text.programs.rules import GRAMMAR, RuleUnits
from ftor.text.programs.token_pieces import PIECES, PieceUnits, pieces
from ftor.text.programs.tokens import TOKENS, TokenUnits
from ftor.text.programs.units import UnitSettings
from ftor.text.reading import Pair, listed_problems

AUTO = "auto"
"""Find the notation from the targets."""
ITERATIONS = 50
"""EM iterations of the aligner that says which tokens are named apart."""
TargetUnits = Programs | TokenUnits
"""How targets are written in units."""


def read_units(values: Mapping[str, Any]) -> TargetUnits:
    """Read back what `to_dict` gave."""
    kinds: dict[str, type[TargetUnits]] = {TOKENS: TokenUnits, PIECES: PieceUnits, GRAMMAR: RuleUnits}
    return kinds.get(values["notation"], Programs).from_dict(values)


@dataclass(frozen=True)
class Learned:
    """What was learned about the targets of pairs.

    Attributes:
        units: how targets are written in units. None if they stay plain tokens.
        problem: why they stay plain tokens. Empty if they do not.
        unexpected: whether they were expected to be programs: the user named their notation, or only a few
            lines stand in the way.
        tokens, length: mean number of tokens, and of units, of a training target.
        types: the number of different units of the training targets.
        unwritable: by split, why targets of these lines do not come back. Training has none.
    """

    units: TargetUnits | None
    problem: str = ""
    unexpected: bool = False
    tokens: float = 0.0
    length: float = 0.0
    types: int = 0
    unwritable: Mapping[str, Mapping[int, str]] = field(default_factory=dict)

    def __str__(self) -> str:
        if self.units is None:
            return f"plain tokens, because {self.problem}"
        tokens = "pieces of tokens" if isinstance(self.units, PieceUnits) else "tokens"
        what = tokens if isinstance(self.units, TokenUnits) else f"programs ({self.units.notation})"
        lengths = f"{self.length:.1f} units each, not {self.tokens:.1f} tokens"
        if self.length > self.tokens:  # as in JSON
            lengths += " (a token ends at a space, and can have several brackets, keys and words)"
        return f"{what}, {lengths}; there are {self.types} units"

    def tell(self, report: Report, files: Mapping[str, object] | None = None) -> None:
        """Say it, or warn of it. `files` has the file of each split."""
        (report.warn if self.unexpected else report.say)(f"targets: {self}")
        for split, problems in self.unwritable.items():
            warn_of_unwritable((files or {}).get(split, split), problems, report)


def learn_programs(
    notation: str,
    splits: Mapping[str, Sequence[Pair]],
    settings: UnitSettings,
    copying: bool,
    grammar: Grammar | None = None,
    arities: Mapping[str, int] | None = None,
    dialects: bool = True,
) -> Learned:
    """Learn the units of the training targets, if all of them can be written in units.

    Targets of other splits that cannot be written cost only themselves: see `Learned.unwritable`.

    Args:
        notation: the name of a notation, `AUTO`, `GRAMMAR`, or for targets that are no trees `TOKENS` or
            `PIECES`.
        splits: the pairs of "train" and of other files.
        settings: when units are joined.
        copying: whether the model copies. Words of sources then stay units of their own.
        grammar: whose rules make units. `GRAMMAR` needs it.
        arities: the number of arguments of each symbol of prefix order that takes some, if they are known.
        dialects: see `Programs.learn`.
    """
    if notation == AUTO and arities is not None:
        notation = "prefix"
    train = splits["train"]
    copied = {word for pair in train for word in pair.source} if copying else set()
    targets = [target_text(pair, notation in (TOKENS, PIECES, GRAMMAR)) for pair in train]
    sentences = [pair.source for pair in train]
    units: TargetUnits
    try:
        if notation == GRAMMAR and grammar is not None:
            units = RuleUnits.learn_rules(targets, grammar, settings, named_apart(train, ITERATIONS))
        elif notation in (TOKENS, PIECES):
            kind, split = (PieceUnits, pieces) if notation == PIECES else (TokenUnits, str.split)
            words = zip(sentences, map(split, targets), strict=True)
            units = kind.learn(targets, settings, copied, neighbours_in_sources(words))
        else:
            name = None if notation == AUTO else notation
            units = Programs.learn(
                targets, name, settings, copied, arities=arities, sentences=sentences, dialects=dialects
            )
    except ProgramError as error:
        if notation == AUTO:
            return Learned(None, f"they are no programs:\n{_indented(str(error))}")
        return Learned(None, f"training is not {notation}: {error}", unexpected=True)
    unwritable = {split: unwritable_targets(units, pairs) for split, pairs in splits.items()}
    for line, problem in unwritable.pop("train").items():
        return Learned(None, f"of train line {line}: {problem}", unexpected=True)
    encoded = encode_pairs(units, train)
    return Learned(
        units,
        tokens=sum(len(pair.target) for pair in train) / len(train),
        length=sum(len(pair.target) for pair in encoded) / len(train),
        types=len({unit for pair in encoded for unit in pair.target}),
        unwritable={split: problems for split, problems in unwritable.items() if problems},
    )


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def target_text(pair: Pair, tokens: bool) -> str:
    """What is written in units: the tokens of a target, or the target as it is written in the file."""
    return " ".join(pair.target) if tokens else pair.target_text


def unwritable_targets(programs: TargetUnits, pairs: Iterable[Pair]) -> dict[int, str]:
    """By line, why a target would not come back to the letter. Without those that would."""
    return {pair.line: problem for pair in pairs if (problem := _encoded(programs, pair)[1])}


def warn_of_unwritable(name: object, problems: Mapping[int, str], report: Report) -> None:
    """Warn of targets that do not come back, with their file, `name`, and their lines."""
    for message in listed_problems(name, problems):
        report.warn(f"{message}; the model cannot write this target, which counts as wrong")


def encode_pairs(programs: TargetUnits, pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs with targets in units. A target that would not come back to the letter keeps its tokens."""
    return [replace(pair, target=_encoded(programs, pair)[0]) for pair in pairs]


def _encoded(programs: TargetUnits, pair: Pair) -> tuple[tuple[str, ...], str]:
    """The units of a target, or its tokens and why it would not come back to the letter."""
    text = target_text(pair, isinstance(programs, TokenUnits))
    try:
        units = tuple(programs.encode(text))
        written = programs.decode(units)
    except ProgramError as error:
        return pair.target, str(error)
    return (units, "") if written == text else (pair.target, f"it would be written as {written!r}")
