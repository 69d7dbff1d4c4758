"""Compares outputs with gold targets and with a grammar."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ftor.datasets import groupings, judges, scorers
from ftor.grammar import Grammar
from ftor.metrics import WELL_FORMED, Metrics, Verdicts, evaluate, group_keys, verdicts
from ftor.reporting import Report
from ftor.text.reading import Pair
from ftor.text.vocabularies import Vocabularies

Tokens = Sequence[str]


class Judged(NamedTuple):
    """Outputs compared with gold targets.

    Attributes:
        metrics: those of all outputs together.
        right: whether each output is right.
        golds, outputs: the parts that were compared: tokens, or units of programs.
    """

    metrics: Metrics
    right: Verdicts
    golds: Sequence[Tokens]
    outputs: Sequence[Tokens]


def judge(
    pairs: Sequence[Pair],
    outputs: Sequence[Tokens],
    task: str,
    data_folder: Path | None = None,
    well_formed: Callable[[Tokens, Tokens], bool] | None = None,
    report: Report | None = None,
    quick: bool = False,
) -> Judged:
    """Compare outputs with gold targets.

    Args:
        pairs: the sources and the gold targets.
        outputs: the tokens of one output for each pair.
        task: the dataset, which has judges and scores of its own.
        data_folder: where the facts that judges need are, if not in the usual folders.
        well_formed: whether an output of a source is well-formed, if there is a grammar.
        report: receives which scores are left out.
        quick: leave out scores that take long.
    """
    sources, golds = [pair.source for pair in pairs], [pair.target for pair in pairs]
    task_judges = judges(task, data_folder)
    right = verdicts(golds, outputs, task_judges)
    if well_formed is not None:
        accepted = [well_formed(output, pair.source) for output, pair in zip(outputs, pairs, strict=True)]
        right[WELL_FORMED] = np.array(accepted, bool)
    metrics = evaluate(
        golds,
        outputs,
        [len(source) for source in sources],
        groups=group_keys(groupings(task), sources, golds),
        scorers=[scorer for scorer in scorers(task, report) if not (quick and scorer.slow)],
        right=right,
    )
    return Judged(metrics, right, golds, outputs)


def derives(grammar: Grammar, vocabularies: Vocabularies, output: Tokens, source: Tokens) -> bool:
    """Whether the grammar derives an output, whose copies are words of the source.

    Copies may be spelled as in the source or as in the vocabulary, and in any case if copying ignores case.
    """
    copying = vocabularies.copying
    words = [*source, *vocabularies.spelled(source)]
    if copying is not None and copying.any_case:
        keys = copying.keys(source)
        words += [token for token in output if copying.is_copy(token, keys)]
    return grammar.accepts(output, words)
