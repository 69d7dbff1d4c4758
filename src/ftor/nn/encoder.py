"""Encoders: contextual vectors of every token, from stacked bidirectional LSTMs with or without highways.

A model that reads one input with several encoders makes them one module. The stacks have parameters of their
own and run at the same time, in fewer and larger steps than one after another.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ftor.distributions.inputs import checks_values
from ftor.nn.padding import RealPositions, inside
from ftor.nn.precision import without_autocast
from ftor.ops.check import check_dropout, check_lengths, check_range, check_shape, check_size
from ftor.ops.dispatch import reads_values
from ftor.ops.recurrence import highway_lstm


class HighwayBiLSTM(nn.Module):
    """Stacked bidirectional LSTMs whose every layer has a highway from its input to its output.

    Each layer takes the concatenation of both directions of the layer below. Both kinds of dropout are
    variational: one mask for all positions of a sequence.

    Args:
        width: D, the size of outgoing vectors, even; each direction has D/2 units.
        layers: number of bidirectional layers.
        encoders: E, number of such stacks that read the same input.
        recurrent_dropout: probability of dropping a unit of h_{t−1} before the recurrent product in training.
        layer_dropout: probability of dropping a unit between two layers in training.
        inputs: the size of incoming vectors; D if not given.
        validate_args: whether to check the values of lengths; by default on the CPU only.
    """

    def __init__(
        self,
        width: int,
        layers: int = 2,
        encoders: int = 1,
        recurrent_dropout: float = 0.1,
        layer_dropout: float = 0.1,
        inputs: int | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__()
        inputs = width if inputs is None else inputs
        _check_sizes(width, layers, encoders)
        check_size("inputs", inputs, 1)
        check_dropout(recurrent_dropout)
        check_dropout(layer_dropout)
        self.width, self.inputs, self.encoders = width, inputs, encoders
        self.recurrent_dropout, self.layer_dropout = recurrent_dropout, layer_dropout
        self.validate_args = validate_args
        sizes = [inputs] + [width] * (layers - 1)
        self.layers = nn.ModuleList(_HighwayLayer(size, width, encoders) for size in sizes)

    def extra_repr(self) -> str:
        """The settings that the parts do not show."""
        return (
            f"width={self.width}, encoders={self.encoders}, "
            f"recurrent_dropout={self.recurrent_dropout}, layer_dropout={self.layer_dropout}"
        )

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        """Turn `x` (B, n, inputs) with `lengths` (B,) int64, 1..n, into E tensors (B, n, D), 0 past them."""
        check_shape("x", x, ("B", "n", self.inputs))
        _check_lengths(lengths, x, self.validate_args)
        # Padding gets no gradient, but 0·NaN would be NaN in that of the projection's weights.
        padding = ~inside(lengths, x.shape[1])
        if not reads_values(padding) or bool(padding.any()):
            x = x.masked_fill(padding[..., None], 0)
        return self.encode(self.project(x), lengths)

    def project(self, x: Tensor) -> Tensor:
        """What the encoders read of `x` (…, inputs): (…, P), linear in x.

        If many inputs are made of few vectors, it is faster to project these, and then to pick or add.
        """
        return self.layers[0].project(x)  # type: ignore[operator, no-any-return]

    def encode(self, projected: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        """The same as calling the module, from the result of `project`: (B, n, P)."""
        first, *others = self.layers
        states: tuple[Tensor, ...] = first(projected, lengths, self._keep(projected))
        for layer in others:
            if self.training and self.layer_dropout:
                states = tuple(h * _mask(h[:, :1].shape, self.layer_dropout, h) for h in states)
            states = layer.after(states, lengths, self._keep(projected))  # type: ignore[operator]
        return states

    def _keep(self, like: Tensor) -> Tensor | None:
        if not self.training or not self.recurrent_dropout:
            return None
        return _mask((len(like), 2 * self.encoders, self.width // 2), self.recurrent_dropout, like)


def _mask(shape: Sequence[int], dropout: float, like: Tensor) -> Tensor:
    """Factors of dropout, 0 or 1/(1 − dropout)."""
    return like.new_empty(shape).bernoulli_(1 - dropout).div_(1 - dropout)


class _HighwayLayer(nn.Module):
    """One bidirectional layer of E encoders; the first dimension of each parameter is the encoder."""

    def __init__(self, inputs: int, width: int, encoders: int) -> None:
        super().__init__()
        H = width // 2
        self.projection = nn.Parameter(torch.empty(encoders, 2, 6 * H, inputs))
        self.recurrent = nn.Parameter(torch.empty(encoders, 2, 5 * H, H))
        self.bias = nn.Parameter(torch.empty(encoders, 2, 5 * H))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Make the matrices of every gate orthogonal, biases 0, and biases of forget gates 1."""
        H = self.recurrent.shape[-1]
        for matrix in (self.projection, self.recurrent):
            for direction in matrix.detach().flatten(0, 1):
                for block in direction.split(H):
                    nn.init.orthogonal_(block)
        nn.init.zeros_(self.bias)
        nn.init.ones_(self.bias.detach()[..., H : 2 * H])

    def extra_repr(self) -> str:
        """The size of the input and of both directions' outputs."""
        return f"{self.projection.shape[-1]}, {2 * self.recurrent.shape[-1]}"

    def project(self, x: Tensor) -> Tensor:
        """(…, inputs) → (…, P), by one matrix product for all encoders."""
        return F.linear(x, self.projection.view(-1, x.shape[-1]))

    def forward(self, projected: Tensor, lengths: Tensor, keep: Tensor | None) -> tuple[Tensor, ...]:
        """Turn an input of all encoders, projected (B, n, P), into E outputs (B, n, D)."""
        return _run(projected, self.recurrent, self.bias, lengths, keep)

    def after(self, inputs: tuple[Tensor, ...], lengths: Tensor, keep: Tensor | None) -> tuple[Tensor, ...]:
        """Turn each encoder's own input (B, n, D) into its output (B, n, D)."""
        E = len(inputs)
        if E == 1:
            projected = _project(inputs[0], self.projection.view(-1, inputs[0].shape[-1]), lengths)
            return self(projected, lengths, keep)  # type: ignore[no-any-return]
        # One batched product for all would have to be copied into the layout of the recurrence.
        parts = zip(
            (
                _project(x, weight.view(-1, x.shape[-1]), lengths)
                for x, weight in zip(inputs, self.projection, strict=True)
            ),
            self.recurrent.chunk(E),
            self.bias.chunk(E),
            [lengths] * E,
            [None] * E if keep is None else keep.chunk(E, dim=1),
            strict=True,
        )
        return tuple(_run(*part)[0] for part in parts)


