"""How a transducer came to its outputs, for people to look at."""

from dataclasses import replace

import torch
from torch import Tensor

from ftor.model.prediction import Step, Structure
from ftor.networks import Network
from ftor.text.batches import SourceBatch

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def structures(
    network: Network,
    batch: SourceBatch,
    lengths: Tensor,
    sources: list[tuple[str, ...]],
    outputs: list[tuple[str, ...]],
) -> list[Structure]:
    """How the network aligns each source with its output, of `lengths` (B,); one by one, so that all fit."""
    found = []
    for row, (source, output) in enumerate(zip(sources, outputs, strict=True)):
        one = batch.take(torch.tensor([row], device=batch.source.device))
        n, length = len(source), lengths[row : row + 1]
        emphasised = None if one.emphasised is None else one.emphasised[:, :n]
        explained = network.explain(replace(one, source=one.source[:, :n], emphasised=emphasised), length)
        assert explained is not None
        reading, alignment = explained
        fertilities = reading.fertility.given(length).argmax[0].tolist()
        copies = alignment.copies[0].sum(-1).cpu().numpy()
        tree, reordering = None, None
        if alignment.permutation is not None:
            best = alignment.permutation.argmax
            tree, moves_to = best.trees[0], best.permutations[0].tolist()
            reordering = alignment.permutation.marginals[0].cpu().numpy()
        if reordering is None:
            steps: tuple[Step, ...] = (Step("fertility", copies, output),)
        elif reading.permutation is None:
            labels = _copies(source, fertilities)
            steps = Step("fertility", copies, labels), Step("reordering", reordering, output)
        else:
            permuted = tuple(source[moves_to.index(place)] for place in range(n))
            steps = Step("reordering", reordering, permuted), Step("fertility", copies, output)
            fertilities = [fertilities[place] for place in moves_to]
        whole = alignment.marginals[0].sum(1).cpu().numpy()
        found.append(Structure(steps, whole, tuple(fertilities), tree))
    return found


def _copies(source: tuple[str, ...], fertilities: list[int]) -> tuple[str, ...]:
    """A name for every copy: the token, numbered if it is copied more than once."""
    return tuple(
        f"{token}{str(copy).translate(_SUPERSCRIPT)}" if fertility > 1 else token
        for token, fertility in zip(source, fertilities, strict=True)
        for copy in range(1, fertility + 1)
    )
