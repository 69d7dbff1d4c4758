"""A context-free grammar of outputs: reading, recognising, and exact search for its best strings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ftor.grammar.earley import EarleyParser, ParseTree
from ftor.grammar.gbnf import read_gbnf
from ftor.grammar.lark import read_lark
from ftor.grammar.normal_form import normal_form
from ftor.grammar.reading import COPY, GrammarError, Rule, Words, read_rules
from ftor.grammar.writing import Format, write_cfg, write_characters
from ftor.ops.cyk.normal_form import NormalForm, derivable_lengths

if TYPE_CHECKING:
    import torch
    from torch import Tensor


EXPECTED_SHOWN = 8


def shipped_grammars() -> list[str]:
    """The names of the grammars that come with the package."""
    return sorted(
        entry.name.removesuffix(".cfg")
        for entry in files("ftor.grammar").iterdir()
        if entry.name.endswith(".cfg")
    )


def format_of(path: str | Path) -> Format:
    """The format of a grammar file, by its suffix: `.lark`, `.gbnf`, or our own notation."""
    suffix = Path(path).suffix.lower()
    return "lark" if suffix == ".lark" else "gbnf" if suffix == ".gbnf" else "cfg"


class Grammar:
    """A context-free grammar. `ftor.grammar.reading` describes the notation.

    Scores are (B, L, T + n) with one column per token. Column t < T is `terminals[t]`. Column T + i is word i
    of the sentence, and may stand wherever the grammar has `@copy`; n may be 0. `scores[b, o, c]` is the
    log-probability of column c at output position o. It is −inf (or `ftor.ops.LOG_ZERO`) where column c is
    impossible. The score of a string is the sum of the scores of its tokens.

    Attributes:
        text: the grammar as it was written, or as our own notation writes one of Lark or GBNF.
        name: its name in error messages.
        rules: its rules in order, one per alternative.
        terminals: its words in order of first appearance, T of them, without `@copy`.
        copies: whether `@copy` occurs.
    """

    def __init__(self, text: str, name: str = "grammar", format_: Format = "cfg") -> None:
        if format_ == "cfg":
            rules = read_rules(text, name)
        else:
            try:
                read = (read_lark if format_ == "lark" else read_gbnf)(text, name)
            except RecursionError:
                raise GrammarError(f"{name}: groups or repetitions are nested too deeply") from None
            text, lines = write_cfg(read)
            # Read again, so that a model that saves the text has the same words in the same order.
            rules = [replace(rule, line=lines[rule.line - 1]) for rule in read_rules(text, name)]
        self.text, self.name = text, name
        self.rules: tuple[Rule, ...] = tuple(rules)
        tokens = [part for rule in self.rules for part in rule.parts if isinstance(part, Words)]
        self.terminals: tuple[str, ...] = tuple(dict.fromkeys(word for part in tokens for word in part.words))
        self.copies: bool = any(part.copy for part in tokens)
        form = normal_form(self.rules, self.terminals)
        if form is None:
            first = self.rules[0]
            raise GrammarError(
                f"{name}:{first.line}: start symbol {first.name!r} derives only the empty string"
            )
        self.normal_form: NormalForm = form
        self._lengths: dict[tuple[tuple[bool, ...], bool], list[bool]] = {}

    @classmethod
    def read(cls, source: str | Path) -> Grammar:
        """Read a file, or a grammar that comes with the package by its name (`shipped_grammars()`).

        Files that end in `.lark` or `.gbnf` are in the notation of Lark or llama.cpp.
        """
        shipped = str(source) in shipped_grammars()
        path = files("ftor.grammar") / f"{source}.cfg" if shipped else Path(source)
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            line = path.read_bytes()[: error.start].count(b"\n") + 1
            raise GrammarError(f"{source}:{line}: not UTF-8") from None
        except (OSError, ValueError) as error:  # ValueError: a path with a null character
            reason = getattr(error, "strerror", None) or str(error)
            raise GrammarError(
                f"{source}: {reason}; expected a file or one of {', '.join(shipped_grammars())}"
            ) from None
        return cls(text.replace("\r\n", "\n"), str(source), format_of(source))

    @classmethod
    def parse(cls, text: str, name: str = "grammar", format_: Format = "cfg") -> Grammar:
        """Read a grammar's text."""
        return cls(text, name, format_)

    def export(self, format_: Format, sentence: Sequence[str] | None = None, quotes: bool = False) -> str:
        """The grammar as text in another notation.

        Args:
            format_: "cfg" is our own notation. "lark" and "gbnf" derive characters: the words of a string
                with one space between two of them.
            sentence: the words that `@copy` stands for in Lark and GBNF. If None, it stands for any word.
            quotes: whether in Lark and GBNF there is no space between a quote and the words inside.
        """
        return self.text if format_ == "cfg" else write_characters(self.rules, format_, sentence, quotes)

    @cached_property
    def _parser(self) -> EarleyParser:
        return EarleyParser(self.rules)

    def accepts(self, tokens: Sequence[str], sentence: Sequence[str] = ()) -> bool:
        """Whether the grammar derives `tokens`. Words of `sentence` may stand wherever it has `@copy`."""
        _check_tokens(tokens, sentence)
        return self._parser.accepts(tokens, sentence)

    def tree(self, tokens: Sequence[str], sentence: Sequence[str] = ()) -> ParseTree | None:
        """One parse tree of `tokens` by the rules as written, or None if there is none."""
        _check_tokens(tokens, sentence)
        return self._parser.tree(tokens, sentence)

    def misfit(self, tokens: Sequence[str], sentence: Sequence[str] = ()) -> int:
        """The place of the first token that cannot follow those before it. Their number if none."""
        _check_tokens(tokens, sentence)
        return self._parser.stuck(tokens, sentence)[0]

    def why_not(self, tokens: Sequence[str], sentence: Sequence[str] = ()) -> str:
        """Why the grammar does not derive `tokens`: the first word that cannot follow those before it."""
        _check_tokens(tokens, sentence)
        place, words = self._parser.stuck(tokens, sentence)
        shown = [word if word == COPY else repr(word) for word in words[:EXPECTED_SHOWN]]
        more = f" or {len(words) - len(shown)} others" if len(words) > len(shown) else ""
        expected = ", ".join(shown) + more if words else "the end"
        if not tokens:
            return f"the string is empty: expected {expected}"
        found = (
            f"word {place + 1}: expected {expected}, found {tokens[place]!r}" if place < len(tokens) else None
        )
        return found or f"unfinished after {len(tokens)} words: expected {expected}"

    def lengths(self, longest: int, words: Collection[str] | None = None, copies: bool = True) -> list[bool]:
        """Whether some string has length 0, 1, … `longest`. False for 0: no output is empty.

        Args:
            longest: the greatest length.
            words: the terminals that can be written; all if None.
            copies: whether words of the sentence can be copied.
        """
        writable = tuple(words is None or terminal in words for terminal in self.terminals)
        known = self._lengths.get((writable, copies), [])
        if longest >= len(known):  # twice as far as asked: the next sentence may be longer
            mask = np.array(writable, np.bool_)
            known = derivable_lengths(self.normal_form, 2 * longest, mask, copies).tolist()
            self._lengths[writable, copies] = known
        return known[: longest + 1]

    def best(self, scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The string of highest score of each row's length.

        Args:
            scores: (B, L, T + n).
            lengths: (B,) int64, 1..L.

        Returns:
            Its score (B,) and its columns (B, L) int64, −1 past the length. Where no string of that length
            is possible the score is −inf and all columns are −1. `ftor/ops/cyk/README.md` says which of
            several equal strings comes first.
        """
        log_scores, columns = self.n_best(scores, lengths, 1)
        return log_scores[:, 0], columns[:, 0]

    def n_best(
        self, scores: Tensor, lengths: Tensor, n: int, strings: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The n best strings of each row, all different, best first.

        Args:
            scores: (B, L, T + n').
            lengths: (B,) int64, 1..L.
            n: number of strings.
            strings: (B, T + n') int64; columns with the same number are the same word, such as a terminal
                and a word of the sentence that is spelled like it. All are different if None.

        Returns:
            Scores (B, n) and columns (B, n, L) int64, −inf and −1 where a row has fewer strings. Of columns
            that are the same word, each position has the one of highest score.
        """
        from ftor.ops.cyk.strings import best_strings  # imports torch, which reading a grammar does not need

        return best_strings(scores, lengths, self.normal_form, len(self.terminals), n, strings)

    def sample(
        self, scores: Tensor, lengths: Tensor, count: int, generator: torch.Generator | None = None
    ) -> Tensor:
        """Draw strings of each row's length, each with probability proportional to exp(its score).

        The same generator gives the same strings, with any number of threads. A very ambiguous grammar takes
        many attempts per string. If they are too many, a `RuntimeError` is raised.

        Args:
            scores: (B, L, T + n).
            lengths: (B,) int64, 1..L.
            count: number of strings per row.
            generator: of random numbers; that of torch if None.

        Returns:
            Columns (B, count, L) int64, −1 past the length, and everywhere in rows without any string.
        """
        from ftor.ops.cyk.strings import sample_strings  # imports torch

        return sample_strings(scores, lengths, self.normal_form, len(self.terminals), count, generator)

    def __repr__(self) -> str:
        return f"Grammar({self.name!r}, {len(self.rules)} rules, {len(self.terminals)} terminals)"


def _check_tokens(tokens: Sequence[str], sentence: Sequence[str]) -> None:
    """Raise if a text was not split: its characters would count as tokens."""
    for name, value in (("tokens", tokens), ("sentence", sentence)):
        if isinstance(value, str):
            raise TypeError(f"{name}: expected a list of words, found the string {value!r}; split it")
