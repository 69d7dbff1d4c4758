"""Two models on the same pairs: how sure their difference is, and which answers changed."""

from dataclasses import asdict, dataclass
from typing import Any

from ftor.errors import FtorError
from ftor.metrics import EXACT_MATCH, accuracy_name
from ftor.metrics.significance import Comparison, compare
from ftor.model.evaluation import Evaluation


@dataclass(frozen=True)
class Change:
    """An example that one model answers right and the other one wrong.

    Attributes:
        line: its line in the file.
        source, gold: the sentence and the gold target.
        first, second: what the models answer.
        better: whether the second model is the one that is right.
    """

    line: int
    source: str
    gold: str
    first: str
    second: str
    better: bool


@dataclass(frozen=True)
class ModelComparison:
    """Two models on the same pairs.

    Attributes:
        measure: what counts as right: a judge of the task, or "exact_match".
        result: counts, shares, their difference and its significance.
        changes: the examples that exactly one model answers right, in the order of the pairs.
    """

    measure: str
    result: Comparison
    changes: tuple[Change, ...]

    def as_dict(self) -> dict[str, Any]:
        """Convert to values that can be written as JSON."""
        result = asdict(self.result)
        for name in ("first", "second", "difference"):
            result[name] = getattr(self.result, name)._asdict()
        return {"measure": self.measure, **result, "changes": [asdict(change) for change in self.changes]}


def compare_models(first: Evaluation, second: Evaluation) -> ModelComparison:
    """Compare the answers of two models to the same pairs.

    Answers are right by the accuracy of the task. If the models were trained for different tasks, they are
    right if they equal the gold.
    """
    lines, others = ([pair.line for pair in evaluation.pairs] for evaluation in (first, second))
    if lines != others:
        raise FtorError(
            f"the models do not read the same pairs: {len(lines)} and {len(others)}; "
            "is one of them trained with data.emphasis?"
        )
    measure, other = accuracy_name(first.verdicts), accuracy_name(second.verdicts)
    if measure != other:
        measure = EXACT_MATCH
    right, right_later = first.verdicts[measure], second.verdicts[measure]
    changes = tuple(
        Change(
            pair.line,
            " ".join(pair.source),
            pair.target_text or " ".join(pair.target),
            one.text,
            another.text,
            bool(better),
        )
        for pair, one, another, changed, better in zip(
            first.pairs, first.predictions, second.predictions, right != right_later, right_later, strict=True
        )
        if changed
    )
    return ModelComparison(measure, compare(right, right_later), changes)
