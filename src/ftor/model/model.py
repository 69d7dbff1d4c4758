"""A trained model with its vocabulary: kept in a folder, and asked for predictions."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import torch
from torch import Tensor

from ftor.config import Config
from ftor.datasets import grouping, judges, scorers
from ftor.datasets.folders import find_file, require_file
from ftor.errors import FtorError
from ftor.files import write_text
from ftor.grammar import Grammar
from ftor.metrics import WELL_FORMED, Metrics, evaluate
from ftor.model.prediction import Prediction, Structure
from ftor.model.structure import structures
from ftor.model.tensors import CheckpointError, load_tensors, save_tensors
from ftor.networks import Constraint, Network, build
from ftor.ops.arrays import Array
from ftor.reporting import SILENT, Report
from ftor.text.copying import Copying
from ftor.text.reading import DataError, Pair, Source, read_source, read_sources
from ftor.text.vectors import Vectors, read_vectors
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import SOURCE_SPECIALS, START_TOKEN

GRAMMAR_FILE = "grammar.cfg"
OWN = "own"
"""The grammar that a model was made with, if any."""


class Model:
    """A network, the configuration it was built from, and the vocabularies that it knows.

    >>> model = ftor.load("runs/mirror-0")  # doctest: +SKIP
    >>> model.predict(["a b c d e f g h i j k a b"])[0].text  # doctest: +SKIP
    'a b c d e f g h i j k a b b a k j i h g f e d c b a'
    """

    def __init__(
        self,
        config: Config,
        vocabularies: Vocabularies,
        network: Network,
        grammar: Grammar | None = None,
        data_folder: Path | None = None,
    ) -> None:
        self.config, self.vocabularies, self.network = config, vocabularies, network
        self.grammar, self._data_folder = grammar, data_folder
        self._classes = frozenset(vocabularies.target.tokens)
        self._trained = len(vocabularies.source.tokens)

    @classmethod
    def new(
        cls,
        config: Config,
        pairs: Sequence[Pair],
        data_folder: Path | None = None,
        report: Report | None = None,
        begun: Path | None = None,
    ) -> Self:
        """An untrained model for training pairs; its weights are drawn from torch's generator.

        Args:
            config: what it is to be.
            pairs: what it will be trained on.
            data_folder: where pretrained vectors and a task's facts are looked for, if not in the usual
                folders.
            report: hears what is read.
            begun: the folder of a run that goes on: it describes a pretrained network as it was then.
        """
        grammar = Grammar.read(config.decoding.grammar) if config.decoding.grammar else None
        terminals = grammar.terminals if grammar else ()
        copying, data = _copying(config), config.data
        words = Vocabularies.of(pairs, copying, data.start_token, data.lowercase, terminals)
        if data.vectors is None:
            network, vocabularies = build(config, words, folder=begun)
            return cls(config, vocabularies, network, grammar, data_folder)
        hint = "ftor data fetch glove brings some, for --set data.vectors=glove.6B.200d.txt"
        path = require_file(data.vectors, data_folder, "data.vectors", hint)
        source = words.source.tokens
        vectors = read_vectors(path, source, report)
        if report is not None:
            report.say(f"vectors: {len(vectors.by_word)} of {len(source)} words are in {path}")
        network, vocabularies = build(config, words, vectors.size)
        # Positions without a word have vectors of their own, too, named as no word of a sentence can be.
        rows = [*(f" {special}" for special in range(SOURCE_SPECIALS)), *source]
        assert network.vectors is not None
        network.vectors.fill(torch.from_numpy(vectors.table(rows)), vectors.mean, vectors.deviation)
        return cls(config, vocabularies, network, grammar, data_folder)

    @classmethod
    def load(
        cls, folder: str | Path, device: str | torch.device = "cpu", data_folder: Path | None = None
    ) -> Self:
        """Read a model folder; `data_folder` as for `new`."""
        folder = Path(folder)
        config, words = read_folder(folder)
        weights, _ = load_tensors(folder / "model.safetensors")
        vectors = weights.get("embedding.weight") if config.data.vectors is not None else None
        with torch.device("meta"):  # no time for first values that are overwritten
            size = None if vectors is None else vectors.shape[1]
            network, vocabularies = build(config, words, size, folder)
        try:
            network.load_state_dict(weights, assign=True)
        except RuntimeError as error:
            raise CheckpointError(
                f"{folder / 'model.safetensors'}: weights of another model: {error}"
            ) from None
        grammar = Grammar.read(folder / GRAMMAR_FILE) if config.decoding.grammar else None
        return cls(config, vocabularies, network.to(device).eval(), grammar, data_folder)

    @property
    def trained_words(self) -> list[str]:
        """The source words of training, without those that `know` has met since."""
        return self.vocabularies.source.tokens[: self._trained]

    def save_description(self, folder: Path) -> None:
        """Write the configuration, vocabularies and grammar, which training does not change."""
        vocabularies = {
            "source": self.trained_words,
            "target": self.vocabularies.target.tokens,
        }
        write_text(folder / "config.toml", self.config.to_toml())
        write_text(folder / "vocab.json", json.dumps(vocabularies, ensure_ascii=False, indent=0) + "\n")
        if self.grammar is not None:
            write_text(folder / GRAMMAR_FILE, self.grammar.text)
        self.network.save_description(folder)

    def check_description(self, folder: Path) -> None:
        """Refuse a folder of a model with other words or another grammar: its weights mean other things."""
        _, vocabularies = read_folder(folder)
        found = vocabularies.source.tokens, vocabularies.target.tokens
        if found != (self.trained_words, self.vocabularies.target.tokens):
            raise CheckpointError(f"{folder / 'vocab.json'}: expected the words of this run, found others")
        path = folder / GRAMMAR_FILE
        if self.grammar is not None and Grammar.read(path).text != self.grammar.text:
            raise CheckpointError(f"{path}: expected the text of {self.grammar.name}, found another")

    def save_weights(self, folder: Path) -> None:
        """Write the weights as they are now."""
        save_tensors(folder / "model.safetensors", self.network.state_dict(), {})

    def tokenize(self, sentence: str) -> tuple[str, ...]:
        """The tokens of a sentence, as in training."""
        return read_source(sentence, self.config.data.source_tokenizer, self.config.data.emphasis).tokens

    def know(self, sentences: Iterable[Sequence[str]], report: Report | None = None) -> None:
        """Look up the pretrained vectors of words that training lacked, so that they are not unknown.

        A transducer that has trained its vectors does not take others; the LSTM, which always trains them,
        does, as in the paper. A word that the file lacks, or any if there is no file any more, gets a vector
        of its own.
        """
        embedding, source = self.network.vectors, self.vocabularies.source
        if embedding is None or not self.config.model.accepts_new_vectors:
            return
        words = dict.fromkeys(self.vocabularies.word(token) for tokens in sentences for token in tokens)
        new = [word for word in words if word not in source]
        if not new:
            return
        assert self.config.data.vectors is not None
        path = find_file(self.config.data.vectors, self._data_folder)
        size, found = embedding.weight.shape[1], dict[str, Array]()
        if path is not None:
            vectors = read_vectors(path, new)
            if vectors.size != size:
                raise DataError(f"{path}: expected vectors of {size} numbers, found {vectors.size}")
            found = vectors.by_word
        elif report is not None:
            report.warn(
                f"{self.config.data.vectors}: no such file; {len(new)} words that training lacked get random "
                "vectors"
            )
        mean, deviation = embedding.moments.tolist()
        embedding.add(torch.from_numpy(Vectors(found, size, mean, deviation).table(new)))
        for word in new:
            source.add(word)

    def predict(
        self,
        sentences: Sequence[str | Sequence[str]],
        *,
        emphasis: Sequence[str | None] | None = None,
        lengths: int | None = None,
        grammar: Grammar | Path | str | None = OWN,
        batch_size: int | None = None,
        structure: bool = True,
        report: Report | None = None,
    ) -> list[Prediction]:
        """The most likely output of each sentence.

        Args:
            sentences: text, or tokens.
            emphasis: the word to emphasise of each sentence that is given as tokens, for a model with
                `data.emphasis`; in text it comes behind the sentence, `sentence ; word`.
            lengths: k, how many output lengths are tried; as configured with a grammar, else 1.
            grammar: what outputs derive from: "own" (the model's, if it has one), None, a grammar, or the
                file or name of one.
            batch_size: sentences at a time; that of the configuration if not given.
            structure: whether predictions say how the model came to them, which takes longer.
            report: where progress is shown; nowhere if not given.
        """
        if isinstance(sentences, str):
            raise TypeError("sentences: expected a list of sentences, found one string")
        data = self.config.data
        sources = read_sources(sentences, emphasis, data.source_tokenizer, data.emphasis)
        for name, value in (("lengths", lengths), ("batch_size", batch_size)):
            if value is not None and value < 1:
                raise ValueError(f"{name}: expected at least 1, found {value}")
        if lengths is not None:
            self.require_transducer("--lengths")
        language = self._language(grammar)
        k = lengths or (self.config.decoding.lengths if language is not None else 1)
        self.know((source.tokens for source in sources), report)
        configured = self.config.training.evaluation_batch_size
        size = batch_size or self.config.model.prediction_batch_size(configured, language is not None)
        by_length = sorted(range(len(sources)), key=lambda row: len(sources[row].tokens))
        found: dict[int, Prediction] = {}
        was_training = self.network.training
        self.network.eval()
        with torch.no_grad(), (report or SILENT).counting(len(sources)) as count:
            for first in range(0, len(by_length), size):
                rows = by_length[first : first + size]
                predictions = self._predict([sources[row] for row in rows], k, language, structure)
                found.update(zip(rows, predictions, strict=True))
                count.advance(len(rows), "predicted")
        self.network.train(was_training)
        return [found[row] for row in range(len(sources))]

    @property
    def constrains(self) -> bool:
        """Whether outputs derive from the model's own grammar unless somebody says otherwise."""
        return self.grammar is not None and self.config.model.accepts_grammar

    def require_transducer(self, what: str) -> None:
        """Raise if the model is not a transducer; `what` was asked for."""
        if not self.config.model.structured:
            raise FtorError(
                f"{what}: expected a transducer, found architecture {self.config.model.architecture}, which "
                "has no fertilities and no reordering"
            )

    def _language(self, grammar: Grammar | Path | str | None) -> Grammar | None:
        if grammar is None or grammar == OWN:
            return self.grammar if grammar == OWN and self.constrains else None
        if not self.config.model.accepts_grammar:
            raise FtorError("grammar: expected an independent decoder, found a model that is autoregressive")
        return grammar if isinstance(grammar, Grammar) else Grammar.read(grammar)

    def _constraint(
        self, language: Grammar | None, sources: list[tuple[str, ...]], read: list[tuple[str, ...]]
    ) -> Constraint:
        """Which outputs of a batch are allowed; the lengths of the model's own grammar even without it."""
        known, copying = language or self.grammar, self.vocabularies.copying
        if known is None:
            return Constraint()
        words = None if copying is not None and copying.open else self._classes

        def lengths(most: int) -> Tensor:
            return torch.tensor(known.lengths(most, words, copying is not None))

        def accepts(row: int, choices: list[int]) -> bool:
            return self.derives(self.vocabularies.output(choices, read[row]), sources[row], language)

        return Constraint(lengths) if language is None else Constraint(lengths, language.best, accepts)

    def evaluate(
        self,
        pairs: Sequence[Pair],
        lengths: int | None = None,
        report: Report | None = None,
        grammar: Grammar | Path | str | None = OWN,
    ) -> Metrics:
        """How many pairs are predicted right, by source length too, and by what the task counts."""
        predictions = self.predict(
            [pair.source for pair in pairs],
            emphasis=[pair.emphasis for pair in pairs],
            lengths=lengths,
            grammar=grammar,
            structure=False,
            report=report,
        )
        return self.judge(pairs, [prediction.tokens for prediction in predictions], report)

    def judge(
        self,
        pairs: Sequence[Pair],
        outputs: Sequence[Sequence[str]],
        report: Report | None = None,
        quick: bool = False,
    ) -> Metrics:
        """Compare outputs with the golds, as the task does; if `quick` without scores that take long."""
        task = self.config.data.task
        scored = [scorer for scorer in scorers(task, report) if not (quick and scorer.slow)]
        metrics = evaluate(
            [pair.target for pair in pairs],
            outputs,
            [len(pair.source) for pair in pairs],
            judges(task, self._data_folder),
            grouping(task),
            scored,
        )
        if self.grammar is None:
            return metrics
        rows = zip(outputs, pairs, strict=True)
        accepted = [self.derives(output, pair.source) for output, pair in rows]
        return replace(metrics, shares=metrics.shares | {WELL_FORMED: sum(accepted) / len(accepted)})

    def derives(self, output: Sequence[str], source: Sequence[str], grammar: Grammar | None = None) -> bool:
        """Whether a grammar, else the model's own, derives an output with copies of the source's words.

        Copies may be spelled as in the source or as the model spells them, in any case if copying does not
        care for it.
        """
        grammar = grammar or self.grammar
        assert grammar is not None
        copying = self.vocabularies.copying
        words = [*source, *self.vocabularies.spelled(source)]
        if copying is not None and copying.any_case:
            keys = copying.keys(source)
            words += [token for token in output if copying.is_copy(token, keys)]
        return grammar.accepts(output, words)

    def _predict(
        self, marked: list[Source], k: int, language: Grammar | None, structure: bool
    ) -> list[Prediction]:
        sources, words = [source.tokens for source in marked], [source.emphasis for source in marked]
        device = next(self.network.parameters()).device
        terminals = language.terminals if language is not None else None
        batch = self.vocabularies.source_batch(sources, terminals, words).to(device)
        start = (START_TOKEN,) if self.vocabularies.start_token else ()
        read = [start + source for source in sources]
        decoded = self.network.decode(batch, k, self._constraint(language, sources, read))
        rows = zip(decoded, read, strict=True)
        outputs = [self.vocabularies.output(one.choices, source) for one, source in rows]
        how: list[Structure | None] = [None] * len(sources)
        if structure and self.config.model.structured:
            lengths = torch.tensor([len(output) for output in outputs], device=device)
            how = list(structures(self.network, batch, lengths, read, outputs))
        answers = zip(read, outputs, decoded, how, strict=True)
        found = [
            Prediction(source, output, one.score, one.length_score, why)
            for source, output, one, why in answers
        ]
        if language is None:
            return found
        return [
            replace(one, well_formed=self.derives(one.tokens, source, language))
            for one, source in zip(found, sources, strict=True)
        ]


def _copying(config: Config) -> Copying | None:
    return Copying.of(config.data) if config.model.copies else None


def read_folder(folder: Path) -> tuple[Config, Vocabularies]:
    """The configuration and the words of a model folder."""
    if not (folder / "config.toml").is_file():
        raise CheckpointError(f"{folder}: expected a model folder, found no config.toml in it")
    config = Config.load(folder / "config.toml")
    try:
        tokens = json.loads((folder / "vocab.json").read_text("utf-8"))
        source, target = list(tokens["source"]), list(tokens["target"])
        start_token, lowercase = config.data.start_token, config.data.lowercase
        vocabularies = Vocabularies(source, target, _copying(config), start_token, lowercase)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{folder / 'vocab.json'}: expected two lists of tokens, found a damaged file: {error!r}"
        ) from None
    return config, vocabularies
