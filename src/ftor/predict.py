"""A trained model with its vocabulary: kept in a folder, and asked for predictions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import torch

from ftor.checkpoint import CheckpointError, load_tensors, save_tensors, write_text
from ftor.config import Config
from ftor.data.batching import SourceBatch, Vocabularies
from ftor.data.reading import DataError, Pair, tokenize
from ftor.data.vocabulary import START_TOKEN
from ftor.models import Transducer
from ftor.models.transducer import Decoded
from ftor.prediction import Prediction, Step, Structure
from ftor.progress import Report
from ftor.tasks.metrics import Metrics, evaluate

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Model:
    """A network, the configuration it was built from, and the vocabularies that it knows.

    >>> model = ftor.load("runs/mirror-0")  # doctest: +SKIP
    >>> model.predict(["a b c d e f g h i j k a b"])[0].text  # doctest: +SKIP
    'a b c d e f g h i j k a b b a k j i h g f e d c b a'
    """

    def __init__(self, config: Config, vocabularies: Vocabularies, network: Transducer) -> None:
        self.config, self.vocabularies, self.network = config, vocabularies, network

    @classmethod
    def new(cls, config: Config, pairs: Sequence[Pair]) -> Self:
        """An untrained model for training pairs; its weights are drawn from torch's generator."""
        vocabularies = Vocabularies.of(pairs, config.model.copying, config.data.start_token)
        return cls(config, vocabularies, _network(config, vocabularies))

    @classmethod
    def load(cls, folder: str | Path, device: str | torch.device = "cpu") -> Self:
        """Read a model folder."""
        folder = Path(folder)
        config, vocabularies = read_folder(folder)
        weights, _ = load_tensors(folder / "model.safetensors")
        with torch.device("meta"):  # no time for first values that are overwritten
            network = _network(config, vocabularies)
        try:
            network.load_state_dict(weights, assign=True)
        except RuntimeError as error:
            raise CheckpointError(
                f"{folder / 'model.safetensors'}: weights of another model: {error}"
            ) from None
        return cls(config, vocabularies, network.to(device).eval())

    def save_description(self, folder: Path) -> None:
        """Write the configuration and the vocabularies, which training does not change."""
        vocabularies = {"source": self.vocabularies.source.tokens, "target": self.vocabularies.target.tokens}
        write_text(folder / "config.toml", self.config.to_toml())
        write_text(folder / "vocab.json", json.dumps(vocabularies, ensure_ascii=False, indent=0) + "\n")

    def save_weights(self, folder: Path) -> None:
        """Write the weights as they are now."""
        save_tensors(folder / "model.safetensors", self.network.state_dict(), {})

    def predict(
        self,
        sentences: Sequence[str | Sequence[str]],
        *,
        lengths: int = 1,
        batch_size: int | None = None,
        structure: bool = True,
        report: Report | None = None,
    ) -> list[Prediction]:
        """The most likely output of each sentence.

        Args:
            sentences: text, or tokens.
            lengths: k, how many output lengths are tried.
            batch_size: sentences at a time; that of the configuration if not given.
            structure: whether predictions say how the model came to them, which takes longer.
            report: where progress is shown; nowhere if not given.
        """
        if isinstance(sentences, str):
            raise TypeError("sentences: expected a list of sentences, found one string")
        sources = [tokenize(s) if isinstance(s, str) else tuple(s) for s in sentences]
        if not all(sources):
            raise DataError(f"sentences: expected text in each, found none in number {sources.index(()) + 1}")
        size = batch_size or self.config.training.evaluation_batch_size
        by_length = sorted(range(len(sources)), key=lambda row: len(sources[row]))
        found: dict[int, Prediction] = {}
        was_training = self.network.training
        self.network.eval()
        with torch.no_grad(), (report or Report(quiet=True)).counting(len(sources)) as count:
            for first in range(0, len(by_length), size):
                rows = by_length[first : first + size]
                predictions = self._predict([sources[row] for row in rows], lengths, structure)
                found.update(zip(rows, predictions, strict=True))
                count.advance(len(rows), "predicted")
        self.network.train(was_training)
        return [found[row] for row in range(len(sources))]

    def evaluate(self, pairs: Sequence[Pair], lengths: int = 1, report: Report | None = None) -> Metrics:
        """How many pairs are predicted right, by source length too."""
        predictions = self.predict([p.source for p in pairs], lengths=lengths, structure=False, report=report)
        golds = [pair.target for pair in pairs]
        return evaluate(golds, [p.tokens for p in predictions], [len(pair.source) for pair in pairs])

    def _predict(self, sources: list[tuple[str, ...]], k: int, structure: bool) -> list[Prediction]:
        device = self.network.embedding.weight.device
        batch = self.vocabularies.source_batch(sources).to(device)
        decoded = self.network.decode(batch, k)
        start = (START_TOKEN,) if self.vocabularies.start_token else ()
        read = [start + source for source in sources]
        choices, lengths = decoded.choices.tolist(), decoded.lengths.tolist()
        outputs = [
            tuple(self._token(choice, source) for choice in row[:length])
            for row, length, source in zip(choices, lengths, read, strict=True)
        ]
        structures: list[Structure | None] = [None] * len(sources)
        if structure:
            structures = list(self._structures(batch, decoded, read, outputs))
        scores = zip(decoded.scores.tolist(), decoded.length_scores.tolist(), strict=True)
        return [
            Prediction(source, tokens, score, length_score, how)
            for source, tokens, (score, length_score), how in zip(
                read, outputs, scores, structures, strict=True
            )
        ]

    def _token(self, choice: int, source: tuple[str, ...]) -> str:
        classes = self.network.classes
        return self.vocabularies.target.token(choice) if choice < classes else source[choice - classes]

    def _structures(
        self,
        batch: SourceBatch,
        decoded: Decoded,
        sources: list[tuple[str, ...]],
        outputs: list[tuple[str, ...]],
    ) -> list[Structure]:
        """How the network aligns each source with its output; row by row, so that long ones fit."""
        found = []
        for row, (source, output) in enumerate(zip(sources, outputs, strict=True)):
            one = batch.take(torch.tensor([row], device=batch.source.device))
            n, length = len(source), decoded.lengths[row : row + 1]
            reading = self.network.read(one.source[:, :n], one.source_lengths)
            alignment = self.network.align(reading, length)
            fertilities = reading.fertility.argmax(length)[0].tolist()
            copies = alignment.copies[0].sum(-1).cpu().numpy()
            tree, reordering = None, None
            if alignment.permutation is not None:
                best = alignment.permutation.argmax
                tree, moves_to = best.trees[0], best.permutations[0].tolist()
                reordering = alignment.permutation.marginals[0].cpu().numpy()
            if reordering is None:
                steps: tuple[Step, ...] = (Step("fertility", copies, output),)
            elif reading.permutation is None:
                labels = _copies(source, fertilities)
                steps = Step("fertility", copies, labels), Step("reordering", reordering, output)
            else:
                permuted = tuple(source[moves_to.index(place)] for place in range(n))
                steps = Step("reordering", reordering, permuted), Step("fertility", copies, output)
                fertilities = [fertilities[place] for place in moves_to]
            whole = alignment.whole[0].sum(1).cpu().numpy()
            found.append(Structure(steps, whole, tuple(fertilities), tree))
        return found


def _copies(source: tuple[str, ...], fertilities: list[int]) -> tuple[str, ...]:
    """A name for every copy: the token, numbered if it is copied more than once."""
    return tuple(
        f"{token}{str(copy).translate(_SUPERSCRIPT)}" if fertility > 1 else token
        for token, fertility in zip(source, fertilities, strict=True)
        for copy in range(1, fertility + 1)
    )


def _network(config: Config, vocabularies: Vocabularies) -> Transducer:
    return Transducer(config.model, len(vocabularies.source), len(vocabularies.target))


def read_folder(folder: Path) -> tuple[Config, Vocabularies]:
    """The configuration and vocabularies of a model folder."""
    if not (folder / "config.toml").is_file():
        raise CheckpointError(f"{folder}: expected a model folder, found no config.toml in it")
    config = Config.load(folder / "config.toml")
    try:
        tokens = json.loads((folder / "vocab.json").read_text("utf-8"))
        source, target = list(tokens["source"]), list(tokens["target"])
        vocabularies = Vocabularies(source, target, config.model.copying, config.data.start_token)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{folder / 'vocab.json'}: expected two lists of tokens, found a damaged file: {error!r}"
        ) from None
    return config, vocabularies
