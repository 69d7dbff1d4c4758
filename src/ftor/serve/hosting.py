"""A model behind a server: its name, the grammars that it can decode with, and its queue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ftor.errors import FtorError
from ftor.grammar import Grammar
from ftor.model.model import OWN, Model
from ftor.model.prediction import Prediction, error_record
from ftor.serve.batching import Batcher, Record
from ftor.serve.limits import Limits
from ftor.serve.metrics import Metrics
from ftor.text.programs.grammars import over_units
from ftor.text.reading import DataError

NONE = "none"
LETTERS = 100
"""Characters of a sentence for each word that it may have. Copies of a huge word would fill the memory."""
NEW_WORDS = 10_000
"""A model that has looked up so many new words forgets them, so that clients cannot fill the memory."""


@dataclass(frozen=True)
class Options:
    """How sentences are predicted. See `Model.predict`.

    Attributes:
        n_best, structure, min_confidence: as there.
        grammar: the name of a grammar of the host.
    """

    n_best: int = 1
    grammar: str = OWN
    structure: bool = False
    min_confidence: float | None = None


class TooLongSentenceError(FtorError):
    """A sentence is longer than the server allows."""


class Host:
    """A model that answers requests.

    Args:
        name: what clients call it.
        model: the model. From now on, only the thread of the queue may use it.
        grammars: by name, those that clients may choose. One that the model cannot use is left out.
        limits: bounds on requests.
        metrics: hear of every batch.

    Attributes:
        queue: takes jobs.
        refused: why grammars were left out, by name.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        grammars: Mapping[str, Grammar],
        limits: Limits,
        metrics: Metrics,
    ) -> None:
        self.name, self.model, self._limits = name, model, limits
        self.refused: dict[str, str] = {}
        self._grammars: dict[str, Grammar | str | None] = {OWN: OWN, NONE: None}
        for called, grammar in grammars.items():
            try:
                self._grammars[called] = self._usable(grammar)
            except FtorError as error:
                self.refused[called] = str(error)
        self._try(OWN)  # kernels are compiled and the grammar is read before the first request
        self.queue: Batcher[Options] = Batcher(self.predict, limits, metrics.of(name), name)
        metrics.watch(name, self.queue.__len__)

    @property
    def grammars(self) -> list[str]:
        """The names of grammars that clients may choose."""
        return list(self._grammars)

    @property
    def calibrated(self) -> bool:
        """Whether answers have a confidence."""
        return self.model.calibration is not None

    def describe(self) -> dict[str, Any]:
        """What clients may know of the model."""
        config = self.model.config
        return {
            "name": self.name,
            "experiment": config.name,
            "description": config.model.description,
            "grammars": self.grammars,
            "has_grammar": self.model.uses_grammar,
            "structure": config.model.structured,
            "calibrated": self.calibrated,
            "emphasis": config.data.emphasis,
            "words": self.model.trained_words[:8],
        }

    def predict(self, sentences: Sequence[str], options: Options) -> list[Record | Exception]:
        """A record for each sentence, or the error that refuses its request."""
        outcomes: list[Record | Exception | None] = [self._problem(sentence) for sentence in sentences]
        good = [row for row, problem in enumerate(outcomes) if problem is None]
        if good:
            predictions = self.model.predict(
                [sentences[row] for row in good],
                grammar=self._grammars[options.grammar],
                n_best=options.n_best,
                structure=options.structure,
                min_confidence=options.min_confidence,
            )
            for row, prediction in zip(good, predictions, strict=True):
                outcomes[row] = self._record(sentences[row], prediction)
        if len(self.model.vocabularies.source.tokens) - len(self.model.trained_words) > NEW_WORDS:
            self.model.forget_words()
        return [outcome for outcome in outcomes if outcome is not None]

    def _problem(self, sentence: str) -> Record | Exception | None:
        """Why a sentence cannot be predicted from: a record if it costs only itself."""
        if not sentence.strip():
            return error_record(sentence, "an empty line")
        most = self._limits.words
        if len(sentence) > LETTERS * most:
            return TooLongSentenceError(
                f"expected at most {LETTERS * most} characters, found {len(sentence)}"
            )
        try:
            words = len(self.model.tokenize(sentence))
        except DataError as error:
            return error_record(sentence, str(error))
        return (
            None if words <= most else TooLongSentenceError(f"expected at most {most} words, found {words}")
        )

    def _record(self, sentence: str, prediction: Prediction) -> Record:
        """The record of a prediction, with the steps of its structure, if it has one."""
        record = prediction.record(sentence, alignment=True, fertilities=True, tree=True)
        structure = prediction.structure
        if structure is not None and prediction.error is None:
            record["steps"] = [
                {"name": step.name, "labels": step.labels, "marginals": step.marginals.round(4).tolist()}
                for step in structure.steps
            ]
            record["written"] = structure.written or prediction.tokens
            record["copied"] = structure.copied
        return record

    def _usable(self, grammar: Grammar) -> Grammar:
        """The grammar over what the model writes. Raises if the model cannot use it."""
        compiled = over_units(grammar, self.model.programs)
        self._try(compiled)
        return compiled

    def _try(self, grammar: Grammar | str) -> None:
        """Predict something, with a new word, so that a large file of vectors is read now."""
        words = [*self.model.trained_words[:1], "a-new-word"]
        emphasis = words[:1] if self.model.config.data.emphasis else None
        self.model.predict([words], emphasis=emphasis, grammar=grammar, n_best=2)
