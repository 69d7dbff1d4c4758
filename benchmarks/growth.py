"""How time and memory grow with the sizes of a problem. Fails if they grow faster than documented.

Times are processor times of one thread, so other programs change them little.
"""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch

import ftor
import timing
from ftor.config import Config
from ftor.datasets.mirror import mirror
from ftor.grammar import Grammar
from ftor.model.model import Model
from ftor.nn import HighwayBiLSTM, ReorderingLayer
from ftor.text.batches import bucketed
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair, read_pairs, write_pairs

SLACK = 0.25
"""What a fitted exponent may have above the documented one: larger sizes leave the caches."""


class Growth(NamedTuple):
    """What grows with which size, and the largest exponents of it that are documented."""

    size: str
    what: str
    prepare: Callable[[int], timing.Call]
    sizes: tuple[int, ...]
    time: float
    memory: float

    @property
    def name(self) -> str:
        """What is measured, over what."""
        return f"{self.what}, {self.size}"


def reordering(length: int) -> timing.Call:
    """A forward and backward pass of the reordering layer on one sequence."""
    layer, x = ReorderingLayer(64), torch.randn(1, length, 64, requires_grad=True)
    lengths = torch.full((1,), length)
    return lambda: layer(x, lengths).marginals.square().sum().backward()


def fertility_of_length(length: int) -> timing.Call:
    """A forward and backward pass of the fertility layer from 400 tokens."""
    return _fertility(400, length)


def fertility_of_tokens(n: int) -> timing.Call:
    """A forward and backward pass of the fertility layer to 100 tokens."""
    return _fertility(n, 100)


def _fertility(n: int, length: int) -> timing.Call:
    logits, lengths = torch.randn(4, n, 5, requires_grad=True), torch.full((4,), length)
    return lambda: ftor.Fertility(logits).given(lengths).marginals.square().sum().backward()  # type: ignore[no-untyped-call]


def encoder(n: int) -> timing.Call:
    """A forward and backward pass of an encoder of two layers."""
    layer, x, lengths = HighwayBiLSTM(64), torch.randn(4, n, 64), torch.full((4,), n)
    return lambda: layer(x, lengths)[0].square().sum().backward()


def step_of_batch(batch: int) -> timing.Call:
    """A forward and backward pass of the mirror network on sentences of 8 words."""
    return _step(_mirror_pairs(batch))


def step_of_vocabulary(words: int) -> timing.Call:
    """The same on 32 sentences, with so many different words on both sides."""
    names = [f"word{number}" for number in range(words)]
    known = Pair(tuple(names), tuple(names), 1)
    draws = torch.randint(words, (32, 8), generator=torch.Generator().manual_seed(0)).tolist()
    rows = [tuple(names[number] for number in row) for row in draws]
    return _step([Pair(row, row, line) for line, row in enumerate(rows, 2)], known)


def _mirror_pairs(count: int) -> list[Pair]:
    drawn = mirror(count, [8], seed=1)
    return [
        Pair(tuple(source.split()), tuple(target.split()), line)
        for line, (source, target) in enumerate(drawn, 1)
    ]


def _step(pairs: Sequence[Pair], *known: Pair) -> timing.Call:
    torch.manual_seed(0)
    model = Model.new(Config.load("mirror", ["model.width=64"]), [*pairs, *known])
    batch = EncodedPairs(pairs, model.vocabularies).batch(torch.arange(len(pairs)))

    def run() -> None:
        losses = model.network(batch)
        torch.autograd.grad((losses.tokens + losses.length).mean(), list(model.network.parameters()))

    return run


def grammar_of(rules: int) -> Grammar:
    """A grammar with about so many rules: every word can end the sentence, or one other word follows."""
    kinds = rules // 3  # each has one rule of the start, and two of its own
    lines = [f"Start -> {' | '.join(f'Kind{kind}' for kind in range(kinds))}"]
    lines += [f"Kind{kind} -> 'w{kind}' | 'w{kind}' Kind{(kind + 1) % kinds}" for kind in range(kinds)]
    return Grammar.parse("\n".join(lines))


def search(rules: int) -> timing.Call:
    """The best strings of 20 tokens of a grammar, for 4 rows."""
    grammar, length = grammar_of(rules), 20
    scores = torch.randn(4, length, len(grammar.terminals)).log_softmax(-1)
    lengths = torch.full((4,), length)
    return lambda: grammar.best(scores, lengths)


