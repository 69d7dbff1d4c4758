"""The predictions of a network for one batch of sentences."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import NamedTuple

import torch
from torch import Tensor

from ftor.grammar import Grammar
from ftor.model.judging import derives
from ftor.model.prediction import Alternative, Prediction, Structure
from ftor.model.structure import structures
from ftor.networks import Constraint, Network, Output
from ftor.networks.decoding import TooLongError
from ftor.text.batches import SourceBatch
from ftor.text.reading import Source
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import START_TOKEN

Tokens = tuple[str, ...]
Text = Callable[[Tokens], str]
MORE = (4, 16)
"""So many times as many outputs are searched for, where too many have the same text."""
LONG, LONGER = 50, 4
"""A sentence is not in the batch of one that is `LONGER` times and `LONG` tokens shorter: all are padded."""


class Evaluating:
    """Keeps a network in evaluation mode while at least one thread predicts with it."""

    def __init__(self) -> None:
        self._lock, self._inside, self._was_training = Lock(), 0, False

    @contextmanager
    def __call__(self, network: Network) -> Iterator[None]:
        """Predict within this block."""
        with self._lock:
            if not self._inside:
                self._was_training = network.training
                if self._was_training:  # it visits every module
                    network.eval()
            self._inside += 1
        try:
            with torch.no_grad():
                yield
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside and self._was_training:
                    network.train()

    def if_nobody(self, change: Callable[[], None]) -> None:
        """Change something that predictions need, unless some thread predicts. None begins meanwhile."""
        with self._lock:
            if not self._inside:
                change()


class Found(NamedTuple):
    """An output that was found for a source, its tokens, and its text if it is compared with others."""

    output: Output
    tokens: Tokens
    text: str = ""


def predict_batch(
    network: Network,
    vocabularies: Vocabularies,
    sources: Sequence[Source],
    lengths: int = 1,
    grammar: Grammar | None = None,
    length_grammar: Grammar | None = None,
    structure: bool = False,
    n: int = 1,
    text: Text = " ".join,
) -> list[Prediction]:
    """The most likely output of each source, and others.

    Args:
        network: the trained network.
        vocabularies: its words.
        sources: the sentences.
        lengths: k, how many output lengths are tried.
        grammar: outputs derive from this grammar, if given.
        length_grammar: outputs have a length that this grammar derives, if given.
        structure: whether to add the structure of predictions. Only a transducer has one.
        n: how many outputs are searched for. All but the first are alternatives.
        text: the text of an output. Of outputs with the same text only the first counts.
    """
    device = next(network.parameters()).device
    tokens, emphasis = [source.tokens for source in sources], [source.emphasis for source in sources]
    terminals = grammar.terminals if grammar is not None else None
    batch = vocabularies.source_batch(tokens, terminals, emphasis).to(device)
    start = (START_TOKEN,) if vocabularies.start_token else ()
    read = [start + source for source in tokens]
    constraint = _constraint(vocabularies, tokens, read, grammar, length_grammar)
    if n == 1:
        decoded = network.decode(batch, lengths, constraint)
        found = [
            [Found(output, vocabularies.output(output.choices, source))]
            for output, source in zip(decoded, read, strict=True)
        ]
    else:
        found = _search(network, vocabularies, batch, read, lengths, constraint, n, text)
    outputs = [some[0].tokens for some in found]
    how: Sequence[Structure | None] = [None] * len(sources)
    if structure:
        output_lengths = torch.tensor([len(output) for output in outputs], device=device)
        how = structures(network, batch, output_lengths, read, outputs)
        copied = map(vocabularies.copied, tokens, outputs)
        how = [replace(one, copied=which) for one, which in zip(how, copied, strict=True)]
    predictions = [
        replace(
            _prediction(read_as, some, n > 1),
            structure=its_structure,
            unknown=vocabularies.unknown(source),
            foreign=vocabularies.foreign(source, some[0].tokens),
        )
        for read_as, some, its_structure, source in zip(read, found, how, tokens, strict=True)
    ]
    if grammar is None:
        return predictions
    return [
        replace(prediction, well_formed=derives(grammar, vocabularies, prediction.tokens, source))
        for prediction, source in zip(predictions, tokens, strict=True)
    ]


def _search(
    network: Network,
    vocabularies: Vocabularies,
    batch: SourceBatch,
    read: list[Tokens],
    lengths: int,
    constraint: Constraint,
    n: int,
    text: Text,
) -> list[list[Found]]:
    """The n best outputs of each source whose texts differ. Where too many do not, more are searched for."""
    found: list[list[Found]] = [[] for _ in read]
    rows = list(range(len(read)))
    for searched in (n, *(n * more for more in MORE)):
        some = network.n_best(_rows(batch, rows), lengths, searched, _of_rows(constraint, rows))
        left = []
        for row, outputs in zip(rows, some, strict=True):
            by_text: dict[str, Found] = {}
            for output in outputs:
                tokens = vocabularies.output(output.choices, read[row])
                by_text.setdefault(text(tokens), Found(output, tokens, text(tokens)))
            found[row] = list(by_text.values())[:n]
            if len(found[row]) < n and len(outputs) == searched:
                left.append(row)
        rows = left
        if not rows:
            break
    return found


def _rows(batch: SourceBatch, rows: list[int]) -> SourceBatch:
    if len(rows) == len(batch.source):
        return batch
    return batch.take(torch.tensor(rows, device=batch.source.device))


def _of_rows(constraint: Constraint, rows: list[int]) -> Constraint:
    """The constraint of some rows of a batch."""
    accepts = constraint.accepts
    if accepts is None:
        return constraint
    return replace(constraint, accepts=lambda place, choices: accepts(rows[place], choices))


def _prediction(source: Tokens, found: list[Found], compared: bool) -> Prediction:
    """The first of the outputs that were found, with the others as alternatives if they were compared."""
    first = found[0]
    prediction = Prediction(source, first.tokens, first.output.score, first.output.length_score)
    if not compared:
        return prediction
    scores = [one.output.score if one.output.rank_score is None else one.output.rank_score for one in found]
    shares = torch.tensor(scores, dtype=torch.float64).softmax(0).tolist()
    alternatives = (
        Alternative(one.text, one.tokens, one.output.score, share)
        for one, share in zip(found[1:], shares[1:], strict=True)
    )
    return replace(prediction, share=shares[0], alternatives=tuple(alternatives))


def predict_or_fail(
    predict: Callable[[Sequence[Source]], list[Prediction]], sources: Sequence[Source]
) -> list[Prediction]:
    """What `predict` gives for sources. A source that is too long costs only its own output."""
    try:
        return predict(sources)
    except TooLongError as error:
        if len(sources) == 1:
            return [Prediction(sources[0].tokens, (), -math.inf, None, error=str(error))]
        half = len(sources) // 2
        return [
            *predict_or_fail(predict, sources[:half]),
            *predict_or_fail(predict, sources[half:]),
        ]


def batches_of(lengths: Sequence[int], batch_size: int) -> Iterator[list[int]]:
    """Rows of similar lengths, at most `batch_size` at once, and far longer ones apart."""
    rows: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: lengths[row]):
        if rows and (len(rows) == batch_size or lengths[row] > LONGER * lengths[rows[0]] + LONG):
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _constraint(
    vocabularies: Vocabularies,
    sources: list[Tokens],
    read: list[Tokens],
    grammar: Grammar | None,
    length_grammar: Grammar | None,
) -> Constraint:
    """Which outputs of a batch are allowed. `read` are the sources with their start token."""
    if length_grammar is None:
        return Constraint()
    copying = vocabularies.copying
    words = None if copying is not None and copying.open else frozenset(vocabularies.target.tokens)

    def allowed_lengths(longest: int) -> Tensor:
        return torch.tensor(length_grammar.lengths(longest, words, copying is not None))

    if grammar is None:
        return Constraint(allowed_lengths)

    def accepts(row: int, choices: list[int]) -> bool:
        return derives(grammar, vocabularies, vocabularies.output(choices, read[row]), sources[row])

    return Constraint(allowed_lengths, grammar.best, accepts, grammar.n_best)
