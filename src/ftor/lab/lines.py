"""The lines of ledgers: a finished run, an evaluation on a file, or times by length."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ftor.errors import FtorError
from ftor.metrics import Metrics
from ftor.metrics.judgements import Judgements

FORMAT = 2
"""The format of new lines. Lines of format 1 have neither `format` nor, but for times, `kind`."""
RUN, EVALUATION, TIME_BY_LENGTH = "run", "evaluation", "time by length"
"""The kinds of lines."""


class _Line(BaseModel):
    """What all lines have.

    Attributes:
        experiment: name of the experiment, or of an output that needs no model.
        config: hash of the configuration, apart from the seed. Outputs without a model have none.
        judged: the judgements of each split, if they are cached beside the ledger. No part of the line.
    """

    model_config = ConfigDict(frozen=True, extra="allow", arbitrary_types_allowed=True)

    format: Literal[2] = 2
    experiment: str
    seed: int
    config: str | None = None
    judged: dict[str, Judgements] = Field({}, exclude=True)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Of lines that share it, the newest counts."""
        values = (getattr(self, name, None) for name in ("kind", "experiment", "config", "seed", "file"))
        return tuple(values)

    @property
    def file_name(self) -> str:
        """The name of the file of its judgements."""
        parts = [self.experiment, self.seed, self.config, getattr(self, "file", None)]
        return "-".join(str(part) for part in parts if part is not None).replace("/", "-") + ".json.gz"


class ReaderUsed(BaseModel):
    """The pretrained encoder that a run reads."""

    name: str
    parameters: int


class RunLine(_Line):
    """A finished run.

    Attributes:
        dev_grammar, test_grammar: the metrics with the grammar.
        parameters: how many parameters are trained. Older lines do not say it.
        reader: the pretrained encoder, if the run reads one.
    """

    kind: Literal["run"] = "run"
    table: str | None = None
    model: str | None = None
    split: str | None = None
    best_epoch: int | None = None
    epochs: int | None = None
    dev: Metrics | None = None
    test: Metrics | None = None
    dev_grammar: Metrics | None = None
    test_grammar: Metrics | None = None
    seconds: float
    dev_seconds: float = 0.0
    parameters: int | None = None
    reader: ReaderUsed | None = None

    @property
    def all_seconds(self) -> float:
        """How long the run took. The oldest lines lack the time for dev."""
        return self.seconds + self.dev_seconds

    def metrics(self, split: str) -> Metrics | None:
        """Return the metrics of `dev`, `test`, `dev_grammar` or `test_grammar`."""
        found: Metrics | None = getattr(self, split)
        return found


class EvaluationLine(_Line):
    """The metrics of a model, or of an output that needs none, on a file of pairs."""

    kind: Literal["evaluation"] = "evaluation"
    file: str
    metrics: Metrics


class Time(BaseModel):
    """Seconds per sentence with outputs of one length."""

    length: int
    seconds: float


class TimesLine(_Line):
    """What benchmarks/output_length.py measures."""

    kind: Literal["time by length"] = "time by length"
    times: tuple[Time, ...]


Line = RunLine | EvaluationLine | TimesLine
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="kind")])


def read_line(record: Mapping[str, Any]) -> Line:
    """Check a line of any format. Raises an `FtorError` that says what is wrong with it."""
    found = record.get("format", 1)
    if found not in (1, FORMAT):
        raise FtorError(f"expected format 1 to {FORMAT}, found {found!r}; a newer ftor may read it")
    kind = record.get("kind", EVALUATION if "file" in record else RUN)
    try:
        return _LINE.validate_python({**record, "format": FORMAT, "kind": kind})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"][1:])) or "kind"
        raise FtorError(f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}") from error
