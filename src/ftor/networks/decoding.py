"""The best outputs of a transducer over the lengths that outputs may have."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol, Self, TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F

from ftor.config import TransducerConfig
from ftor.distributions.fertility import TopLengths
from ftor.errors import FtorError
from ftor.networks.network import FLOOR, Output, Search
from ftor.nn.padding import inside
from ftor.ops.dispatch import LOG_ZERO
from ftor.text.batches import SourceBatch

SPLITS_AT_ONCE = 3.2e7
"""Σ l³ over the rows that are reordered together when predicting: about 400 MB."""
ROWS_AT_ONCE = 64
"""So many rows may be decoded at once for several lengths of fewer sources."""
ROUNDING = 1e-3
"""By how much the log-probability of an output may pass that of its length, for rounding."""

LONGEST = 600
"""The most positions that are reordered when predicting: it takes about a minute, 1200 would take 16."""


class TooLongError(FtorError):
    """An output, or a source, that is too long to be reordered."""


class Decoded(NamedTuple):
    """The best output that was found for each source.

    Attributes:
        choices: (B, L); v < V is target class v, V + i is source token i.
        lengths: (B,).
        scores: (B,), log P(l|x) + log P(y|x,l).
        length_scores: (B,), log P(l|x).
    """

    choices: Tensor
    lengths: Tensor
    scores: Tensor
    length_scores: Tensor

    def take(self, rows: Tensor) -> "Decoded":
        """Some of the rows."""
        return Decoded(*(values[rows] for values in self))

    def outputs(self) -> list[Output]:
        """The same row by row, each output with its own length."""
        rows = zip(*(values.tolist() for values in self), strict=True)
        return [Output(choices[:length], *scores) for choices, length, *scores in rows]


class HasLengths(Protocol):
    """A distribution over lengths."""

    def log_prob_length(self, lengths: Tensor) -> Tensor:
        """See `ftor.Fertility`."""
        ...

    def top_lengths(self, k: int, allowed: Tensor | None = None) -> TopLengths:
        """See `ftor.Fertility`."""
        ...


class Read(Protocol):
    """What the search asks of what a network makes of sources."""

    @property
    def fertility(self) -> HasLengths:
        """P(l|x)."""
        ...

    def take(self, rows: Tensor) -> Self:
        """Some of the rows."""
        ...


R = TypeVar("R", bound=Read)


class TransducesTokens(Protocol[R]):
    """What the search asks of a network; see `ftor.networks.searching.SearchingNetwork`."""

    config: TransducerConfig

    def read(self, batch: SourceBatch) -> R:
        """What the network makes of sources."""
        ...

    def token_probabilities(self, batch: SourceBatch, reading: R, lengths: Tensor) -> Tensor:
        """P(y_o | x, l) of each choice: (B, L, V or V + n·C)."""
        ...

    def best_tokens(self, batch: SourceBatch, reading: R, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The most likely choices and their probabilities, (B, L) each."""
        ...


@torch.no_grad()
def decode(
    network: TransducesTokens[R],
    batch: SourceBatch,
    k: int = 1,
    search: Search | None = None,
    allowed: Tensor | None = None,
) -> Decoded:
    """The best output among those of the k most likely lengths, greedy if the decoder is autoregressive.

    Args:
        network: gives the probabilities of lengths and tokens.
        batch: the sources; with `search`, their `columns` too.
        k: how many lengths.
        search: finds the best output of a length among some only. Where it finds none, the output is the
            most likely one, of any length. Not for autoregressive decoders.
        allowed: (most + 1,) which lengths outputs may have; those beyond `most` may not. It is ignored for
            sources that can reach none of them.
    """
    B, n = batch.source.shape
    if B > 1 and B * network.config.reordered(n, 0) ** 3 > SPLITS_AT_ONCE:
        order = batch.source_lengths.argsort()
        halves = [decode(network, batch.take(rows), k, search, allowed) for rows in order.tensor_split(2)]
        return _joined(halves, order)
    if B == 1:
        check_length(network.config, n, 0)
    reading = network.read(batch)
    best = _best_length(network, batch, reading, k, search, allowed)
    failed = best.scores <= LOG_ZERO
    if search is not None and bool(failed.any()):
        kept, rows = ((failed == value).nonzero().squeeze(1) for value in (False, True))
        others = _best_length(network, batch.take(rows), reading.take(rows), 1, None, None)
        best = _joined([best.take(kept), others], torch.cat([kept, rows]))
    return best._replace(choices=best.choices[:, : int(best.lengths.max())])


def check_length(config: TransducerConfig, source: int, target: int) -> None:
    """Raise if a reordering would take hours or exhaust the memory."""
    if config.reordered(source, target) > LONGEST:
        what = f"a source of {source}" if source else f"an output of {target}"
        raise TooLongError(f"{what} tokens is too long: at most {LONGEST} can be reordered")


def _best_length(
    network: TransducesTokens[R],
    batch: SourceBatch,
    reading: R,
    k: int,
    search: Search | None,
    allowed: Tensor | None,
) -> Decoded:
    """The best output among those of the k most likely lengths that are allowed."""
    mask = None if allowed is None else reachable(allowed, batch, network.config)
    top = reading.fertility.top_lengths(k, mask)
    best = _decode_in_parts(network, batch, reading, top.lengths[:, 0], top.log_probs[:, 0], search)
    for log_probs, lengths in later_lengths(top):
        # No output is likelier than its length.
        rows, ranks = (log_probs + ROUNDING > best.scores[:, None]).nonzero(as_tuple=True)
        if not len(rows):
            break  # later lengths are less likely still
        own = batch.take(rows), reading.take(rows), lengths[rows, ranks], log_probs[rows, ranks]
        decoded = _decode_in_parts(network, *own, search)
        for rank in range(lengths.shape[1]):
            places = (ranks == rank).nonzero().squeeze(1)
            best = _better(best, rows[places], decoded.take(places))
    return best


