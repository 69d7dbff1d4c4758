"""What is asked of a model for each line, and the answers for a chunk of lines."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import torch
from pydantic import TypeAdapter

from ftor.grammar import Grammar, shipped_grammars
from ftor.model.committee import How, load_models
from ftor.model.folder import unfinished
from ftor.model.hub import local_folder
from ftor.model.model import OWN
from ftor.model.prediction import error_record
from ftor.reporting import Report
from ftor.text.lines import DataError, line_problem

NONE = "none"
"""Stands for no grammar."""
SHOWN = 200
"""Characters in the record of a line that is too long to be read."""


@dataclass(frozen=True)
class Request:
    """What is asked for: a model and the options of `ftor predict`.

    Attributes:
        folders: of the model, or models on the hub, as for `ftor.load`. Several become a committee.
        data_folder: where pretrained vectors are, if not in the usual folders.
        grammar: "own", "none", or the file of a grammar.
        alignment, fertilities, tree: the parts of the structure to add.
        threads: CPU threads.
        lengths, batch_size, n_best, min_confidence: as of `Model.predict`.
        committee: as of `ftor.load`.
    """

    folders: tuple[str, ...]
    data_folder: Path | None = None
    grammar: str = OWN
    alignment: bool = False
    fertilities: bool = False
    tree: bool = False
    threads: int = 1
    lengths: int | None = None
    batch_size: int | None = None
    n_best: int = 1
    min_confidence: float | None = None
    committee: How | None = None

    def to_json(self) -> str:
        """Return the request as one line of JSON."""
        return _REQUEST.dump_json(self).decode()

    @classmethod
    def from_json(cls, line: str) -> "Request":
        """Read a request from `to_json`."""
        return _REQUEST.validate_json(line)

    def absolute(self) -> "Request":
        """The same request for a process in another folder."""
        is_name = self.grammar in (OWN, NONE, *shipped_grammars())
        return replace(
            self,
            folders=tuple(map(_absolute, self.folders)),
            data_folder=self.data_folder and self.data_folder.absolute(),
            grammar=self.grammar if is_name else _absolute(self.grammar),
        )


def _absolute(name: str) -> str:
    """A file or a folder, or the name of a model on the hub."""
    return str(Path(name).absolute()) if Path(name).exists() else name


_REQUEST = TypeAdapter(Request)


class Answers(NamedTuple):
    """The answers for a chunk.

    Attributes:
        records: those of its lines, as JSON.
        warnings: what the model warned of.
        unknown: words that training did not have, each once, without those that outputs copy.
        foreign: the rows of lines most of whose words the model cannot read.
    """

    records: list[str]
    warnings: list[str]
    unknown: list[str]
    foreign: list[int]


def shown_source(text: str) -> str:
    """What the record of a line gives as its source: the line, unless it is too long to be read."""
    return f"{text[:SHOWN]}…" if line_problem(text) else text


class Predictor:
    """A loaded model and what is asked of it."""

    def __init__(self, request: Request) -> None:
        torch.set_num_threads(request.threads)
        self._model = load_models(request.folders, request.committee, data_folder=request.data_folder)
        reasons = [unfinished(local_folder(folder)) for folder in request.folders]
        self._request, self._warnings = request, [reason for reason in reasons if reason is not None]
        self._warned = False
        self._structure = request.alignment or request.fertilities or request.tree
        if self._structure:
            self._model.require_transducer("--alignment, --fertilities, --tree")
        self._grammar: Grammar | str | None = request.grammar
        if request.grammar != OWN:
            self._grammar = None if request.grammar == NONE else Grammar.read(request.grammar)

    def answer(self, texts: Sequence[str]) -> Answers:
        """Predict the lines of one chunk."""
        problems = [self._problem(text) for text in texts]
        request, report = self._request, _Warnings()
        predictions = self._model.predict(
            [text for text, problem in zip(texts, problems, strict=True) if not problem],
            lengths=request.lengths,
            grammar=self._grammar,
            batch_size=request.batch_size,
            structure=self._structure,
            n_best=request.n_best,
            min_confidence=request.min_confidence,
            report=report,
        )
        unknown = dict.fromkeys(word for prediction in predictions for word in prediction.foreign)
        predicted = [row for row, problem in enumerate(problems) if not problem]
        foreign = [
            row
            for row, one in zip(predicted, predictions, strict=True)
            if one.error is None and self._model.is_foreign(one)
        ]
        self._model.forget_words()
        if report.texts and not self._warned:  # of new words without vectors, which later chunks have, too
            self._warned = True
            self._warnings += report.texts
        warnings, self._warnings = self._warnings, []
        parts = {"alignment": request.alignment, "fertilities": request.fertilities, "tree": request.tree}
        rest = iter(predictions)
        records = [
            error_record(shown_source(text), problem) if problem else next(rest).record(text, **parts)
            for text, problem in zip(texts, problems, strict=True)
        ]
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        return Answers(lines, warnings, list(unknown), foreign)

    def _problem(self, text: str) -> str:
        """Why a line cannot be predicted from. Empty if it can."""
        if problem := line_problem(text):
            return problem
        try:
            return "" if self._model.tokenize(text) else "an empty line"
        except DataError as error:
            return str(error)


@dataclass
class _Warnings(Report):
    """Keeps warnings, for another process to show them."""

    texts: list[str] = field(default_factory=list)

    def warn(self, text: str) -> None:
        self.texts.append(text)
