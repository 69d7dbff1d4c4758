"""Counts of the records that were written: how many have no output, and which."""

import json
from collections.abc import Sequence

from ftor.jobs.corpora.chunks import Chunk
from ftor.reporting import Report, counted
from ftor.text.lines import DataError
from ftor.text.reading import PROBLEMS_SHOWN

PLACES_SHOWN = 100
"""Lines and ranges of lines without an output that are named without a reason."""
WORDS_SHOWN, WORDS_COUNTED = 10, 10_000
"""Unknown words that are named, and that are counted."""


class Tally:
    """Counts records. Its size does not depend on how many there are.

    Attributes:
        count: records.
        failed: records without an output.
        malformed: outputs that do not derive from the grammar.
    """

    def __init__(self) -> None:
        self.count = self.failed = self.malformed = 0
        self._first_malformed = ""
        self._problems: list[str] = []
        self._others: list[_Range] = []
        self._unknown: dict[str, None] = {}
        self._foreign, self._first_foreign = 0, ""

    def add(
        self, chunk: Chunk, records: Sequence[str], unknown: Sequence[str] = (), foreign: Sequence[int] = ()
    ) -> None:
        """Count the records of a chunk, its unknown words, and the rows that mostly consist of them."""
        if foreign and not self._foreign:
            self._first_foreign = chunk.place(foreign[0], json.loads(records[foreign[0]])["source"])
        self._foreign += len(foreign)
        if len(self._unknown) < WORDS_COUNTED:
            self._unknown.update(dict.fromkeys(unknown))
        for row, text in enumerate(records):
            record = json.loads(text)
            self.count += 1
            if "error" in record:
                self._fail(chunk, row, record["source"], record["error"])
            elif record.get("well_formed") is False:
                self._first_malformed = self._first_malformed or str(record["prediction"])
                self.malformed += 1

    def _fail(self, chunk: Chunk, row: int, source: str, error: str) -> None:
        self.failed += 1
        if len(self._problems) < PROBLEMS_SHOWN:
            self._problems.append(f"{chunk.place(row, source)}: {error}")
            return
        number, last = chunk.first + row, self._others[-1] if self._others else None
        if last is not None and (last.name, last.last) == (chunk.name, number - 1):
            last.last = number
        elif len(self._others) < PLACES_SHOWN:
            self._others.append(_Range(chunk.name, number))

    def report(self, report: Report) -> None:
        """Warn of lines without an output, and of outputs that do not derive from the grammar.

        Raises:
            DataError: if no line has an output.
        """
        if self.malformed:
            report.warn(
                f"{self.malformed} of {self.count} outputs do not derive from the grammar, which derives "
                f"none of those that were searched; the first is: {self._first_malformed}"
            )
        if self.failed and self.failed == self.count:
            raise DataError("\n".join([*self._problems, *self._named_others()]))
        for problem in [*self._problems, *self._named_others()]:
            report.warn(problem)
        if self.failed:
            report.warn(f"{self.failed} of {self.count} lines have no output")
        if self._unknown:
            words = list(self._unknown)
            more = "more than " * (len(words) >= WORDS_COUNTED)
            shown = ", ".join(words[:WORDS_SHOWN]) + (", …" if len(words) > WORDS_SHOWN else "")
            report.warn(f"{more}{counted(len(words), 'unknown word')}, which training did not have: {shown}")
        if self._foreign:
            which = "the first is " * (self._foreign > 1) + self._first_foreign
            report.warn(
                f"{self._foreign} of {counted(self.count, 'sentence')}: the model knows less than half of "
                f"the words, so the answer is a guess; {which}"
            )

    def _named_others(self) -> list[str]:
        """The lines that fail beside the first few, and how many there are beside those."""
        if not self._others:
            return []
        unnamed = self.failed - len(self._problems) - sum(one.last - one.first + 1 for one in self._others)
        more = [f"and {unnamed} more"] if unnamed else []
        return [f"no output either: {', '.join([*map(str, self._others), *more])}"]


class _Range:
    """Lines that follow each other in a file, by their numbers."""

    def __init__(self, name: str | None, first: int) -> None:
        self.name, self.first, self.last = name, first, first

    def __str__(self) -> str:
        numbers = str(self.first) if self.first == self.last else f"{self.first}-{self.last}"
        return f"argument {numbers}" if self.name is None else f"{self.name}:{numbers}"
