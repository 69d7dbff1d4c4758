"""What a GPU would have to do: operations and waits for results of each layer in plain torch, by length.

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
from ftor.nn.encoder import HighwayBiLSTM

B, D, d = 4, 16, 3
LENGTHS = (5, 10, 20, 40)
GROWTH = 1.2
"""The largest exponent of the operations in the length: layers loop over l − 1 widths or l places."""
_WAITS = {
    *(Tensor.item, Tensor.tolist, Tensor.__bool__, Tensor.__int__, Tensor.__float__, Tensor.__index__),
    *(Tensor.nonzero, Tensor.cpu, Tensor.numpy),
}


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
        if func in _WAITS:
            if self.refuse:
                raise RuntimeError(f"{func.__name__} waits for the device")
            self.count += 1
        return func(*args, **(kwargs or {}))


def reordering(length: int, device: str = "cpu") -> Callable[[], Tensor]:
    """The reordering layer: from vectors to the expected permutation."""
    layer = ftor.nn.ReorderingLayer(D, validate_args=False).to(device).eval()
    x, lengths = torch.randn(B, length, D, device=device), torch.full((B,), length, device=device)
    return lambda: layer(x, lengths).marginals


def fertility(length: int, device: str = "cpu") -> Callable[[], Tensor]:
    """The fertility layer: from vectors to the copies at each place."""
    layer = ftor.nn.FertilityLayer(D, d, validate_args=False).to(device).eval()
    x = torch.randn(B, length, D, device=device)
    lengths = torch.full((B,), length, device=device)
    return lambda: layer(x, lengths).given(lengths, max_length=length).marginals


def encoder(length: int, device: str = "cpu") -> Callable[[], Tensor]:
    """An encoder of two layers."""
    layer = HighwayBiLSTM(D).to(device).eval()
    x, lengths = torch.randn(B, length, D, device=device), torch.full((B,), length, device=device)
    return lambda: layer(x, lengths)[0]


LAYERS = {"reordering": reordering, "fertility": fertility, "encoder": encoder}


def counts(call: Callable[[], Tensor]) -> dict[str, int]:
    """The operations of a forward and of a backward pass, and the waits of both."""
    with ftor.ops.implementation("torch"), Waits() as waits, Operations() as forward:
        output = call()
    with ftor.ops.implementation("torch"), waits, Operations() as backward:
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