def search_of_length(length: int) -> timing.Call:
    """The best string of the ATIS grammar, for one row."""
    grammar = Grammar.read("atis")
    scores = torch.randn(1, length, len(grammar.terminals)).log_softmax(-1)
    return lambda: grammar.best(scores, torch.tensor([length]))


def reading(count: int) -> timing.Call:
    """All that is done with a file of pairs but the steps: reading, vocabularies, batches of an epoch."""
    config = Config.load("mirror", ["model.width=8"])

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pairs.tsv"
            write_pairs(mirror(count, range(3, 10), seed=1), path)
            pairs = read_pairs(path)
            rows = EncodedPairs(pairs, Model.new(config, pairs).vocabularies)
            for batch in bucketed(rows.lengths("source"), 64, 0.1, torch.Generator()):
                rows.batch(batch)

    return run


ROWS = (  # the same table is in docs/concepts/model.md
    Growth("l", "reordering, forward and backward", reordering, (50, 100, 200), 4, 3),
    Growth("l", "fertility, forward and backward", fertility_of_length, (100, 200, 400), 1, 1),
    Growth("l", "best string of a grammar", search_of_length, (25, 50, 100), 3, 2),
    Growth("n", "fertility, forward and backward", fertility_of_tokens, (500, 1000, 2000), 1, 1),
    Growth("n", "encoder, forward and backward", encoder, (100, 200, 400, 800), 1, 1),
    Growth("batch", "training step", step_of_batch, (64, 128, 256, 512), 1, 1),
    Growth("vocabulary", "training step", step_of_vocabulary, (2000, 4000, 8000, 16000), 1, 1),
    Growth("grammar rules", "best string of a grammar", search, (200, 400, 800, 1600), 1, 1),
    Growth("pairs", "an epoch's reading and batches", reading, (2000, 4000, 8000, 16000), 1, 1),
)


def seconds(calls: Mapping[int, timing.Call], repeats: int) -> dict[int, float]:
    """The smallest processor time of each call, after one that is not counted. The calls take turns."""
    for call in calls.values():
        call()
    found = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for size, call in calls.items():
            begin = time.process_time()
            call()
            found[size] = min(found[size], time.process_time() - begin)
    return found


def measure(row: Growth, repeats: int) -> dict[str, object]:
    """Measure time and memory at each size, and fit their exponents."""
    times = seconds({size: row.prepare(size) for size in row.sizes}, repeats)
    peaks = timing.peaks_megabytes(row.prepare, [_warm_up(row)], [[size] for size in row.sizes])
    return {
        **{"size": row.size, "what": row.what, "sizes": row.sizes},
        **{"seconds": list(times.values()), "megabytes": peaks},
        **{"time": timing.fitted_exponent(row.sizes, list(times.values())), "time_documented": row.time},
        **{"memory": timing.fitted_exponent(row.sizes, peaks), "memory_documented": row.memory},
    }


def _warm_up(row: Growth) -> int:
    return max(4, row.sizes[0] // 20)


def too_fast(found: Mapping[str, object]) -> list[str]:
    """What of a measured row grows faster than documented."""
    return [
        f"{found['what']}: {cost} grows as {found['size']}^{found[cost]:.2f}, documented is "
        f"{found[f'{cost}_documented']:g}"
        for cost in ("time", "memory")
        if not found[cost] <= found[f"{cost}_documented"] + SLACK  # type: ignore[operator]
    ]


def main() -> None:
    """Measure, print and write. Fails if something grows faster than documented."""
    options = timing.arguments("growth", __doc__ or "")
    torch.set_num_threads(1)
    found = []
    for row in ROWS:
        timing.progress(f"measuring {row.name}")
        sizes = row.sizes[:3] if options.quick else row.sizes
        found.append(measure(row._replace(sizes=sizes), 2 if options.quick else 7))
    shown = ("size", "what", "time", "time_documented", "memory", "memory_documented")
    timing.print_records("exponents", [{key: one[key] for key in shown} for one in found])
    timing.write_json(options.out, {"growth": found})
    complaints = [complaint for one in found for complaint in too_fast(one)]
    if complaints:
        raise SystemExit("\n".join(complaints))


if __name__ == "__main__":
    main()
