"""Reads pairs of source and target from TSV files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ftor.config import Tokenizer
from ftor.reporting import Report
from ftor.text import emphasis as emphasising
from ftor.text.lines import DataError as DataError
from ftor.text.lines import Line, line_problem, refuse_archive, stream_lines
from ftor.text.tokenizing import tokenize

CSV_SHARE = 0.8
"""A file is CSV if this share of its lines has no tab but commas, or semicolons."""
BLANK = " \t\n\r\v\f"
PROBLEMS_SHOWN = 5
"""Bad lines that are named one by one, where reading goes on."""


@dataclass(frozen=True)
class Pair:
    """A source and a target.

    Attributes:
        source, target: their tokens.
        line: the line of the file that they come from, counted from 1.
        emphasis: the source word that the target should emphasise, if any.
        target_text: the target as it is written in the file.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    line: int
    emphasis: str | None = None
    target_text: str = field(default="", compare=False)


class Source(NamedTuple):
    """The tokens of a source, and the word to emphasise, if any."""

    tokens: tuple[str, ...]
    emphasis: str | None = None


def read_source(text: str, tokenizer: Tokenizer = "whitespace", emphasis: bool = False) -> Source:
    """Tokenize a source, or raise a `DataError`. With `emphasis` it is `sentence ; word`."""
    if not emphasis:
        return Source(tokenize(text, tokenizer))
    try:
        sentence, word = emphasising.split_source(text)
        source = Source(tokenize(sentence, tokenizer), word)
        emphasising.check(source.tokens, word)
    except ValueError as error:
        raise DataError(str(error)) from None
    return source


def read_sources(
    sentences: Sequence[str | Sequence[str]],
    words: Sequence[str | None] | None = None,
    tokenizer: Tokenizer = "whitespace",
    emphasis: bool = False,
) -> list[Source]:
    """Convert texts or lists of tokens into sources.

    Args:
        sentences: texts or lists of tokens.
        words: for each list of tokens, the word to emphasise. A text contains it: `sentence ; word`.
        tokenizer: splits the texts.
        emphasis: whether the model emphasises words.

    Raises:
        DataError: with the number of the first sentence that is wrong.
    """
    words = [None] * len(sentences) if words is None else words
    if len(words) != len(sentences):
        raise ValueError(f"emphasis: expected {len(sentences)} words, found {len(words)}")
    if not emphasis and any(word is not None for word in words):
        raise ValueError("emphasis: the model was trained without data.emphasis")
    sources = []
    for number, (sentence, word) in enumerate(zip(sentences, words, strict=True), 1):
        try:
            if isinstance(sentence, str):
                if word is not None:
                    raise DataError("the word to emphasise is part of the text: `sentence ; word`")
                source = read_source(sentence, tokenizer, emphasis)
            else:
                source = Source(tuple(sentence), word)
                if emphasis:
                    emphasising.check(*source)
        except (DataError, ValueError) as error:
            raise DataError(f"sentences: number {number}: {error}") from None
        if not source.tokens:
            raise DataError(f"sentences: number {number} is empty")
        sources.append(source)
    return sources


def read_lines(path: Path, report: Report | None = None) -> Iterator[tuple[int, str | None]]:
    """Yield the number and the text of each line. The text is None if it is not UTF-8.

    Blank lines at the end are left out. With `report`, lines are read as by `stream_lines`.
    """
    try:
        with path.open("rb") as file:
            if report is not None:
                yield from _without_blank_end(stream_lines(file, str(path), report))
            else:
                yield from _decoded_lines(file.read(), path)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None


def _without_blank_end(lines: Iterable[Line]) -> Iterator[tuple[int, str]]:
    blank: list[tuple[int, str]] = []
    for number, text, _ in lines:
        blank.append((number, text))
        if text.strip(BLANK):
            yield from blank
            blank.clear()


def _decoded_lines(raw: bytes, path: Path) -> Iterator[tuple[int, str | None]]:
    refuse_archive(raw, str(path))
    lines = raw.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            yield number, line.rstrip(b"\r").decode("utf-8")
        except UnicodeDecodeError:
            yield number, None