def later_lengths(top: TopLengths) -> Iterator[tuple[Tensor, Tensor]]:
    """The likely lengths after the first of each row: log-probabilities and lengths, (B, r) each.

    Of few rows, several lengths are tried side by side, which takes hardly longer than one.
    """
    B, k = top.lengths.shape
    at_once = max(1, ROWS_AT_ONCE // B)
    for first in range(1, k, at_once):
        ranks = slice(first, first + at_once)
        yield top.log_probs[:, ranks], top.lengths[:, ranks]


def reachable(allowed: Tensor, batch: SourceBatch, config: TransducerConfig) -> Tensor:
    """A mask (B, n·d + 1) of the lengths that each source may have."""
    most = config.longest_target(batch.source.shape[1])
    mask = F.pad(allowed, (0, max(most + 1 - len(allowed), 0)))[: most + 1].to(batch.source.device)
    reach = batch.source_lengths * config.max_fertility
    possible = mask & (torch.arange(most + 1, device=mask.device) <= reach[:, None])
    return possible | ~possible.any(1, keepdim=True)


def _decode_in_parts(
    network: TransducesTokens[R],
    batch: SourceBatch,
    reading: R,
    lengths: Tensor,
    log_probs: Tensor,
    search: Search | None,
) -> Decoded:
    """Decode some rows at a time, so that long outputs do not exhaust the memory."""
    B, L = len(lengths), int(lengths.max())
    if B == 1:
        check_length(network.config, 0, L)
    if B == 1 or B * L**3 <= SPLITS_AT_ONCE:
        return _decode_lengths(network, batch, reading, lengths, log_probs, search)
    order = lengths.argsort()
    halves = [
        _decode_in_parts(
            network, batch.take(rows), reading.take(rows), lengths[rows], log_probs[rows], search
        )
        for rows in order.tensor_split(2)
    ]
    return _joined(halves, order)


def _decode_lengths(
    network: TransducesTokens[R],
    batch: SourceBatch,
    reading: R,
    lengths: Tensor,
    length_scores: Tensor,
    search: Search | None,
) -> Decoded:
    """The best outputs of the given lengths (B,)."""
    if search is not None:
        probabilities = network.token_probabilities(batch, reading, lengths)
        return _searched(search, batch, probabilities, lengths, length_scores)
    choices, p = network.best_tokens(batch, reading, lengths)
    real = inside(lengths, p.shape[1])
    log_p = p.clamp(min=torch.finfo(p.dtype).tiny).log()
    # A length of probability 0 fills the place where fewer than k are possible.
    scores = (length_scores + (real * log_p).sum(1)).clamp(min=LOG_ZERO)
    return Decoded(choices * real, lengths, scores, length_scores)


def _searched(
    search: Search, batch: SourceBatch, probabilities: Tensor, lengths: Tensor, length_scores: Tensor
) -> Decoded:
    """The outputs that `search` finds under token probabilities (B, L, V or V + n·C)."""
    columns = batch.columns
    assert columns is not None
    token_scores, best = search(column_scores(columns, probabilities), lengths)
    # One more column, because there may be none: a grammar of copies only, and a model that does not copy.
    choices = F.pad(columns, (0, 1)).gather(1, best.clamp(min=0)) * (best >= 0)
    scores = (length_scores + token_scores).clamp(min=LOG_ZERO)
    return Decoded(choices, lengths, scores, length_scores)


def column_scores(columns: Tensor, probabilities: Tensor) -> Tensor:
    """The log-probabilities (B, L, C) of columns, −inf where they are no choice."""
    places = columns.clamp(min=0)[:, None, :].expand(-1, probabilities.shape[1], -1)
    log_p = (probabilities.gather(-1, places) + FLOOR).log()
    return log_p.masked_fill(columns[:, None, :] < 0, -torch.inf)


def _padded_choices(*parts: Decoded) -> list[Tensor]:
    """The choices of several, padded to the longest."""
    L = max(part.choices.shape[1] for part in parts)
    return [F.pad(part.choices, (0, L - part.choices.shape[1])) for part in parts]


def _joined(parts: list[Decoded], order: Tensor) -> Decoded:
    """The rows of several in one, put back into place: row `order[i]` is the i-th of them."""
    back = order.argsort()
    others = (torch.cat(values)[back] for values in zip(*(part[1:] for part in parts), strict=True))
    return Decoded(torch.cat(_padded_choices(*parts))[back], *others)


def _better(best: Decoded, rows: Tensor, others: Decoded) -> Decoded:
    """The best outputs, and in place of those in `rows` the others with greater scores."""
    wins = others.scores > best.scores[rows]
    if not bool(wins.any()):
        return best
    rows, others = rows[wins], others.take(wins)
    choices, new_choices = _padded_choices(best, others)
    old, new = best._replace(choices=choices), others._replace(choices=new_choices)
    return Decoded(*(kept.index_put((rows,), found) for kept, found in zip(old, new, strict=True)))