def _project(x: Tensor, weight: Tensor, lengths: Tensor) -> Tensor:
    """The product (B, n, P) of `x` (B, n, D), which is 0 past a row's end, and `weight` (P, D)."""
    positions = RealPositions(lengths, x.shape[1])
    if positions.everywhere:
        return F.linear(x, weight)
    return positions.put(F.linear(positions.take(x), weight))


def _run(
    projected: Tensor, recurrent: Tensor, bias: Tensor, lengths: Tensor, keep: Tensor | None
) -> tuple[Tensor, ...]:
    """Run all encoders on one input, in the precision of their parameters."""
    projected = projected.to(recurrent.dtype)
    keep = None if keep is None else keep.to(recurrent.dtype)
    B, n, P = projected.shape
    E, directions, _, H = recurrent.shape
    by_direction = projected.view(B, n, E * directions, P // (E * directions))
    states = highway_lstm(by_direction, recurrent.flatten(0, 1), bias.flatten(0, 1), lengths, keep)
    D = directions * H
    return states.reshape(B, n, E, D).unbind(2) if E > 1 else (states.reshape(B, n, D),)


class BiLSTM(nn.Module):
    """Stacked bidirectional LSTMs without highways: `torch.nn.LSTM` with the interface of `HighwayBiLSTM`.

    Args:
        width: D, the size of incoming and outgoing vectors, even; each direction has D/2 units.
        layers: number of bidirectional layers.
        encoders: E, number of such stacks that read the same input.
        layer_dropout: probability of dropping a unit between two layers in training, position by position.
        validate_args: whether to check the values of lengths; by default on the CPU only.
    """

    def __init__(
        self,
        width: int,
        layers: int = 2,
        encoders: int = 1,
        layer_dropout: float = 0.1,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__()
        _check_sizes(width, layers, encoders)
        check_dropout(layer_dropout)
        self.width, self.validate_args = width, validate_args
        self.stacks = nn.ModuleList(
            nn.LSTM(
                width,
                width // 2,
                num_layers=layers,
                batch_first=True,
                bidirectional=True,
                dropout=layer_dropout if layers > 1 else 0.0,
            )
            for _ in range(encoders)
        )

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        """Turn `x` (B, n, D) with `lengths` (B,) int64, 1..n, into E tensors (B, n, D), 0 past them."""
        check_shape("x", x, ("B", "n", self.width))
        _check_lengths(lengths, x, self.validate_args)
        return self.encode(x, lengths)

    def project(self, x: Tensor) -> Tensor:
        """What `encode` reads of `x`: `x` itself."""
        return x

    def encode(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        """The same as calling the module, without its checks."""
        x = x.to(self.stacks[0].weight_hh_l0.dtype)  # type: ignore[arg-type]
        with without_autocast(x):  # not all CPUs have LSTMs in half precision
            if not reads_values(lengths):
                return tuple(_padded_lstm(stack, x, lengths) for stack in self.stacks)  # type: ignore[arg-type]
            packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            outputs = [stack(packed)[0] for stack in self.stacks]
        return tuple(
            pad_packed_sequence(output, batch_first=True, total_length=x.shape[1])[0] for output in outputs
        )


def _padded_lstm(stack: nn.LSTM, x: Tensor, lengths: Tensor) -> Tensor:
    """The states (B, n, D) of a stack. Its input is not packed, for which Python has to know the lengths."""
    n, H = x.shape[1], stack.hidden_size
    places, real = torch.arange(n, device=x.device), inside(lengths, n)
    x = x.masked_fill(~real[..., None], 0)  # NaN there would reach the gradients of the weights
    last = lengths.clamp(max=n)[:, None] - 1  # a place that is not there would stop a GPU
    turned = torch.where(real, last - places, places)[..., None]
    begin = x.new_zeros(1, len(x), H)

    def run(inputs: Tensor, weights: Sequence[Tensor]) -> Tensor:
        one_layer = True, 1, 0.0, stack.training, False, True  # with biases, in one direction, batch first
        states: Tensor = torch.lstm(inputs, (begin, begin), tuple(weights), *one_layer)[0]
        return states

    for layer in range(stack.num_layers):
        x = F.dropout(x, stack.dropout, stack.training) if layer else x
        forward, backward = stack.all_weights[2 * layer : 2 * layer + 2]
        from_the_end = run(x.gather(1, turned.expand_as(x)), backward)
        both = [run(x, forward), from_the_end.gather(1, turned.expand(-1, -1, H))]
        x = torch.cat(both, -1).masked_fill(~real[..., None], 0)
    return x


def _check_lengths(lengths: Tensor, x: Tensor, validate_args: bool | None) -> None:
    check_lengths("lengths", lengths, "x", x)
    if checks_values(validate_args, lengths):
        check_range("lengths", lengths, 1, x.shape[1], "the n of x")


def _check_sizes(width: int, layers: int, encoders: int) -> None:
    check_size("width", width, 2)
    if width % 2:
        raise ValueError(f"width: expected an even number, found {width}")
    check_size("layers", layers, 1)
    check_size("encoders", encoders, 1)
