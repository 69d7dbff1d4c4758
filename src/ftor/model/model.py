"""A trained model: what it predicts, how probable outputs are, and how good its predictions are."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ftor.errors import FtorError
from ftor.grammar import Grammar
from ftor.metrics import Metrics
from ftor.model.calibrating import fit_confidence
from ftor.model.confidence import FEWEST, SEARCHED, Calibration, check_min_confidence
from ftor.model.evaluation import Evaluation, examine, read_golds
from ftor.model.judging import Judged, derives, judge
from ftor.model.predicting import batches_of, predict_batch, predict_or_fail
from ftor.model.prediction import Prediction
from ftor.model.programs import to_judge, units_of, with_programs
from ftor.model.scoring import Score, score_targets
from ftor.model.trained import TrainedNetwork
from ftor.reporting import SILENT, Report
from ftor.text.programs.grammars import over_units
from ftor.text.reading import Pair, Source, read_sources

Tokens = tuple[str, ...]
FOREIGN = 0.5
"""Of sentences with a smaller share of known words, answers are guesses."""
OWN = "own"
"""Stands for the grammar that a model was trained with, if any."""


class Model(TrainedNetwork):
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
        calibration: gives predictions their confidence, if the model is calibrated.

    Several threads may predict with a model at once.
    """

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
        confidence: bool = True,
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
            n_best: how many different outputs are wanted. All but the answer are its alternatives, best
                first. They have the lengths that are tried. They do not change the answer.
            min_confidence: predictions of a lower confidence are marked as `abstained`. The model must be
                calibrated.
            confidence: whether predictions of a calibrated model have their confidence, which takes longer.
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
        calibration = self.calibration if confidence or min_confidence is not None else None
        if min_confidence is not None:
            check_min_confidence(min_confidence, calibration)
        rules = self._read_grammar(grammar)
        k = lengths or (self.config.decoding.lengths if rules is not None else 1)
        configured = self.config.training.evaluation_batch_size
        batch_size = batch_size or self.config.model.prediction_batch_size(configured, rules is not None)
        structure = structure and self.config.model.structured
        searched = self._searched(n_best, calibration is not None)

        def predict_some(batch: Sequence[Source]) -> list[Prediction]:
            # Lengths that the model's own grammar cannot derive are skipped even without the grammar.
            constraints = k, rules, rules or self.grammar
            how = structure, searched, self._text
            return predict_batch(self.network, self.vocabularies, batch, *constraints, *how)

        predictions: dict[int, Prediction] = {}
        with self._evaluating(self.network), report.counting(len(sources)) as count:
            self.add_words((source.tokens for source in sources), report)
            for rows in batches_of([len(source.tokens) for source in sources], batch_size):
                some = predict_or_fail(predict_some, [sources[row] for row in rows])
                predictions.update(zip(rows, some, strict=True))
                count.advance(len(rows), "predicted")
        in_order = [predictions[row] for row in range(len(sources))]
        if self.programs is not None:
            in_order = with_programs(in_order, self.programs)
        in_order = self._ranked(in_order, sentences, emphasis)
        if calibration is not None:
            in_order = [calibration.applied(one, min_confidence, self.is_foreign(one)) for one in in_order]
        return [replace(one, alternatives=one.alternatives[: n_best - 1]) for one in in_order]

    def is_foreign(self, prediction: Prediction) -> bool:
        """Whether the model cannot read most words of a sentence."""
        return prediction.known_share < FOREIGN

    def _searched(self, n_best: int, calibrated: bool) -> int:
        """How many outputs are searched for."""
        return max(n_best, SEARCHED) if calibrated or n_best > 1 else 1

    def _ranked(
        self,
        predictions: list[Prediction],
        sentences: Sequence[str | Sequence[str]],
        emphasis: Sequence[str | None] | None,
    ) -> list[Prediction]:
        """Predictions as they are found. A committee orders them by more scores."""
        return predictions

    def _text(self, output: Tokens) -> str:
        """The text of an output: a program, or tokens joined by spaces."""
        return " ".join(output) if self.programs is None else self.programs.decode(output, strict=False)

    def score(
        self,
        sources: Sequence[str | Sequence[str]],
        targets: Sequence[str | Sequence[str]],
        *,
        emphasis: Sequence[str | None] | None = None,
        grammar: Grammar | Path | str | None = OWN,
        batch_size: int | None = None,
        report: Report = SILENT,
    ) -> list[Score]:
        """The log-probability of a target for each source, per token and in all, as `predict` gives it.

        Args:
            sources, emphasis, grammar, batch_size, report: as in `predict`.
            targets: each is a text, or a sequence of tokens as a `Prediction` has them. The text of a program
                is scored in the units that training would write it in.
        """
        data, rules = self.config.data, self._read_grammar(grammar)
        read = read_sources(sources, emphasis, data.source_tokenizer, data.emphasis)

        def units(target: str) -> Tokens:
            return units_of(target, self.programs, data.target_tokenizer)

        size = batch_size or self.config.training.evaluation_batch_size
        with self._evaluating(self.network):
            self.add_words((source.tokens for source in read), report)
            return score_targets(self.network, self.vocabularies, read, targets, units, rules, size, report)

    def calibrate(self, pairs: Sequence[Pair] | str | Path, report: Report = SILENT) -> Calibration:
        """Fit the confidence of predictions, which `save` then saves.

        Args:
            pairs: pairs that the model was not trained on, or a TSV file of them.
            report: as in `evaluate`.
        """
        golds, _ = read_golds(self, pairs, report)
        fitted = fit_confidence(self, golds, report)
        if fitted is None:
            raise FtorError(f"calibration: expected at least {FEWEST} pairs, found {len(golds)}")
        self.calibration = fitted
        return fitted

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
