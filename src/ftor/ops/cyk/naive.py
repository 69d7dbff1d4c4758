"""The best strings of a grammar in plain Python: slow, and simple enough to trust.

Every symbol of every span holds a list of its strings. Cells are filled in the order that README.md gives for
equal scores.
"""

from collections.abc import Iterator
from itertools import chain

import torch
from torch import Tensor

from ftor.ops.cyk.normal_form import NormalForm
from ftor.ops.dispatch import IMPOSSIBLE

_String = tuple[int, ...]  # of columns
_Cell = dict[int, list[tuple[float, _String]]]  # by symbol, best first


def best_strings(
    scores: Tensor, lengths: Tensor, form: NormalForm, terminals: int, n: int, strings: Tensor
) -> tuple[Tensor, Tensor]:
    """The n best different strings of each row: scores (B, n) and columns (B, n, L)."""
    batch, longest, _ = scores.shape
    log_scores = scores.new_full((batch, n), -torch.inf)
    columns = torch.full((batch, n, longest), -1)
    for b, length in enumerate(lengths.tolist()):
        for rank, (score, string) in enumerate(
            _row(scores[b, :length].double().tolist(), form, terminals, n, strings[b].tolist())
        ):
            log_scores[b, rank] = score
            columns[b, rank, :length] = torch.tensor(string)
    return log_scores, columns


def _row(
    scores: list[list[float]], form: NormalForm, terminals: int, n: int, strings: list[int]
) -> list[tuple[float, _String]]:
    chart: dict[tuple[int, int], _Cell] = {}
    for width in range(1, len(scores) + 1):
        for start in range(len(scores) + 1 - width):
            end = start + width
            cell: _Cell = {}
            tokens = _tokens(scores[start], form, terminals) if width == 1 else ()
            for symbol, score, string in chain(tokens, _pairs(chart, form, start, end)):
                cell.setdefault(symbol, []).append((score, string))
            for symbol in range(form.symbols):
                for parent, child in zip(form.unary_parent, form.unary_child, strict=True):
                    if parent == symbol:
                        cell.setdefault(symbol, []).extend(cell.get(child, ()))
                if symbol in cell:
                    cell[symbol] = _distinct(cell[symbol], strings)[:n]
            chart[start, end] = cell
    return chart[0, len(scores)].get(form.start, [])


def _tokens(scores: list[float], form: NormalForm, terminals: int) -> Iterator[tuple[int, float, _String]]:
    for symbol in range(form.classes):
        columns = form.tokens[form.token_starts[symbol] : form.token_starts[symbol + 1]].tolist()
        if form.copies[symbol]:
            columns += range(terminals, len(scores))
        for column in columns:
            if scores[column] > IMPOSSIBLE:
                yield symbol, scores[column], (column,)


def _pairs(
    chart: dict[tuple[int, int], _Cell], form: NormalForm, start: int, end: int
) -> Iterator[tuple[int, float, _String]]:
    for split in range(start + 1, end):
        left, right = chart[start, split], chart[split, end]
        for symbol in range(form.symbols):
            for rule in range(form.left_starts[symbol], form.left_starts[symbol + 1]):
                for score, string in left.get(symbol, ()):
                    for other_score, other in right.get(int(form.right[rule]), ()):
                        yield int(form.parent[rule]), score + other_score, string + other


def _distinct(candidates: list[tuple[float, _String]], strings: list[int]) -> list[tuple[float, _String]]:
    kept: dict[_String, tuple[float, _String]] = {}
    for score, string in sorted(candidates, key=lambda pair: -pair[0]):  # stable: of equal ones, the first
        kept.setdefault(tuple(strings[column] for column in string), (score, string))
    return list(kept.values())
