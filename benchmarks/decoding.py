"""Speed of prediction with and without a grammar, by output length or for given models."""

import time
from collections.abc import Sequence

import torch

import ftor
import ftor.ops
import timing
from ftor.config import Config
from ftor.grammar import Grammar
from ftor.model.model import Model
from ftor.networks.transducer import Transducer
from ftor.text.reading import Pair, read_pairs

LENGTHS = (10, 15, 20, 30, 50)
SENTENCES = 128
BATCH = 32
PER_WORD = 2
"""Output tokens per source token of the generated sentences."""


def untrained(length: int) -> tuple[Model, list[Sequence[str]]]:
    """Make an untrained ATIS model of the published size that predicts this length, and sentences for it."""
    torch.manual_seed(0)
    config = Config.load("atis-iid", [f"training.evaluation_batch_size={BATCH}"])
    data = config.data.model_copy(update={"vectors": None, "task": "pairs", "start_token": False})
    config = config.model_copy(update={"data": data})
    words = [f"word{number}" for number in range(900)]
    model = Model.new(config, [Pair(tuple(words), ("answer",), 1)])
    timing.fix_fertility(model, PER_WORD)
    draws = torch.randint(len(words), (SENTENCES, length // PER_WORD)).tolist()
    return model, [[words[number] for number in row] for row in draws]


def check_agreement() -> float:
    """Check that kernel and plain torch find the same best strings with the same scores."""
    grammar = Grammar.read("atis")
    torch.manual_seed(0)
    scores = torch.randn(3, 9, len(grammar.terminals)).log_softmax(-1)
    lengths = torch.tensor([9, 5, 3])
    actual, columns = grammar.best(scores, lengths)
    with ftor.ops.implementation("torch"):
        expected, other_columns = grammar.best(scores, lengths)
    difference = float((actual - expected).abs().max())
    timing.refuse_unless_equal("decoding", difference, 1e-5)
    timing.refuse_unless_equal("decoding", float((columns != other_columns).sum()), 0)
    return difference


def seconds(
    model: Model, sentences: Sequence[str | Sequence[str]], grammar: str | None, lengths: int | None
) -> float:
    """Measure one call of `predict`."""
    begin = time.perf_counter()
    model.predict(sentences, grammar=grammar, lengths=lengths, structure=False)
    return time.perf_counter() - begin


def sentence(pair: Pair) -> str | Sequence[str]:
    """Give the tokens of a pair, or its text if a word is emphasised."""
    return pair.source if pair.emphasis is None else f"{' '.join(pair.source)} ; {pair.emphasis}"


def speeds(model: Model, sentences: Sequence[str | Sequence[str]], repeats: int) -> dict[str, float | None]:
    """Measure sentences per second: without a grammar, with it, and with it over five lengths.

    Each is the median of several turns. A value is None if the model cannot do it: a baseline has no lengths
    to choose from, its grammar chooses from a beam.
    """
    every = {"plain": (None, 1), "grammar": ("own", 1), "grammar_5_lengths": ("own", 5)}
    possible = [way for way in every if way == "plain" or model.uses_grammar]
    ways: dict[str, tuple[str | None, int | None]]
    if isinstance(model.network, Transducer):
        ways = {way: every[way] for way in possible}
    else:
        ways = {way: (every[way][0], None) for way in possible if way != "grammar_5_lengths"}
    for grammar, lengths in ways.values():
        seconds(model, sentences[:BATCH], grammar, lengths)
    turns = [{way: seconds(model, sentences, *how) for way, how in ways.items()} for _ in range(repeats)]
    middle = {way: sorted(turn[way] for turn in turns)[len(turns) // 2] for way in ways}
    return {f"{way}_per_s": len(sentences) / middle[way] if way in middle else None for way in every}


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments(
        "decoding",
        __doc__ or "",
        repeatable=["model"],
        model="a model folder; give several to compare them",
        file="a TSV file of pairs for the given models",
    )
    difference, repeats = check_agreement(), 1 if options.quick else 3
    rows: list[dict[str, object]] = []
    for folder in options.model:
        timing.progress(str(folder))
        model = ftor.load(folder)
        data = model.config.data
        pairs = read_pairs(options.file, data.source_tokenizer, data.target_tokenizer, data.emphasis)
        measured = speeds(model, [sentence(pair) for pair in pairs], repeats)
        rows.append({"model": model.config.name, "sentences": len(pairs), **measured})
    if not options.model:
        for length in LENGTHS[:2] if options.quick else LENGTHS:
            timing.progress(f"length {length}")
            rows.append({"length": length, **speeds(*untrained(length), repeats)})
    timing.print_records("decoding", rows)
    timing.write_json(options.out, {"difference": difference, "decoding": rows})


if __name__ == "__main__":
    main()
