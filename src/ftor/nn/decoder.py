"""Decoders: what each copy of each source token is translated to (section 6.3 of the paper).

Both give P(v | i, u), the distribution of the u-th copy of token i over target classes. A model mixes these
by its alignment.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ftor.nn.name_scores import NameScores
from ftor.nn.padding import RealPositions
from ftor.ops.check import check_dropout, check_shape, check_size

LSTMState = tuple[Tensor, Tensor]
"""Hidden and cell state (B, D) after the outputs so far."""


class _Decoder(nn.Module):
    """A hidden layer, and an output layer for each copy. The arguments are those of `IndependentDecoder`.

    Attributes:
        names: scores classes by their names, too. None: it does not.
    """

    def __init__(
        self, width: int, classes: int, max_fertility: int = 4, hidden: int = 128, dropout: float = 0.1
    ) -> None:
        super().__init__()
        check_size("width", width, 1)
        check_size("classes", classes, 1)
        check_size("max_fertility", max_fertility, 1)
        check_size("hidden", hidden, 1)
        check_dropout(dropout)
        self.width, self.max_fertility, self.classes = width, max_fertility, classes
        self.hidden = nn.Linear(width, hidden)
        self.output = nn.Linear(hidden, max_fertility * classes)
        self.dropout = nn.Dropout(dropout)
        self.names: NameScores | None = None

    def _logits(self, hidden: Tensor) -> Tensor:
        """(…, m) → (…, d, V)."""
        active = self.dropout(F.elu(hidden))
        by_copy: Tensor = self.output(active).to(self.output.weight.dtype)
        by_copy = by_copy.view(*hidden.shape[:-1], self.max_fertility, self.classes)
        return by_copy if self.names is None else self.names(active, by_copy)


class IndependentDecoder(_Decoder):
    """P(v | i, u) = softmax(W_u MLP(h'_i)): version (i), and (ii) when one of the classes is "copy".

    Args:
        width: D, the size of the source's context vectors.
        classes: V, the number of target classes.
        max_fertility: d.
        hidden: size of the MLP's hidden layer.
        dropout: probability of dropping its units in training.
    """

    def forward(self, context: Tensor) -> Tensor:
        """The log-probabilities (B, n, d, V) of all classes, from `context` (B, n, D)."""
        check_shape("context", context, ("B", "n", self.width))
        return self._logits(self.hidden(context)).log_softmax(-1)

    def gold(self, context: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        """The probabilities of the classes `target`.

        Args:
            context: (B, n, D).
            lengths: (B,), of the sources.
            target: (B, L).

        Returns:
            (B, n, d, L), 0 past a source's end.
        """
        positions = RealPositions(lengths, context.shape[1])
        logits = self._logits(self.hidden(positions.take(context)))  # (N, d, V)
        classes = target[positions.rows, None].expand(-1, self.max_fertility, -1)
        # One normaliser per token and copy, then a gather: no tensor has both L and V.
        gold = (logits.gather(-1, classes) - logits.logsumexp(-1, keepdim=True)).exp()
        return positions.put(gold)


class AutoregressiveDecoder(_Decoder):
    """P(v | i, u, y_<o) = softmax(W_u MLP(h'_i + LSTM(y_<o))): version (iii).

    The LSTM's state is 0 before the first output. In training, one dropout mask per sequence is applied to it
    after every step, and the next step starts from the masked state.

    Args:
        width, classes, max_fertility, hidden, dropout: as for `IndependentDecoder`; the LSTM has D units.
        target_width: size of the embeddings of outputs.
    """

    def __init__(
        self,
        width: int,
        classes: int,
        max_fertility: int = 4,
        hidden: int = 128,
        dropout: float = 0.1,
        target_width: int = 64,
    ) -> None:
        super().__init__(width, classes, max_fertility, hidden, dropout)
        check_size("target_width", target_width, 1)
        self.embedding = nn.Embedding(classes, target_width)
        self.cell = nn.LSTMCell(target_width, width)

    def start(self, context: Tensor) -> LSTMState:
        """The state before the first output."""
        zeros = context.new_zeros(context.shape[0], self.width)
        return zeros, zeros

    def advance(self, state: LSTMState, classes: Tensor) -> LSTMState:
        """The state after writing `classes` (B,)."""
        hidden, cell = self.cell(self.embedding(classes), state)
        return hidden, cell

    def step(self, context: Tensor, state: LSTMState) -> Tensor:
        """The log-probabilities (B, n, d, V) of the next output, from `context` (B, n, D)."""
        return self._logits(self.hidden(context + state[0][:, None])).log_softmax(-1)

    def gold(self, context: Tensor, lengths: Tensor, target: Tensor) -> Tensor:
        """As `IndependentDecoder.gold`, each output given those before it."""
        positions = RealPositions(lengths, context.shape[1])
        before = F.linear(self._states_before(context, target), self.hidden.weight)
        hidden = self.hidden(positions.take(context))[:, None] + before[positions.rows]
        logits = self._logits(hidden)  # (N, L, d, V)
        classes = target[positions.rows][:, :, None, None].expand(*logits.shape[:3], 1)
        gold = (logits.gather(-1, classes) - logits.logsumexp(-1, keepdim=True)).exp()
        return positions.put(gold.squeeze(-1).mT)

    def _states_before(self, context: Tensor, target: Tensor) -> Tensor:
        """The hidden state before each output, given those before it: (B, L, D)."""
        state = self.start(context)
        keep = self.dropout(torch.ones_like(state[0]))
        states = [state[0]]
        for written in self.embedding(target).unbind(1)[:-1]:
            hidden, cell = self.cell(written, state)
            state = hidden * keep, cell
            states.append(state[0])
        return torch.stack(states, 1)
