"""The tables of the paper's appendix: accuracy on dev, exact match, and errors of length."""

from collections.abc import Mapping

from ftor.lab.lines import RunLine
from ftor.lab.paper import ACCURACIES, STYLE_SCORES, PaperNumber, scaled_score

DEV, EXACT, EXACT_GRAMMAR = "dev", "exact match", "exact match, grammar"
LENGTH_ERROR = "length error"


def _columns(*rows: tuple[str, Mapping[str, tuple[float, ...]]]) -> dict[str, dict[str, PaperNumber]]:
    return {name: {column: PaperNumber(*number) for column, number in row.items()} for name, row in rows}


def _style(*numbers: tuple[float, float]) -> dict[str, tuple[float, ...]]:
    return {f"{DEV} {name}": number for name, number in zip(STYLE_SCORES, numbers, strict=True)}


APPENDIX: dict[str, dict[str, PaperNumber]] = _columns(
    ("geo-iid", {DEV: (84.3, 3.0), EXACT_GRAMMAR: (83.4, 2.6), EXACT: (76.9, 2.2)}),
    ("geo-template", {DEV: (85.3, 1.4), EXACT_GRAMMAR: (72.0, 3.3), EXACT: (63.6, 4.7)}),
    ("geo-length", {DEV: (83.7, 1.4), EXACT_GRAMMAR: (55.2, 5.3), EXACT: (46.0, 6.6)}),
    ("geo-iid-rf", {DEV: (83.7, 2.2), EXACT_GRAMMAR: (83.5, 0.7), EXACT: (76.4, 1.4)}),
    ("geo-template-rf", {DEV: (83.0, 3.0), EXACT_GRAMMAR: (72.7, 2.0), EXACT: (65.8, 2.2)}),
    ("geo-length-rf", {DEV: (79.0, 3.2), EXACT_GRAMMAR: (54.0, 4.0), EXACT: (39.4, 6.2)}),
    ("geo-iid-ar", {DEV: (83.7, 2.7), EXACT: (77.4, 1.3)}),
    ("geo-template-ar", {DEV: (81.7, 2.0), EXACT: (47.5, 4.2)}),
    ("geo-length-ar", {DEV: (87.3, 2.5), EXACT: (34.4, 2.2)}),
    ("atis-iid", {DEV: (73.80, 1.62), LENGTH_ERROR: (0.41, 0.06)}),
    ("atis-length", {DEV: (54.42, 1.25), LENGTH_ERROR: (1.49, 0.18)}),
    ("atis-iid-lstm", {DEV: (81.53, 0.77), LENGTH_ERROR: (0.46, 0.09)}),
    ("atis-length-lstm", {DEV: (43.86, 2.93), LENGTH_ERROR: (5.39, 0.42)}),
    ("atis-iid-transformer", {DEV: (81.53, 0.44), LENGTH_ERROR: (0.49, 0.07)}),
    ("atis-length-transformer", {DEV: (34.84, 5.28), LENGTH_ERROR: (6.19, 0.52)}),
    ("atis-iid-bart", {DEV: (90.54, 0.45), LENGTH_ERROR: (0.24, 0.02)}),
    ("atis-length-bart", {DEV: (65.29, 1.01), LENGTH_ERROR: (3.40, 0.25)}),
    ("okapi-calendar", {DEV: (86.4, 3.4)}),
    ("okapi-document", {DEV: (66.1, 4.8)}),
    ("okapi-email", {DEV: (85.0, 2.8)}),
    ("okapi-calendar-bart", {DEV: (94.8, 0.3)}),
    ("okapi-document-bart", {DEV: (56.2, 10.9)}),
    ("okapi-email-bart", {DEV: (91.4, 0.4)}),
    (
        "style-passive",
        _style(
            *((94.1, 0.3), (88.6, 0.2), (83.8, 0.2), (79.7, 0.3), (57.6, 0.1), (87.9, 0.5), (7.883, 0.061)),
        ),
    ),
    (
        "style-adjective",
        _style(
            *((78.4, 1.2), (64.3, 1.0), (54.5, 0.7), (46.9, 0.9), (44.0, 0.4), (69.5, 0.6), (4.809, 0.113)),
        ),
    ),
    (
        "style-verb",
        _style(
            *((67.6, 0.5), (51.2, 0.7), (40.6, 0.9), (32.7, 1.3), (36.8, 0.3), (59.1, 0.7), (3.587, 0.118)),
        ),
    ),
)
"""The paper's numbers by experiment and column.

Accuracies on dev are without a grammar.
"""


def number(table: str, column: str, run: RunLine) -> float | None:
    """Return a run's number in a column of the appendix, scaled as in the paper."""
    metrics = run.dev if column.startswith(DEV) else run.test_grammar if column == EXACT_GRAMMAR else run.test
    if metrics is None:
        return None
    if column == LENGTH_ERROR:
        return metrics.length_error
    if column in (EXACT, EXACT_GRAMMAR):
        return 100 * metrics.exact_match
    if table == "style":
        return scaled_score(metrics, column.removeprefix(f"{DEV} "))
    share = metrics.shares.get(ACCURACIES[table])
    return None if share is None else 100 * share
