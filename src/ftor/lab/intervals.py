"""Bootstrap intervals from the judgements that are cached beside the ledgers."""

from collections.abc import Sequence

import numpy as np

from ftor.lab.lines import RunLine
from ftor.metrics.significance import Estimate, share_of_runs


def interval(
    runs: Sequence[RunLine], split: str, measure: str, lengths: range | None = None
) -> Estimate | None:
    """Return the interval in percent of the mean over runs of a share of right outputs.

    Args:
        runs: of one experiment.
        split: `dev`, `test`, `dev_grammar` or `test_grammar`.
        measure: the name of a judge, or exact match.
        lengths: only examples whose sources have such lengths.

    Returns:
        None if a run lacks the judgements, or if they are of other pairs or lack the lengths.
    """
    judged = [run.judged[split] for run in runs if split in run.judged]
    if not runs or len(judged) < len(runs) or len({one.pairs for one in judged}) > 1:
        return None
    rights = [one.right[measure] for one in judged if measure in one.right]
    if len(rights) < len(runs):
        return None
    right = np.stack(rights)
    if lengths is not None:
        known = judged[0].lengths
        if known is None:
            return None
        right = right[:, np.isin(known, lengths)]
    return Estimate(*(100 * bound for bound in share_of_runs(right))) if right.size else None
