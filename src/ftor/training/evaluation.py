"""The loss and the metrics of dev and test pairs during training, computed by all processes together."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import gather_object

from ftor.config import Config, ConfigError
from ftor.datasets import judges, scorers
from ftor.metrics import Metrics
from ftor.metrics.judgements import Judgements, digest
from ftor.model.judging import Judged
from ftor.model.model import OWN, Model
from ftor.networks.decoding import SPLITS_AT_ONCE
from ftor.reporting import Report
from ftor.text.batches import bounded
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair


class Evaluator:
    """Evaluates a model with the weights that it has when a method is called.

    Args:
        model: the model that is trained.
        accelerator: the processes that share the work.
    """

    def __init__(self, model: Model, accelerator: Accelerator) -> None:
        self.model, self.accelerator = model, accelerator

    @torch.no_grad()
    def loss(self, pairs: EncodedPairs) -> float:
        """Mean −log P(l|x) − log P(y|x,l), or the loss of a baseline. NaN if the weights are not finite."""
        config, accelerator = self.model.config, self.accelerator
        self.model.network.eval()
        total = 0.0
        lengths = pairs.lengths(config.model.batch_by)
        batches = bounded(lengths, config.training.evaluation_batch_size, SPLITS_AT_ONCE)
        for rows in batches[accelerator.process_index :: accelerator.num_processes]:
            batch = pairs.batch(rows).to(accelerator.device)
            try:
                losses = self.model.network(batch)
            except ValueError:  # the distributions refuse numbers that are not finite
                if not config.model.structured:
                    raise
                total = math.nan
                break
            total += float((losses.tokens + losses.length).sum())
        total = float(accelerator.reduce(torch.tensor(total, device=accelerator.device)))
        return total / len(pairs)

    def metrics(self, pairs: Sequence[Pair], grammar: str | None, quick: bool = False) -> Metrics:
        """The metrics of `judged`."""
        return self.judged(pairs, grammar, quick).metrics

    def judged(self, pairs: Sequence[Pair], grammar: str | None, quick: bool = False) -> Judged:
        """Compare predictions with the gold targets.

        Args:
            pairs: sources and gold targets.
            grammar: as in `Model.predict`.
            quick: leave out scores that take long.
        """
        rows = range(self.accelerator.process_index, len(pairs), self.accelerator.num_processes)
        own = [pairs[row] for row in rows]
        sources, emphasis = [pair.source for pair in own], [pair.emphasis for pair in own]
        predictions = self.model.predict(sources, emphasis=emphasis, grammar=grammar, structure=False)
        outputs = [(row, prediction.tokens) for row, prediction in zip(rows, predictions, strict=True)]
        in_order = [tokens for _, tokens in sorted(gather_object(outputs))]
        return self.model.judge(pairs, in_order, quick=quick)

    def results(self, splits: Mapping[str, Sequence[Pair]]) -> tuple[dict[str, Any], dict[str, Judgements]]:
        """The metrics of each split as JSON values, and the judgements.

        Those with the grammar are named SPLIT_grammar. Without pairs, the metrics of a split are None.
        """
        results: dict[str, Any] = {}
        judgements: dict[str, Judgements] = {}
        for split, pairs in splits.items():
            results[split] = None
            grammars = {split: None} | ({f"{split}_grammar": OWN} if self.model.uses_grammar else {})
            for name, grammar in grammars.items() if pairs else ():
                judged = self.judged(pairs, grammar)
                results[name] = judged.metrics.as_dict()
                known = digest((pair.source, pair.target_text.split()) for pair in pairs)
                lengths = tuple(len(pair.source) for pair in pairs)
                judgements[name] = Judgements(known, judged.right, lengths)
        return results, judgements


def shown_metrics(config: Config, data_folder: Path | None, report: Report) -> list[str]:
    """The dev metrics that are shown after each epoch."""
    task, select_by = config.data.task, config.training.select_by
    first_judge = [judge.name for judge in judges(task, data_folder)[:1]]
    scores = [name for scorer in scorers(task, report) for name in scorer.names]
    selecting = [name for name in scores if name == select_by]
    if select_by == "BLEU-3" and not selecting:
        raise ConfigError(f'training.select_by: BLEU-3 needs data.task = "style"; it is {task!r}')
    return ["exact_match", *first_judge, *selecting]


def selection_key(select_by: str, metrics: Metrics, dev_loss: float) -> list[float]:
    """What epochs are compared by, for a value of `training.select_by`. Greater is better."""
    return {
        "loss": [-dev_loss],
        "exact_match": [metrics.exact_match, -dev_loss],
        "accuracy": [metrics.accuracy, metrics.exact_match, -dev_loss],
        **{name: [score, metrics.exact_match, -dev_loss] for name, score in metrics.scores.items()},
    }[select_by]
