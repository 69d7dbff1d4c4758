"""Reads pairs of source and target from TSV files."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ftor.config import Tokenizer
from ftor.errors import FtorError
from ftor.text import emphasis as emphasising
from ftor.text.tokenizing import tokenize


class DataError(FtorError):
    """Data that cannot be used. The message names each file and line."""


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


def read_lines(path: Path) -> Iterator[tuple[int, str | None]]:
    """Yield the number and the text of each line. The text is None if it is not UTF-8.

    Blank lines at the end are left out.
    """
    try:
        return decoded_lines(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None


def decoded_lines(raw: bytes) -> Iterator[tuple[int, str | None]]:
    """Decode lines like `read_lines`."""
    lines = raw.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            yield number, line.rstrip(b"\r").decode("utf-8")
        except UnicodeDecodeError:
            yield number, None


def read_pairs(
    path: Path,
    source_tokenizer: Tokenizer = "whitespace",
    target_tokenizer: Tokenizer = "whitespace",
    emphasis: bool = False,
) -> list[Pair]:
    """Read the pairs of a TSV file, or raise a `DataError` with every bad line.

    With `emphasis` each source is `sentence ; word`.
    """
    pairs, problems = [], []
    for number, text in read_lines(path):
        columns = [] if text is None else [column.strip() for column in text.split("\t")]
        problem = _problem(text, columns)
        if problem:
            problems.append(f"{path}:{number}: {problem}")
            continue
        try:
            source, word = read_source(columns[0], source_tokenizer, emphasis)
        except DataError as error:
            problems.append(f"{path}:{number}: {error}")
            continue
        target = tokenize(columns[1], target_tokenizer)
        pairs.append(Pair(source, target, number, word, columns[1]))
    if problems:
        raise DataError("\n".join(problems))
    if not pairs:
        raise DataError(f"{path}: no pairs in the file")
    return pairs


def _problem(text: str | None, columns: Sequence[str]) -> str:
    """What is wrong with a line. Empty if nothing is."""
    if text is None:
        return "not UTF-8"
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
