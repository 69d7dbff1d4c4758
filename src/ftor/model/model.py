"""A trained model: its network, words, configuration and grammar."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import torch

from ftor.config import Config
from ftor.errors import FtorError
from ftor.grammar import Grammar
from ftor.metrics import Metrics
from ftor.model import word_vectors
from ftor.model.evaluation import Evaluation, examine
from ftor.model.folder import (
    GRAMMAR_FILE,
    WEIGHTS_FILE,
    check_description,
    copying_of,
    read_description,
    read_network,
    read_programs,
    write_description,
)
from ftor.model.hub import local_folder, push
from ftor.model.judging import Judged, derives, judge
from ftor.model.predicting import batches_of, predict_batch, predict_or_fail
from ftor.model.prediction import Prediction
from ftor.model.programs import grammar_name, to_judge, training_grammar, with_programs
from ftor.model.tensors import save_tensors
from ftor.networks import Network, build
from ftor.reporting import SILENT, Report
from ftor.text.programs.grammars import over_units
from ftor.text.programs.pairs import TargetUnits
from ftor.text.reading import Pair, Source, read_source, read_sources
from ftor.text.vocabularies import Vocabularies

OWN = "own"
"""Stands for the grammar that a model was trained with, if any."""


class Model:
    """A trained model. `ftor.load` and `ftor.train` return one.

    >>> model = ftor.load("runs/mirror-0")  # doctest: +SKIP
    >>> model.predict(["a b c d e f g h i j k a b"])[0].text  # doctest: +SKIP
    'a b c d e f g h i j k a b b a k j i h g f e d c b a'

    Attributes:
        config: the experiment that it was trained in.
        vocabularies: its source words and target classes.
        network: its network.
        grammar: the grammar that it was trained with, if any.
        folder: the folder that it was loaded from, if any.
        programs: how outputs are written in units, if they are programs.
    """

    def __init__(
        self,
        config: Config,
        vocabularies: Vocabularies,
        network: Network,
        grammar: Grammar | None = None,
        data_folder: Path | None = None,
        folder: Path | None = None,
        programs: TargetUnits | None = None,
    ) -> None:
        self.config, self.vocabularies, self.network, self.grammar = config, vocabularies, network, grammar
        self.folder, self._data_folder, self.programs = folder, data_folder, programs
        self._trained_words = len(vocabularies.source.tokens)

    @classmethod
    def new(
        cls,
        config: Config,
        pairs: Sequence[Pair],
        data_folder: Path | None = None,
        report: Report = SILENT,
        run_folder: Path | None = None,
        programs: TargetUnits | None = None,
    ) -> Self:
        """Make an untrained model. Its weights are drawn from torch's generator.

        Args:
            config: the experiment.
            pairs: the training pairs.
            data_folder: where pretrained vectors and the facts of a dataset are, if not in the usual folders.
            report: receives what is read.
            run_folder: the folder of a run that is resumed. It describes its pretrained network, if any.
            programs: how the targets of the pairs are written in units, if they are programs.
        """
        grammar = training_grammar(config, pairs, programs)
        terminals, data = grammar.terminals if grammar else (), config.data
        words = Vocabularies.of(pairs, copying_of(config), data.start_token, data.lowercase, terminals)
        if data.vectors is None:
            network, vocabularies = build(config, words, folder=run_folder)
        else:
            network, vocabularies = word_vectors.build_with_vectors(config, words, data_folder, report)
        return cls(config, vocabularies, network, grammar, data_folder, programs=programs)

    @classmethod
    def load(
        cls, folder: str | Path, device: str | torch.device = "cpu", data_folder: Path | None = None
    ) -> Self:
        """Read a model folder. See `ftor.load`."""
        folder = local_folder(folder)
        config, words = read_description(folder)
        network, vocabularies = read_network(folder, config, words)
        programs = read_programs(folder)
        has_grammar = grammar_name(config, programs) is not None
        grammar = Grammar.read(folder / GRAMMAR_FILE) if has_grammar else None
        network = network.to(device).eval()
        return cls(config, vocabularies, network, grammar, data_folder, folder, programs)

    def save(self, folder: str | Path) -> None:
        """Write a model folder that `ftor.load` reads.

        The metrics and the model card of the folder that the model was loaded from are copied.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.save_description(folder)
        self.save_weights(folder)
        for name in ("metrics.json", "README.md"):
            if self.folder is not None and self.folder != folder and (self.folder / name).is_file():
                shutil.copyfile(self.folder / name, folder / name)

    def push_to_hub(self, repo: str, *, private: bool | None = None, message: str = "Add a model") -> str:
        """Send the model to the Hugging Face hub, from where `ftor.load("hf://owner/name")` reads it.

        Args:
            repo: `owner/name`, made if it does not exist, or `owner/name@branch`.
            private: whether a new repository is private. The default is that of the owner.
            message: of the commit.

        Returns:
            The address of the commit.
        """
        with TemporaryDirectory() as folder:
            self.save(folder)
            return push(Path(folder), repo, private, message)

    def save_description(self, folder: Path) -> None:
        """Write everything but the weights. Training does not change it."""
        target = self.vocabularies.target.tokens
        write_description(folder, self.config, self.trained_words, target, self.grammar, self.programs)
        self.network.save_description(folder)

    def check_description(self, folder: Path) -> None:
        """Raise if `folder` describes a model with other words or another grammar."""
        check_description(folder, self.trained_words, self.vocabularies.target.tokens, self.grammar)

    def save_weights(self, folder: Path) -> None:
        """Write the weights."""
        save_tensors(folder / WEIGHTS_FILE, self.network.state_dict(), {})

    @property
    def trained_words(self) -> list[str]:
        """The source words of the training pairs, without those of `add_words`."""
        return self.vocabularies.source.tokens[: self._trained_words]

    def tokenize(self, sentence: str) -> tuple[str, ...]:
        """Split a sentence into tokens, as in training."""
        return read_source(sentence, self.config.data.source_tokenizer, self.config.data.emphasis).tokens

    def add_words(self, sentences: Iterable[Sequence[str]], report: Report = SILENT) -> None:
        """Look up the pretrained vectors of words that were not in the training pairs.

        `predict` does this for its sentences. Words whose vectors are not in the file get random vectors. A
        model without pretrained vectors, or a transducer that has trained them, treats new words as unknown
        words. The LSTM trains its vectors, but takes vectors of new words, as in the paper.

        Args:
            sentences: the tokens of each sentence.
            report: receives a warning if there is no file of vectors.
        """
        file = self.config.data.vectors
        if file is not None and self.network.vectors is not None and self.config.model.accepts_new_vectors:
            folder = self._data_folder
            word_vectors.add_words(self.network, self.vocabularies, sentences, file, folder, report)

    def forget_words(self) -> None:
        """Forget the words of `add_words`, so that memory does not grow with the sentences predicted."""
        word_vectors.forget_words(self.network, self.vocabularies, self._trained_words)

    def predict(
        self,
        sentences: Sequence[str | Sequence[str]],
        *,
        emphasis: Sequence[str | None] | None = None,
        lengths: int | None = None,
        grammar: Grammar | Path | str | None = OWN,
        batch_size: int | None = None,
        structure: bool = True,
        n_best: int = 1,
        min_confidence: float | None = None,
        report: Report = SILENT,
    ) -> list[Prediction]:
        """Predict the most likely output of each sentence. One that is too long has an error instead.

        Args:
            sentences: each is a text or a sequence of tokens.
            emphasis: for a model with `data.emphasis`, the word to emphasise in each sentence that is given
                as tokens. In a text it follows the sentence: `sentence ; word`.
            lengths: k, how many output lengths are tried. The default is 1 without a grammar, and the
                configured number with one.
            grammar: outputs derive from this grammar. "own" is the grammar that the model was trained with,
                if any. A path or name is read. None turns the grammar off.
            batch_size: number of sentences in a batch. The default is the configured number.
            structure: whether predictions have their structure, which takes longer.
            n_best: how many different outputs are searched for. All but the answer are its alternatives.
            min_confidence: predictions of a lower confidence are marked as `abstained`. The model must be
                calibrated.
            report: receives the progress.
        """
        if isinstance(sentences, str):
            raise TypeError("sentences: expected a list of sentences, found one string")
        data = self.config.data
        sources = read_sources(sentences, emphasis, data.source_tokenizer, data.emphasis)
        for name, value in (("lengths", lengths), ("batch_size", batch_size), ("n_best", n_best)):
            if value is not None and value < 1:
                raise ValueError(f"{name}: expected at least 1, found {value}")
        if lengths is not None:
            self.require_transducer("--lengths")
        rules = self._read_grammar(grammar)
        k = lengths or (self.config.decoding.lengths if rules is not None else 1)
        self.add_words((source.tokens for source in sources), report)
        configured = self.config.training.evaluation_batch_size
        batch_size = batch_size or self.config.model.prediction_batch_size(configured, rules is not None)
        structure = structure and self.config.model.structured

        def predict_some(batch: Sequence[Source]) -> list[Prediction]:
            # Lengths that the model's own grammar cannot derive are skipped even without the grammar.
            constraints = k, rules, rules or self.grammar
            return predict_batch(self.network, self.vocabularies, batch, *constraints, structure)

        predictions: dict[int, Prediction] = {}
        was_training = self.network.training
        self.network.eval()
        with torch.no_grad(), report.counting(len(sources)) as count:
            for rows in batches_of([len(source.tokens) for source in sources], batch_size):
                some = predict_or_fail(predict_some, [sources[row] for row in rows])
                predictions.update(zip(rows, some, strict=True))
                count.advance(len(rows), "predicted")
        self.network.train(was_training)
        in_order = [predictions[row] for row in range(len(sources))]
        return in_order if self.programs is None else with_programs(in_order, self.programs)

    @property
    def uses_grammar(self) -> bool:
        """Whether predictions derive from the model's own grammar by default."""
        return self.grammar is not None and self.config.model.accepts_grammar

    def _read_grammar(self, grammar: Grammar | Path | str | None) -> Grammar | None:
        if grammar is None or grammar == OWN:
            return self.grammar if grammar == OWN and self.uses_grammar else None
        if not self.config.model.accepts_grammar:
            raise FtorError("grammar: an autoregressive transducer cannot decode with a grammar")
        return over_units(grammar if isinstance(grammar, Grammar) else Grammar.read(grammar), self.programs)

    def require_transducer(self, purpose: str) -> None:
        """Raise if the model is not a transducer. The message begins with `purpose`."""
        if not self.config.model.structured:
            raise FtorError(
                f"{purpose}: this model is not a transducer: {self.config.model.architecture} has no "
                "fertilities and no reordering"
            )

    def evaluate(
        self,
        pairs: Sequence[Pair] | str | Path,
        lengths: int | None = None,
        report: Report = SILENT,
        grammar: Grammar | Path | str | None = OWN,
    ) -> Metrics:
        """Predict the outputs of pairs and compare them with the gold targets.

        Args:
            pairs: pairs, or a TSV file of pairs.
            lengths, grammar: as in `predict`.
            report: receives the progress, and the bad lines of a file, which are left out. Without a report
                they are an error.
        """
        return self.examine(pairs, lengths, report, grammar).metrics

    def examine(
        self,
        pairs: Sequence[Pair] | str | Path,
        lengths: int | None = None,
        report: Report = SILENT,
        grammar: Grammar | Path | str | None = OWN,
    ) -> Evaluation:
        """Evaluate like `evaluate`, and also return the prediction of each pair and whether it is right."""
        return examine(self, pairs, lengths, report, grammar)

    def judge(
        self,
        pairs: Sequence[Pair],
        outputs: Sequence[Sequence[str]],
        report: Report | None = None,
        quick: bool = False,
    ) -> Judged:
        """Compare outputs with the gold targets. `quick` leaves out scores that take long."""
        well_formed = self.derives if self.grammar is not None else None
        if self.programs is not None:
            pairs, outputs = to_judge(pairs, outputs, self.programs)
        return judge(pairs, outputs, self.config.data.task, self._data_folder, well_formed, report, quick)

    def derives(self, output: Sequence[str], source: Sequence[str]) -> bool:
        """Whether the model's own grammar derives an output, whose copies are words of the source."""
        assert self.grammar is not None
        return derives(self.grammar, self.vocabularies, output, source)
