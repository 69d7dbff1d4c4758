"""Speed of learning units, writing programs in them, and inferring a grammar: random s-expressions.

With `--pairs FILE.tsv`, also the time of an epoch on the same pairs in units and in plain tokens.
"""

import hashlib
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

import timing
from ftor.config import Config
from ftor.grammar import Grammar
from ftor.model.model import Model
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.programs import Programs
from ftor.text.programs.grammars import inferred_grammar
from ftor.text.programs.pairs import encode_pairs
from ftor.text.reading import Pair, read_pairs

SIZES = {
    2_000: "a41c93d92782",
    10_000: "54744803b7c1",
}
"""By number of targets, the fingerprint of all targets in units."""


def program(depth: int, chance: random.Random) -> str:
    """Draw an s-expression. Depth 3 gives 50 tokens."""
    if depth == 0:
        return f"a{chance.randrange(50)}"
    head = f"f{chance.randrange(20)}"
    return f"( {head} {program(depth - 1, chance)} ( g {program(depth - 1, chance)} ) )"


def cpu_seconds(call: Callable[[], object], repeats: int) -> float:
    """Median CPU time of a call: other programs of the machine count less than in its wall time."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        call()
        times.append(time.process_time() - begun)
    return statistics.median(times)


def measure(number: int, repeats: int) -> dict[str, float | str]:
    """Check that units are as they were and that all targets come back, then time each step."""
    timing.progress(f"measuring {number} targets")
    chance = random.Random(0)
    targets = [program(3, chance) for _ in range(number)]
    pairs = [Pair(("x",), (), line, None, text) for line, text in enumerate(targets, 1)]
    programs = Programs.learn(targets)
    encoded = [programs.encode(text) for text in targets]
    found = hashlib.sha256(json.dumps(encoded).encode()).hexdigest()[:12]
    if found != SIZES[number] or [programs.decode(units) for units in encoded] != targets:
        raise SystemExit(
            f"{number} targets: the units have fingerprint {found}, expected {SIZES[number]}; not measured"
        )
    in_units = encode_pairs(programs, pairs)
    text = inferred_grammar(in_units, programs)
    fresh = Programs.from_dict(programs.to_dict())
    return {
        "targets": number,
        "tokens": len(targets[0].split()),
        "units": sum(map(len, encoded)) / number,
        "learn_s": cpu_seconds(lambda: Programs.learn(targets), repeats),
        "encode_s": cpu_seconds(lambda: [fresh.tree(text) for text in targets], repeats),
        "decode_s": cpu_seconds(lambda: [programs.decode(units) for units in encoded], repeats),
        "infer_s": cpu_seconds(lambda: Grammar.parse(inferred_grammar(in_units, programs)), repeats),
        "rules": len(Grammar.parse(text).rules),
        "fingerprint": found,
    }


def epoch_seconds(pairs: Sequence[Pair], rows: Sequence[int], repeats: int) -> float:
    """CPU time of training steps on some of the pairs, scaled to all of them."""
    copies = max(-(-len(pair.target) // (len(pair.source) + 1)) for pair in pairs)
    config = Config.load("programs", ["data.programs=none", f"model.max_fertility={max(copies, 4)}"])
    torch.manual_seed(0)
    model = Model.new(config, pairs)
    network = model.network.train()
    optimizer = torch.optim.Adam(network.parameters())
    encoded = EncodedPairs(pairs, model.vocabularies)
    by_length = sorted(rows, key=lambda row: len(pairs[row].target))
    size = config.training.batch_size
    batches = [encoded.batch(torch.tensor(by_length[at : at + size])) for at in range(0, len(rows), size)]

    def train() -> None:
        for batch in batches:
            losses = network(batch)
            optimizer.zero_grad()
            (losses.tokens + config.training.length_weight * losses.length).mean().backward()
            optimizer.step()

    train()  # compiles kernels
    return cpu_seconds(train, repeats) * len(pairs) / len(rows)


def measure_epochs(path: Path, quick: bool) -> dict[str, float | str]:
    """Time an epoch with the targets of a file as units and as tokens. No pair is left out of either."""
    timing.progress(f"measuring epochs on {path.name}")
    pairs = read_pairs(path)
    in_units = encode_pairs(Programs.learn([pair.target_text for pair in pairs]), pairs)
    rows = random.Random(0).sample(range(len(pairs)), min(len(pairs), 32 if quick else 128))
    units, tokens = (epoch_seconds(some, rows, 1 if quick else 3) for some in (in_units, pairs))
    return {
        "pairs": path.name,
        "number": len(pairs),
        "units": statistics.mean(len(pair.target) for pair in in_units),
        "tokens": statistics.mean(len(pair.target) for pair in pairs),
        "units_s": units,
        "tokens_s": tokens,
        "ratio": tokens / units,
    }


def main() -> None:
    """Measure, print and write."""
    torch.set_num_threads(1)
    options = timing.arguments("programs", __doc__ or "", ["pairs"], pairs="pairs whose targets are programs")
    epochs = [measure_epochs(path, options.quick) for path in options.pairs]
    if epochs:
        timing.print_records("CPU seconds of an epoch, one thread", epochs)
    sizes = list(SIZES)[:1] if options.quick else list(SIZES)
    figures = [measure(number, 3 if options.quick else 5) for number in sizes]
    timing.print_records("programs in units, CPU seconds", figures)
    timing.write_json(options.out, {"cases": figures, "epochs": epochs})


if __name__ == "__main__":
    main()
