"""Beam search over outputs that are written from left to right, for a batch of sources at once."""

from collections.abc import Callable

import torch
from torch import Tensor

from ftor.networks.network import Accepts, Output

Memory = tuple[Tensor, ...]
"""What a decoder knows of its sources: tensors (R, …), a row for each source."""
State = tuple[Tensor, ...]
"""What a decoder knows of outputs so far: tensors (R, W, …), for each source a row for each of W outputs."""
Step = Callable[[Memory, State, Tensor], tuple[Tensor, State]]
"""From the memory, the state and the last tokens (R, W): log-probabilities (R, W, V + 1) of the next token,
the last of which is that of the end; and the state with the last tokens in it."""
UNKNOWN, ACCEPTED, REFUSED = range(3)
"""What is known about an output: finished outputs are asked about once."""


@torch.no_grad()
def beam_search(
    step: Step,
    memory: Memory,
    state: State,
    end: int,
    beam: int,
    expansions: int,
    max_steps: int,
    accepts: Accepts | None = None,
    n: int = 1,
) -> list[list[Output]]:
    """The n best outputs that are found for each source, by the sum of their tokens' log-probabilities.

    The search ends when n finished outputs lead, because no other can overtake them. Outputs that are not
    accepted rank below all others: the result are the best accepted outputs, or if there are none, the best.
    There may be fewer than n.

    Args:
        step: gives the next tokens' log-probabilities.
        memory: (R, …) of the sources.
        state: (R, 1, …) of outputs without a token.
        end: V, the token that finishes an output; also the input before the first token.
        beam: how many outputs are kept after each token, finished ones included.
        expansions: how many next tokens of each output are compared; for the first token, `beam` are.
        max_steps: outputs end after this many tokens, the end included.
        accepts: which outputs are accepted; all if None.
        n: how many outputs, at most `beam`.
    """
    device = memory[0].device
    rows = torch.arange(len(memory[0]), device=device)
    tokens = torch.full((len(rows), 1, 1), end, device=device)
    scores = torch.zeros(len(rows), 1, device=device)
    finished = torch.zeros(len(rows), 1, dtype=torch.bool, device=device)
    verdicts = torch.full((len(rows), 1), UNKNOWN, device=device)
    best: dict[int, list[Output]] = {}
    for number in range(max_steps):
        log_probs, state = step(memory, state, tokens[..., -1])
        parents, added, scores = _continue(log_probs, scores, finished, end, beam, expansions, number == 0)
        flat = parents + parents.new_tensor(range(len(rows)))[:, None] * finished.shape[1]
        state = tuple(values.flatten(0, 1)[flat] for values in state)
        tokens = torch.cat([tokens.flatten(0, 1)[flat], added[..., None]], -1)
        verdicts = verdicts.flatten()[flat]
        finished = added == end
        # Nothing can overtake the outputs before the first one that can still grow.
        impossible = scores.isneginf()  # fills the beam where there are too few outputs
        settled = finished | impossible | (number + 1 == max_steps)
        candidates = settled.cumprod(1).bool() & (verdicts != REFUSED) & ~impossible
        over = settled.all(1)
        for place in (candidates.any(1) | over).nonzero().squeeze(1).tolist():
            row = int(rows[place])
            ranks = _accepted(tokens[place], candidates[place], verdicts[place], n, row, end, accepts)
            if not ranks and bool(over[place]):
                ranks = (~impossible[place]).nonzero().squeeze(1).tolist()[:n] or [0]
            if len(ranks) == n or bool(over[place]):
                best[row] = [
                    Output(_without_end(tokens[place, rank], end), float(scores[place, rank]))
                    for rank in ranks
                ]
        left = torch.tensor([place for place, row in enumerate(rows.tolist()) if row not in best])
        if not len(left):
            break
        if len(left) < len(rows):
            left = left.to(device)
            memory, state = (tuple(values[left] for values in some) for some in (memory, state))
            rows, tokens, scores = rows[left], tokens[left], scores[left]
            finished, verdicts = finished[left], verdicts[left]
    return [best[row] for row in range(len(best))]


def _continue(
    log_probs: Tensor, scores: Tensor, finished: Tensor, end: int, beam: int, expansions: int, first: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """The best continuations (R, W'), best first: which output each continues, its last token, its score."""
    R, W, classes = log_probs.shape
    # The only continuation of a finished output is its end, at no cost.
    done = torch.full((classes,), -torch.inf, device=log_probs.device, dtype=log_probs.dtype)
    done[end] = 0
    log_probs = torch.where(finished[..., None], done, log_probs)
    each = min(beam if first else expansions, classes)
    best, tokens = log_probs.topk(each, dim=-1)
    totals = (scores[..., None] + best).view(R, W * each)
    scores, places = totals.topk(min(beam, W * each), dim=-1)
    return places // each, tokens.view(R, W * each).gather(1, places), scores


def _accepted(
    tokens: Tensor,
    candidates: Tensor,
    verdicts: Tensor,
    n: int,
    row: int,
    end: int,
    accepts: Accepts | None,
) -> list[int]:
    """The ranks of the first n accepted candidates. What is learned about them is kept in `verdicts`."""
    ranks: list[int] = []
    for place in candidates.nonzero().squeeze(1).tolist():
        if verdicts[place] == UNKNOWN:
            accepted = accepts is None or accepts(row, _without_end(tokens[place], end))
            verdicts[place] = ACCEPTED if accepted else REFUSED
        if verdicts[place] == ACCEPTED:
            ranks.append(int(place))
            if len(ranks) == n:
                break
    return ranks


def _without_end(tokens: Tensor, end: int) -> list[int]:
    """The tokens of an output, without the input before the first and without the end."""
    output: list[int] = tokens[1:].tolist()
    return output[: output.index(end)] if end in output else output
