"""What a GPU would have to do: operations and waits for results of each layer and of a step, by length.

No GPU is needed: operations are counted on the CPU, where plain torch runs the same ones, without dropout.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import ftor.nn
import ftor.ops
import timing
from ftor.config import TransducerConfig
from ftor.networks import Losses
from ftor.networks.transducer import Transducer, token_losses
from ftor.nn import AutoregressiveDecoder, HighwayBiLSTM, IndependentDecoder
from ftor.text.batches import Batch

B, D, d, V = 4, 16, 3, 12
LENGTHS = (5, 10, 20, 40)
GROWTH = 1.2
"""The largest exponent of the operations in the length: layers loop over l − 1 widths or l places."""
_WAITS = {
    *(
        "item",
        "tolist",
        "__bool__",
        "__int__",
        "__float__",
        "__index__",
        "__contains__",
        "is_nonzero",
        "equal",
    ),
    *("nonzero", "argwhere", "unique", "unique_consecutive", "masked_select", "cpu", "numpy"),
}
"""Names of functions of tensors."""


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts operations that compute. Views cost a GPU nothing."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Count one, and run it."""
        self.count += not func.is_view
        return func(*args, **(kwargs or {}))


class Waits(TorchFunctionMode):
    """Counts calls for which the processor has to wait for the device, or refuses them."""

    def __init__(self, refuse: bool = False) -> None:
        super().__init__()
        self.refuse, self.count = refuse, 0

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Count one, or refuse it, and run it."""
        if func.__name__ in _WAITS or _selects_by_mask(func, args):
            if self.refuse:
                raise RuntimeError(f"{func.__name__} waits for the device")
            self.count += 1
        return func(*args, **(kwargs or {}))


def _selects_by_mask(func: Any, args: tuple[Any, ...]) -> bool:
    """Whether it has to find the places where a mask is true."""
    if func.__name__ == "where":
        return len(args) == 1
    index = args[1] if func in (Tensor.__getitem__, Tensor.__setitem__) else ()
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, Tensor) and part.dtype == torch.bool for part in parts)


def reordering(length: int, device: str = "cpu") -> Callable[[], Tensor]:
    """The reordering layer: from vectors to the expected permutation."""
    layer = ftor.nn.ReorderingLayer(D).to(device).eval()
    x, lengths = torch.randn(B, length, D, device=device), torch.full((B,), length, device=device)
    return lambda: layer(x, lengths).marginals


def fertility(length: int, device: str = "cpu") -> Callable[[], Tensor]:
    """The fertility layer: from vectors to the copies at each place."""
    layer = ftor.nn.FertilityLayer(D, d).to(device).eval()
    x = torch.randn(B, length, D, device=device)
    lengths = torch.full((B,), length, device=device)
    return lambda: layer(x, lengths).given(lengths, max_length=length).marginals


def encoder(length: int, device: str = "cpu") -> Callable[[], Tensor]:
    """An encoder of two layers."""
    layer = HighwayBiLSTM(D).to(device).eval()
    x, lengths = torch.randn(B, length, D, device=device), torch.full((B,), length, device=device)
    return lambda: layer(x, lengths)[0]


def decoder(length: int, device: str = "cpu") -> Callable[[], Tensor]:
    """The decoder: from vectors to the probabilities of gold classes."""
    return _gold(IndependentDecoder(D, V, d), length, device)


def autoregressive_decoder(length: int, device: str = "cpu") -> Callable[[], Tensor]:
    """The decoder that reads the outputs so far."""
    return _gold(AutoregressiveDecoder(D, V, d), length, device)


def _gold(
    decoder: IndependentDecoder | AutoregressiveDecoder, length: int, device: str
) -> Callable[[], Tensor]:
    layer, golds = decoder.to(device).eval(), pairs(length, device)
    x = torch.randn(B, length, D, device=device)
    return lambda: layer.gold(x, golds.source_lengths, golds.target)


def loss(length: int, device: str = "cpu") -> Callable[[], Tensor]:
    """The loss, from an alignment and the probabilities of gold classes."""
    golds = pairs(length, device)
    alignment, p = (torch.rand(B, length, d, length, device=device).requires_grad_() for _ in range(2))
    return lambda: token_losses(alignment, p, golds)


def step(length: int, device: str = "cpu") -> Callable[[], Tensor]:
    """A training step of F→R without its update: from words to the loss."""
    network = Transducer(TransducerConfig(width=D, max_fertility=d, copying=True), V, V).to(device).eval()
    batch = pairs(length, device)

    def losses() -> Tensor:
        terms: Losses = network(batch)
        return terms.tokens + terms.length

    return losses


def pairs(length: int, device: str = "cpu") -> Batch:
    """Sources and targets of so many tokens, with copies."""
    ids, classes = (torch.randint(V, (B, length), device=device) for _ in range(2))
    lengths = torch.full((B,), length, device=device)
    copyable = torch.rand(B, length, length, device=device) < 0.5
    return Batch(ids, lengths, classes, lengths, copyable, None, torch.arange(B, device=device))


LAYERS = {
    **{"encoder": encoder, "fertility": fertility, "reordering": reordering, "decoder": decoder},
    **{"autoregressive decoder": autoregressive_decoder, "loss": loss, "whole step": step},
}


def counts(call: Callable[[], Tensor]) -> dict[str, int]:
    """The operations of a forward and of a backward pass, and the waits of both."""
    with ftor.ops.implementation("device"), Waits() as waits, Operations() as forward:
        output = call()
    with ftor.ops.implementation("device"), waits, Operations() as backward:
        output.sum().backward()  # type: ignore[no-untyped-call]
    return {"forward": forward.count, "backward": backward.count, "waits": waits.count}


def main() -> None:
    """Count, print and write. Fails if the operations grow faster than the length."""
    options = timing.arguments("device", __doc__ or "")
    rows: list[dict[str, object]] = []
    for name, make in LAYERS.items():
        found = {length: counts(make(length)) for length in LENGTHS}
        rows += [{"layer": name, "l": length, **each} for length, each in found.items()]
        totals = [each["forward"] + each["backward"] for each in found.values()]
        growth = timing.fitted_exponent(LENGTHS, totals)
        if growth > GROWTH:
            raise SystemExit(f"{name}: the operations grow as l^{growth:.2f}, allowed l^{GROWTH}")
    timing.print_records("operations in plain torch, and waits for their results", rows)
    timing.write_json(options.out, {"operations": rows})


if __name__ == "__main__":
    main()
