"""Sentences per second of predicting with and without a grammar: by output length, or with some models."""

import time
from collections.abc import Sequence

import torch

import ftor
import ftor.ops
from ftor.config import Config
from ftor.grammar import Grammar
from ftor.model.model import Model
from ftor.networks.transducer import Transducer
from ftor.text.reading import Pair, read_pairs
from timing import arguments, print_records, progress, refuse_unless_equal, write_json

LENGTHS = (10, 15, 20, 30, 50)
SENTENCES = 128
BATCH = 32
PER_WORD = 2
"""Output tokens for each source token of the sentences that are made up."""


def made_up(length: int) -> tuple[Model, list[Sequence[str]]]:
    """An untrained model of the published size for ATIS that predicts this length, and sentences for it."""
    torch.manual_seed(0)
    config = Config.load("atis-iid", [f"training.evaluation_batch_size={BATCH}"])
    data = config.data.model_copy(update={"vectors": None, "task": "pairs", "start_token": False})
    config = config.model_copy(update={"data": data})
    words = [f"word{number}" for number in range(900)]
    model = Model.new(config, [Pair(tuple(words), ("answer",), 1)])
    assert isinstance(model.network, Transducer)
    last = model.network.fertility.mlp[-1]
    assert isinstance(last, torch.nn.Linear)
    with torch.no_grad():
        last.bias.fill_(-50)
        last.bias[PER_WORD] = 50
    draws = torch.randint(len(words), (SENTENCES, length // PER_WORD)).tolist()
    return model, [[words[number] for number in row] for row in draws]


def check_agreement() -> float:
    """The best strings of the grammar by the kernel and by the plain implementation must score the same."""
    grammar = Grammar.read("atis")
    torch.manual_seed(0)
    scores = torch.randn(3, 9, len(grammar.terminals)).log_softmax(-1)
    lengths = torch.tensor([9, 5, 3])
    found, columns = grammar.best(scores, lengths)
    with ftor.ops.implementation("torch"):
        expected, other_columns = grammar.best(scores, lengths)
    difference = float((found - expected).abs().max())
    refuse_unless_equal("decoding", difference, 1e-5)
    refuse_unless_equal("decoding", float((columns != other_columns).sum()), 0)
    return difference


def seconds(
    model: Model, sentences: Sequence[str | Sequence[str]], grammar: str | None, lengths: int | None
) -> float:
    """The time that predicting takes, after a first try."""
    begin = time.perf_counter()
    model.predict(sentences, grammar=grammar, lengths=lengths, structure=False)
    return time.perf_counter() - begin


def sentence(pair: Pair) -> str | Sequence[str]:
    """What a model predicts from: tokens, or text where a word is to be emphasised."""
    return pair.source if pair.emphasis is None else f"{' '.join(pair.source)} ; {pair.emphasis}"


def speeds(model: Model, sentences: Sequence[str | Sequence[str]], repeats: int) -> dict[str, float | None]:
    """Sentences per second in the three ways that matter; the median of several that take turns.

    A baseline has no lengths to choose from: its grammar chooses from a beam. What a model cannot do is None.
    """
    every = {"plain": (None, 1), "grammar": ("own", 1), "grammar_5_lengths": ("own", 5)}
    possible = [way for way in every if way == "plain" or model.constrains]
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
    chosen = arguments(
        "decoding",
        __doc__ or "",
        repeatable=["model"],
        model="a model folder, to decode --file with; may be given again, to compare",
        file="a TSV file of pairs",
    )
    difference, repeats = check_agreement(), 1 if chosen.quick else 3
    rows: list[dict[str, object]] = []
    for folder in chosen.model:
        progress(str(folder))
        model = ftor.load(folder)
        data = model.config.data
        pairs = read_pairs(chosen.file, data.source_tokenizer, data.target_tokenizer, data.emphasis)
        found = speeds(model, [sentence(pair) for pair in pairs], repeats)
        rows.append({"model": model.config.name, "sentences": len(pairs), **found})
    if not chosen.model:
        for length in LENGTHS[:2] if chosen.quick else LENGTHS:
            progress(f"length {length}")
            rows.append({"length": length, **speeds(*made_up(length), repeats)})
    print_records("decoding", rows)
    write_json(chosen.out, {"difference": difference, "decoding": rows})


if __name__ == "__main__":
    main()
