"""The paper's tables beside ours, from the ledgers of finished runs."""

from ftor.results.formats import as_json, as_latex, as_markdown, as_text
from ftor.results.ledgers import Record, read_ledgers
from ftor.results.tables import ResultTable, passed_over, tables

__all__ = [
    "Record",
    "ResultTable",
    "as_json",
    "as_latex",
    "as_markdown",
    "as_text",
    "passed_over",
    "read_ledgers",
    "tables",
]