@dataclass(frozen=True)
class PairsFile:
    """What a TSV file has.

    Attributes:
        path: the file.
        pairs: its pairs.
        problems: what is wrong with other lines, by their numbers.
        lines: the number of lines.
    """

    path: Path
    pairs: list[Pair]
    problems: dict[int, str]
    lines: int

    @classmethod
    def read(
        cls,
        path: Path,
        source_tokenizer: Tokenizer = "whitespace",
        target_tokenizer: Tokenizer = "whitespace",
        emphasis: bool = False,
        report: Report | None = None,
    ) -> "PairsFile":
        """Read a file.

        Args:
            path: the file.
            source_tokenizer, target_tokenizer: split the texts.
            emphasis: whether each source is `sentence ; word`.
            report: receives bad lines, which are left out, and how many there are. Without it they are an
                error.

        Raises:
            DataError: if there are no pairs, or without `report` if there are bad lines.
        """
        pairs, problems, no_tab, lines = list[Pair](), dict[int, str](), 0, 0
        in_stead = Counter[str]()
        for number, text in read_lines(path, report):
            lines += 1
            columns = [] if text is None else [column.strip() for column in text.split("\t")]
            while report is not None and len(columns) > 2 and not columns[-1]:
                columns.pop()  # spreadsheets write empty columns
            if text is not None and len(columns) == 1:
                no_tab += 1
                in_stead.update(mark for mark in ";," if mark in text)
            problem = _problem(text, columns)
            if problem:
                problems[number] = problem
                continue
            try:
                source, word = read_source(columns[0], source_tokenizer, emphasis)
            except DataError as error:
                problems[number] = str(error)
                continue
            target = tokenize(columns[1], target_tokenizer)
            pairs.append(Pair(source, target, number, word, columns[1]))
        file = cls(path, pairs, problems, lines)
        separators = [mark for mark, count in in_stead.items() if count > CSV_SHARE * lines]
        file._check(no_tab, separators[0] if separators else None, report)
        return file

    def _check(self, no_tab: int, separator: str | None, report: Report | None) -> None:
        """Raise, or report, what is wrong.

        Args:
            no_tab: the number of lines without a tab.
            separator: what stands in nearly all of them instead, if something does.
            report: as of `read`.
        """
        if separator is not None:
            name = {",": "CSV", ";": "CSV with semicolons"}[separator]
            raise DataError(f"{self.path}:1: looks like {name}; expected a tab between source and target")
        if no_tab == self.lines > 1:
            raise DataError(f"{self.path}:1: no tab in any of the {self.lines} lines; expected one in each")
        if self.problems and (report is None or not self.pairs):
            raise DataError("\n".join(listed_problems(self.path, self.problems, report is None)))
        if not self.pairs:
            raise DataError(f"{self.path}: no pairs in the file")
        if report is not None and self.problems:
            for message in listed_problems(self.path, self.problems):
                report.warn(f"{message}; left out")

    @property
    def left_out(self) -> str:
        """How many lines are left out. Empty if none is."""
        return f"{self.path}: {len(self.problems)} of {self.lines} lines" if self.problems else ""


def read_pairs(
    path: Path,
    source_tokenizer: Tokenizer = "whitespace",
    target_tokenizer: Tokenizer = "whitespace",
    emphasis: bool = False,
) -> list[Pair]:
    """Read the pairs of a TSV file, or raise a `DataError` with every bad line.

    With `emphasis` each source is `sentence ; word`.
    """
    return PairsFile.read(path, source_tokenizer, target_tokenizer, emphasis).pairs


def listed_problems(path: object, problems: Mapping[int, str], complete: bool = False) -> Iterator[str]:
    """Each problem with its line; unless `complete`, only the first few, and how many others there are."""
    most = len(problems) if complete or len(problems) == PROBLEMS_SHOWN + 1 else PROBLEMS_SHOWN
    for number, problem in list(problems.items())[:most]:
        yield f"{path}:{number}: {problem}"
    if len(problems) > most:
        first = list(problems)[most]
        yield f"{path}:{first} and {len(problems) - most - 1} later lines: more of this kind"


def _problem(text: str | None, columns: Sequence[str]) -> str:
    """What is wrong with a line. Empty if nothing is."""
    if text is None:
        return "not UTF-8"
    if problem := line_problem(text):
        return problem
    if len(columns) < 2:
        return "no tab between source and target"
    if len(columns) > 2:
        return f"expected two columns, source and target, found {len(columns)}"
    if not columns[0]:
        return "no source before the tab"
    if not columns[1]:
        return "no target after the tab"
    return ""


def write_pairs(pairs: Iterable[tuple[str, str]], path: Path) -> None:
    """Write source and target texts as a TSV file, and make its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), "utf-8")
