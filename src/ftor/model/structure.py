"""The structure of a transducer's predictions: fertilities, reordering and alignment."""

from dataclasses import replace

import torch
from torch import Tensor

from ftor.model.prediction import Step, Structure
from ftor.networks import Network
from ftor.text.batches import SourceBatch

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
Tokens = tuple[str, ...]


def structures(
    network: Network, batch: SourceBatch, lengths: Tensor, sources: list[Tokens], outputs: list[Tokens]
) -> list[Structure]:
    """The structure of each prediction. They are computed one at a time to save memory.

    Args:
        network: a transducer.
        batch: the sources.
        lengths: (B,), the lengths of the outputs.
        sources: the tokens of the sources, with their start token.
        outputs: the tokens of the outputs.
    """
    made = []
    for row, (source, output) in enumerate(zip(sources, outputs, strict=True)):
        one = batch.take(torch.tensor([row], device=batch.source.device))
        emphasised = None if one.emphasised is None else one.emphasised[:, : len(source)]
        vectors = one.vectors
        if vectors is not None and one.piece_positions is None:  # those of words, not of pieces
            vectors = vectors[:, : len(source)]
        one = replace(one, source=one.source[:, : len(source)], emphasised=emphasised, vectors=vectors)
        made.append(_structure(network, one, lengths[row : row + 1], source, output))
    return made


def _structure(
    network: Network, batch: SourceBatch, length: Tensor, source: Tokens, output: Tokens
) -> Structure:
    """The structure of one prediction, from a batch of one source without padding."""
    explained = network.explain(batch, length)
    assert explained is not None
    reading, alignment = explained
    fertilities = reading.fertility.given(length).argmax[0].tolist()
    copies = alignment.copies[0].sum(-1).cpu().numpy()
    tree = None
    if alignment.permutation is None:
        steps: tuple[Step, ...] = (Step("fertility", copies, output),)
    else:
        best = alignment.permutation.argmax
        tree, moves_to = best.trees[0], best.permutations[0].tolist()
        reordering = alignment.permutation.marginals[0].cpu().numpy()
        if reading.permutation is None:  # fertility, then reordering
            labels = _copies(source, fertilities)
            steps = Step("fertility", copies, labels), Step("reordering", reordering, output)
        else:
            permuted = tuple(source[moves_to.index(place)] for place in range(len(source)))
            steps = Step("reordering", reordering, permuted), Step("fertility", copies, output)
            fertilities = [fertilities[place] for place in moves_to]
    return Structure(steps, alignment.marginals[0].sum(1).cpu().numpy(), tuple(fertilities), tree)


def _copies(source: Tokens, fertilities: list[int]) -> Tokens:
    """A name for each copy: the token, with a number if there are several copies of it."""
    return tuple(
        f"{token}{str(copy).translate(_SUPERSCRIPT)}" if fertility > 1 else token
        for token, fertility in zip(source, fertilities, strict=True)
        for copy in range(1, fertility + 1)
    )
