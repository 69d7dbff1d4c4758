"""Time of training beside the time that its floating-point work takes at the rate of a large torch.mm.

With one thread, times are processor times, so other programs change them little. The products take turns with
the work.
"""

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

import reordering
import timing
from ftor.config import Config
from ftor.reporting import SILENT
from ftor.text.reading import DataError
from ftor.training.data import load_training_data
from ftor.training.trainer import Trainer

SIDE = 1600
"""Of the matrices of the large product."""
LAYER = reordering.Case(30, 32)
EXPERIMENTS = {"mirror": "mirror epoch", "geo-iid": "Geoquery epoch", "atis-length": "ATIS-length epoch"}
TURNS = 12
"""Into how many parts an epoch is cut. A product is timed between two of them."""


def recurrence(passes: int, args: Sequence[Any]) -> int:
    """A product of H and 5H numbers per step and direction."""
    weight = args[1]
    return passes * int(_lengths(args).sum()) * int(weight.shape[0]) * 10 * int(weight.shape[-1]) ** 2


def scorer(per_unit: int, args: Sequence[Any]) -> int:
    """So many operations per hidden unit of each split."""
    splits = sum(math.comb(length + 1, 3) for length in _lengths(args).tolist())
    units = max(x.shape[-1] for x in args if isinstance(x, Tensor) and x.dim() == 3)
    return splits * units * per_unit


def trees(per_place: int, args: Sequence[Any]) -> int:
    """So many operations per split and place of its block."""
    return per_place * sum(math.comb(length + 2, 4) for length in _lengths(args).tolist())


def _lengths(args: Sequence[Any]) -> Tensor:
    return next(x for x in args if isinstance(x, Tensor) and not x.dtype.is_floating_point)


OWN = {
    "ftor::highway_lstm": partial(recurrence, 1),
    "ftor::highway_lstm_backward": partial(recurrence, 2),  # also for the weights
    "ftor::span_scores": partial(scorer, reordering.FORWARD_FLOPS),
    "ftor::span_scores_backward": partial(scorer, reordering.BACKWARD_FLOPS),
    "ftor::tree_expected_permutation": partial(trees, 4),  # straight and inverted, a multiply-add each
    "ftor::tree_expected_permutation_backward": partial(trees, 8),
}


class Operations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the floating-point operations of matrix products, recurrences, span scores and trees."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.count: int = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run it, and add its operations."""
        output = func(*args, **(kwargs or {}))
        own, known = OWN.get(func._schema.name), flop_registry.get(func._overloadpacket)
        if own is not None:
            self.count += own(args)
        elif known is not None:
            self.count += known(*args, **(kwargs or {}), out_val=output)
        return output


def operations(call: Callable[[], object]) -> int:
    """Count the floating-point operations of a call."""
    counter = Operations()
    with counter:
        call()
    return counter.count


def _now() -> float:
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


def _seconds(call: Callable[[], object]) -> float:
    begin = _now()
    call()
    return _now() - begin


def beside_products(parts: Sequence[Callable[[], object]]) -> tuple[list[float], float]:
    """The seconds of each part, and the median seconds of a large product. They take turns."""
    square, seconds, products = torch.randn(SIDE, SIDE), [], []
    torch.mm(square, square)
    for part in parts:
        seconds.append(_seconds(part))
        products.append(_seconds(lambda: torch.mm(square, square)))
    return seconds, statistics.median(products)


def _row(what: str, seconds: float, flops: float, product: float) -> dict[str, object]:
    rate = 2 * SIDE**3 / product
    return {
        **{"what": what, "seconds": seconds, "gflop": flops / 1e9, "mm_gflops": rate / 1e9},
        **{"work_seconds": flops / rate, "ratio": seconds * rate / flops, "products": seconds / product},
    }


def layer(repeats: int) -> dict[str, object]:
    """The reordering layer. Its numbers are first compared with those of the published algorithm."""
    reordering.agreement(LAYER._replace(length=10))
    step = reordering.ftor_step(LAYER)
    step()
    seconds, product = beside_products([step] * repeats)
    return _row("reordering", statistics.median(seconds), operations(step), product)


def epoch(name: str, share: int) -> dict[str, object]:
    """An epoch of training without evaluation, of which each `share`-th batch is run.

    A step is first compared with plain torch.
    """
    config = Config.load(name)
    with tempfile.TemporaryDirectory() as folder:
        data = load_training_data(config, None, Path(folder), SILENT)
        trainer = Trainer(config, data, Path(folder), SILENT)
        trainer.network.train()
        batches = trainer.batches(0)[::share]
        first = trainer.train_set.batch(batches[0])
        timing.refuse_other_steps(f"{name}, a step", trainer.model.network, first)
        for rows in batches[:3]:
            trainer.step(rows)

        def some(first: int) -> Callable[[], object]:
            return lambda: [trainer.step(rows) for rows in batches[first::TURNS]]

        seconds, product = beside_products([some(turn) for turn in range(TURNS)])
        counted = batches[:: max(1, len(batches) // 20)]  # counting takes longer than the steps
        flops = sum(operations(lambda rows=rows: trainer.step(rows)) for rows in counted)  # type: ignore[misc]
    examples = {key: sum(map(len, some)) for key, some in (("timed", batches), ("counted", counted))}
    total = len(trainer.train_set)
    scaled = total / examples["timed"] * sum(seconds), total / examples["counted"] * flops
    return _row(EXPERIMENTS[name], *scaled, product)


def main() -> None:
    """Measure, print and write. Experiments whose data is not there are left out."""
    options = timing.arguments("arithmetic", __doc__ or "")
    rows = [layer(3 if options.quick else 15)]
    for name in EXPERIMENTS:
        timing.progress(f"training {name}")
        try:
            rows.append(epoch(name, 8 if options.quick else 1))
        except DataError as error:
            timing.progress(f"left out: {error}")
    timing.print_records("time beside that of the floating-point work", rows)
    timing.write_json(options.out, {"rows": rows})


if __name__ == "__main__":
    main()
