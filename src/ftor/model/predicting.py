"""The predictions of a network for one batch of sentences."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from ftor.grammar import Grammar
from ftor.model.judging import derives
from ftor.model.prediction import Prediction, Structure
from ftor.model.structure import structures
from ftor.networks import Constraint, Network
from ftor.networks.decoding import TooLongError
from ftor.text.reading import Source
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import START_TOKEN

Tokens = tuple[str, ...]
LONG, LONGER = 50, 4
"""A sentence is not in the batch of one that is `LONGER` times and `LONG` tokens shorter: all are padded."""


def predict_batch(
    network: Network,
    vocabularies: Vocabularies,
    sources: Sequence[Source],
    lengths: int = 1,
    grammar: Grammar | None = None,
    length_grammar: Grammar | None = None,
    structure: bool = False,
) -> list[Prediction]:
    """The most likely output of each source.

    Args:
        network: the trained network.
        vocabularies: its words.
        sources: the sentences.
        lengths: k, how many output lengths are tried.
        grammar: outputs derive from this grammar, if given.
        length_grammar: outputs have a length that this grammar derives, if given.
        structure: whether to add the structure of predictions. Only a transducer has one.
    """
    device = next(network.parameters()).device
    tokens, emphasis = [source.tokens for source in sources], [source.emphasis for source in sources]
    terminals = grammar.terminals if grammar is not None else None
    batch = vocabularies.source_batch(tokens, terminals, emphasis).to(device)
    start = (START_TOKEN,) if vocabularies.start_token else ()
    read = [start + source for source in tokens]
    constraint = _constraint(vocabularies, tokens, read, grammar, length_grammar)
    decoded = network.decode(batch, lengths, constraint)
    outputs = [vocabularies.output(one.choices, source) for one, source in zip(decoded, read, strict=True)]
    how: Sequence[Structure | None] = [None] * len(sources)
    if structure:
        output_lengths = torch.tensor([len(output) for output in outputs], device=device)
        how = structures(network, batch, output_lengths, read, outputs)
        copied = map(vocabularies.copied, tokens, outputs)
        how = [replace(one, copied=which) for one, which in zip(how, copied, strict=True)]
    predictions = [
        Prediction(read_as, output, one.score, one.length_score, its_structure, unknown=unknown)
        for read_as, output, one, its_structure, unknown in zip(
            read, outputs, decoded, how, map(vocabularies.unknown, tokens), strict=True
        )
    ]
    if grammar is None:
        return predictions
    return [
        replace(prediction, well_formed=derives(grammar, vocabularies, prediction.tokens, source))
        for prediction, source in zip(predictions, tokens, strict=True)
    ]


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
