"""A trained network with its words, configuration and grammar, in memory and in a folder."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Self

import numpy as np
import torch

from ftor.config import Config, TransducerConfig
from ftor.grammar import Grammar
from ftor.model import word_vectors
from ftor.model.confidence import Calibration
from ftor.model.folder import (
    GRAMMAR_FILE,
    WEIGHTS_FILE,
    check_description,
    copying_of,
    read_description,
    read_network,
    read_programs,
    reader_of,
    require_trained,
    write_description,
)
from ftor.model.hub import local_folder, push
from ftor.model.names import fit_names
from ftor.model.predicting import Evaluating
from ftor.model.programs import grammar_name, training_grammar
from ftor.model.tensors import save_tensors
from ftor.networks import Network, build
from ftor.reporting import SILENT, Report
from ftor.text.programs.pairs import TargetUnits
from ftor.text.reading import Pair, read_source
from ftor.text.vocabularies import Vocabularies


class TrainedNetwork:
    """What a model folder has. `ftor.model.model.Model` predicts with it, and describes the attributes."""

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
        self.calibration: Calibration | None = None
        self._trained_words = len(vocabularies.source.tokens)
        self._evaluating, self._adding_words = Evaluating(), Lock()

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
        words.reader = reader_of(config, data_folder)
        if data.vectors is None:
            network, vocabularies = build(config, words, folder=run_folder)
        else:
            network, vocabularies = word_vectors.build_with_vectors(config, words, data_folder, report)
        if words.reader is not None:
            sources = [pair.source for pair in pairs]
            words.reader.prepare(sources)
            vectors = torch.from_numpy(np.concatenate(words.reader.vectors(sources)))
            network.fit_reader(vectors, words.reader.top_weights())
            trained = network.reader_parameters
            read = f"{words.reader.parameters / 1e6:.1f} million parameters"
            which = f"{trained / 1e6:.1f} million of them trained" if trained else "none of them trained"
            report.say(f"reader: {words.reader.name}, {read}, {which}")
        if isinstance(config.model, TransducerConfig) and config.model.compose_names:
            fit_names(network, config, words, pairs, data_folder, report)
        return cls(config, vocabularies, network, grammar, data_folder, programs=programs)

    @classmethod
    def load(
        cls, folder: str | Path, device: str | torch.device = "cpu", data_folder: Path | None = None
    ) -> Self:
        """Read a model folder. See `ftor.load`."""
        folder = local_folder(folder)
        require_trained(folder)
        config, words = read_description(folder, data_folder)
        network, vocabularies = read_network(folder, config, words)
        programs = read_programs(folder)
        has_grammar = grammar_name(config, programs) is not None
        grammar = Grammar.read(folder / GRAMMAR_FILE) if has_grammar else None
        network = network.to(device).eval()
        model = cls(config, vocabularies, network, grammar, data_folder, folder, programs)
        model.calibration = Calibration.read(folder)
        return model

    def save(self, folder: str | Path) -> None:
        """Write a model folder that `ftor.load` reads.

        The metrics, the model card and the choice of the folder that the model was loaded from are copied.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.save_description(folder)
        self.save_weights(folder)
        self.save_fitted(folder)
        for name in ("metrics.json", "README.md", "choice.json"):
            if self.folder is not None and self.folder != folder and (self.folder / name).is_file():
                shutil.copyfile(self.folder / name, folder / name)

    def save_fitted(self, folder: Path) -> None:
        """Write what `Model.calibrate` fits."""
        if self.calibration is not None:
            self.calibration.write(folder)

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
            with self._adding_words:
                word_vectors.add_words(
                    self.network, self.vocabularies, sentences, file, self._data_folder, report
                )

    def forget_words(self) -> None:
        """Forget the words of `add_words`, so that memory does not grow with the sentences predicted.

        Threads that predict at the same time still need them. They are then forgotten another time.
        """
        with self._adding_words:
            self._evaluating.if_nobody(
                lambda: word_vectors.forget_words(self.network, self.vocabularies, self._trained_words)
            )
