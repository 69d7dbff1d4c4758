"""What the API reads and writes, for checking requests and for its description."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class PredictRequest(BaseModel):
    """Sentences, and how to predict their outputs."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"sentences": ["a b c d"], "n_best": 3}]},
    )

    sentences: Annotated[list[str], Field(description="As in training, one sentence each.")]
    model: Annotated[str | None, Field(description="A name of `/v1/models`. Default: the first.")] = None
    grammar: Annotated[
        str, Field(description="A grammar of the model: its `own`, `none`, or another of `/v1/models`.")
    ] = "own"
    n_best: Annotated[int, Field(ge=1, description="How many different outputs are searched for.")] = 1
    min_confidence: Annotated[
        float | None, Field(ge=0, le=1, description="Abstain where the confidence is lower.")
    ] = None
    structure: Annotated[
        bool, Field(description="Add fertilities, tree, steps and alignment, if the model has them.")
    ] = False

    @field_validator("n_best", mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        """For JSON Schema, 5.0 is an integer, too."""
        return int(value) if isinstance(value, float) and value.is_integer() else value


class Alternative(BaseModel):
    """Another output that was found."""

    prediction: str
    score: Annotated[float | None, Field(description="Log-probability. null if it is 0.")]
    share: Annotated[float, Field(description="Share of the probability of all outputs found.")]
    confidence: Annotated[float | None, Field(description="Probability that it is right.")]


class Step(BaseModel):
    """One step of a transducer as a soft alignment."""

    name: Literal["fertility", "reordering"]
    labels: Annotated[list[str], Field(description="A name for each position after the step.")]
    marginals: Annotated[
        list[list[float]], Field(description="From positions before (rows) to positions after the step.")
    ]


class Answer(BaseModel):
    """The output of a sentence."""

    source: str
    prediction: Annotated[str | None, Field(description="null if the model abstained.")]
    tokens: list[str] | None
    score: Annotated[float | None, Field(description="Log-probability. null if it is 0.")]
    confidence: Annotated[
        float | None, Field(description="Probability that it is right. null if the model is not calibrated.")
    ]
    alternatives: Annotated[list[Alternative], Field(description="Other outputs, best first.")]
    length: int | None
    abstained: bool = False
    well_formed: Annotated[bool | None, Field(description="Whether the grammar derives it.")] = None
    source_tokens: list[str] | None = None
    fertilities: Annotated[list[int] | None, Field(description="Copies of each source token.")] = None
    tree: Annotated[str | None, Field(description="∧ keeps the order of its parts, △ reverses it.")] = None
    alignment: Annotated[
        list[list[float]] | None, Field(description="Where output tokens (columns) come from (rows).")
    ] = None
    steps: list[Step] | None = None
    unknown: Annotated[list[str] | None, Field(description="Words that the model does not know.")] = None
    written: Annotated[
        list[str] | None, Field(description="The output's tokens or units in the notation of programs.")
    ] = None
    copied: Annotated[
        list[bool] | None, Field(description="Whether each is copied. Empty if the model never copies.")
    ] = None


class Failure(BaseModel):
    """A sentence without an output."""

    source: str
    error: str


class PredictResponse(BaseModel):
    """A record for each sentence, in their order."""

    predictions: list[Answer | Failure]


class ModelDescription(BaseModel):
    """A model that is served."""

    name: str
    experiment: str
    description: str
    grammars: list[str]
    has_grammar: Annotated[bool, Field(description="Whether `own` is a grammar.")]
    structure: bool
    calibrated: Annotated[bool, Field(description="Whether answers have a confidence.")]
    emphasis: Annotated[bool, Field(description="Whether sentences are `sentence ; word`.")]
    words: Annotated[list[str], Field(description="Some words of its vocabulary.")]


class Models(BaseModel):
    """All models, the default first."""

    models: list[ModelDescription]
    limits: dict[str, Any]


class Health(BaseModel):
    """That the server answers."""

    status: Literal["ok"]
    version: str


class Refusal(BaseModel):
    """Why a request was refused."""

    error: str
