"""The log-probabilities that a network gives to targets, and why it can never write some of them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ftor.grammar import Grammar
from ftor.model.judging import derives
from ftor.model.predicting import batches_of
from ftor.networks import Network
from ftor.networks.decoding import TooLongError
from ftor.networks.network import TokenScores
from ftor.reporting import SILENT, Report
from ftor.text.programs import ProgramError
from ftor.text.reading import DataError, Source
from ftor.text.vocabularies import Vocabularies

Tokens = tuple[str, ...]


@dataclass(frozen=True)
class Score:
    """The log-probability of a target.

    Attributes:
        tokens: the tokens of the target, or its units if it is a program. For BART, its subwords.
        score: log P(y|x), the sum of the others: comparable with that of a `Prediction`. −∞ if the model can
            never write the target.
        token_scores: of each token, given those before it if the network writes from left to right.
        length_score: log P(l|x) of a transducer.
        end_score: of the end after the last token, if the network is not a transducer.
        reason: why the model can never write the target. None if it can.
    """

    tokens: Tokens
    score: float
    token_scores: tuple[float, ...] = ()
    length_score: float | None = None
    end_score: float | None = None
    reason: str | None = None

    def record(self, source: str, target: str) -> dict[str, Any]:
        """Values that can be written as JSON, which has no infinity: such a score is None."""
        if self.reason is not None:
            return {"source": source, "target": target, "score": None, "reason": self.reason}
        record: dict[str, Any] = {
            "source": source,
            "target": target,
            "score": self.score,
            "tokens": list(self.tokens),
            "token_scores": list(self.token_scores),
        }
        ends = {"length_score": self.length_score, "end_score": self.end_score}
        return record | {name: value for name, value in ends.items() if value is not None}


def score_targets(
    network: Network,
    vocabularies: Vocabularies,
    sources: Sequence[Source],
    targets: Sequence[str | Sequence[str]],
    units: Callable[[str], Tokens],
    grammar: Grammar | None,
    batch_size: int,
    report: Report = SILENT,
) -> list[Score]:
    """The score of one target of each source, some sources at a time.

    Args:
        network, vocabularies, sources, grammar: as for `score_batch`.
        targets: texts, or their tokens or units.
        units: gives the tokens or units of a text.
        batch_size: how many are scored at once.
        report: receives the progress.
    """
    if len(sources) != len(targets):
        raise ValueError(f"targets: expected {len(sources)}, one for each source, found {len(targets)}")
    scores, tokens = dict[int, Score](), dict[int, Tokens]()
    for row, target in enumerate(targets):
        try:
            tokens[row] = units(target) if isinstance(target, str) else tuple(target)
        except ProgramError as error:
            scores[row] = Score((), -math.inf, reason=f"it is no program: {error}")
    rows = list(tokens)
    with report.counting(len(rows)) as count:
        for places in batches_of([len(sources[row].tokens) for row in rows], batch_size):
            some = [rows[place] for place in places]
            batch = [sources[row] for row in some], [tokens[row] for row in some]
            scores.update(zip(some, score_batch(network, vocabularies, *batch, grammar), strict=True))
            count.advance(len(some), "scored")
    return [scores[row] for row in range(len(targets))]


def score_batch(
    network: Network,
    vocabularies: Vocabularies,
    sources: Sequence[Source],
    targets: Sequence[Tokens],
    grammar: Grammar | None = None,
) -> list[Score]:
    """The score of one target of each source.

    Args:
        network: the trained network.
        vocabularies: its words.
        sources: the sentences.
        targets: their tokens or units.
        grammar: targets must derive from this grammar, if given.
    """
    scores: dict[int, Score] = {}
    choices: dict[int, list[int]] = {}
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        try:
            choices[row] = _choices(network, vocabularies, source, target, grammar)
        except DataError as error:
            scores[row] = Score(target, -math.inf, reason=str(error))
    rows = list(choices)
    for row, found in zip(rows, _scored(network, vocabularies, sources, choices, rows, grammar), strict=True):
        if isinstance(found, str):
            scores[row] = Score(targets[row], -math.inf, reason=found)
        elif not math.isfinite(found.total):
            scores[row] = Score(targets[row], -math.inf, reason="the model gives it the probability 0")
        else:
            tokens = vocabularies.pieces(choices[row], targets[row])
            parts = tuple(found.tokens), found.length, found.end
            scores[row] = Score(tokens, found.total, *parts)
    return [scores[row] for row in range(len(sources))]


def _choices(
    network: Network, vocabularies: Vocabularies, source: Source, target: Tokens, grammar: Grammar | None
) -> list[int]:
    """The choices that write a target, or a `DataError` that says why there are none."""
    if not target:
        raise DataError("it is empty")
    choices = vocabularies.choices(target, source.tokens)
    longest = network.longest_output(len(vocabularies.source_ids(source.tokens)))
    if longest is not None and len(choices) > longest:
        raise DataError(
            f"{len(choices)} tokens are too many: the fertilities of this sentence reach {longest} at most"
        )
    if grammar is not None and not derives(grammar, vocabularies, target, source.tokens):
        raise DataError("the grammar does not derive it")
    return choices


def _scored(
    network: Network,
    vocabularies: Vocabularies,
    sources: Sequence[Source],
    choices: dict[int, list[int]],
    rows: list[int],
    grammar: Grammar | None,
) -> list[TokenScores | str]:
    """The scores of some rows, or why they have none. A row that is too long costs only itself."""
    if not rows:
        return []
    tokens, emphasis = [sources[row].tokens for row in rows], [sources[row].emphasis for row in rows]
    batch = vocabularies.source_batch(tokens, None, emphasis).to(next(network.parameters()).device)
    try:
        return list(network.score(batch, [choices[row] for row in rows], grammar is not None))
    except TooLongError as error:
        if len(rows) == 1:
            return [str(error)]
        half = len(rows) // 2
        parts = rows[:half], rows[half:]
        return [
            one for part in parts for one in _scored(network, vocabularies, sources, choices, part, grammar)
        ]
