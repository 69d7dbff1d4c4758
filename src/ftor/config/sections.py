"""The typed sections of a configuration: data, training and decoding."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Tokenizer = Literal["whitespace", "english"]
Aligner = Literal["ibm1", "poisson", "sparse", "anchored"]
Programs = Literal[
    "none", "auto", "s-expression", "calls", "funql", "json", "prefix", "tokens", "pieces", "grammar"
]


FORMS = (
    *("cardinal", "ordinal", "hour", "underscores", "double-quotes", "single-quotes", "snake"),
    *("participle", "gerund"),
)
"""The rules of `data.copy_forms`, which `ftor.text.forms` and `ftor.text.inflecting` have."""


class Section(BaseModel):
    """A part of a configuration. Unknown keys and values of another type are errors."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, protected_namespaces=()
    )


class DataConfig(Section):
    """What is learned: `[data]`."""

    task: str = Field("pairs", description="how outputs are judged, and how missing pairs are generated")
    train: str | None = Field(None, description="TSV file, source and target; relative to the data folder")
    dev: str | None = Field(None, description="TSV file that chooses the best epoch")
    test: str | None = Field(None, description="TSV file that is evaluated once, at the end")
    start_token: bool = Field(True, description="put a start token before each source")
    source_tokenizer: Tokenizer = Field("whitespace", description="english: spaCy's rules")
    target_tokenizer: Tokenizer = Field("whitespace", description="english: spaCy's rules")
    lowercase: bool = Field(False, description="look source words up in lower case; copies keep their case")
    vectors: str | None = Field(None, description="GloVe-format text file of pretrained word vectors")
    copy_vocabulary: Literal["open", "closed"] = Field(
        "open", description="whether words that are no target class can be copied"
    )
    copy_case: Literal["same", "any"] = Field("same", description="any: words that differ in case are copies")
    copy_forms: str = Field(
        "", description=f"forms in which words are copied, separated by spaces: {', '.join(FORMS)}"
    )
    no_copy: list[str] = Field([], description="target tokens that are never trained as copies")
    max_length: int | None = Field(
        None,
        ge=1,
        description="training pairs with more tokens or units on a side are left out; unset: if they are far "
        "longer than the others, in own pairs",
    )
    emphasis: bool = Field(False, description="sources are `sentence ; word`, and the word is marked")
    programs: Programs = Field(
        "none",
        description="the notation of targets that are read as trees; auto finds it; tokens: no trees; "
        "pieces: the same in parts of tokens; grammar: the words of each rule of decoding.grammar are one "
        "unit",
    )
    arities: str = Field(
        "", description="prefix order: symbols and how many arguments they take, such as `and:2 not:1`"
    )
    unit_share: float = Field(0.98, gt=0, description="share of parents that join with a child; 2: none")
    unit_child_share: float = Field(
        0.98, gt=0, description="share of children that join with their parent; 2: none"
    )
    unit_count: int = Field(5, ge=1, description="least number of pairs of units that are joined")

    @field_validator("copy_forms")
    @classmethod
    def _forms_exist(cls, names: str) -> str:
        for name in names.split():
            if name not in FORMS:
                raise ValueError(f"expected some of {', '.join(FORMS)}, found {name!r}")
        return names

    @field_validator("arities")
    @classmethod
    def _arities_are_numbers(cls, text: str) -> str:
        seen = set[str]()
        for pair in text.split():
            symbol, _, arity = pair.rpartition(":")
            if not symbol or not arity.isdecimal():
                raise ValueError(
                    f"expected symbols with their numbers of arguments, such as 'and:2 not:1', found {pair!r}"
                )
            if symbol in seen:
                raise ValueError(f"expected each symbol once, found {symbol!r} twice")
            seen.add(symbol)
        return text

    @model_validator(mode="after")
    def _arities_have_a_use(self) -> Self:
        if self.arities and self.programs not in ("auto", "prefix"):
            raise ValueError(f'arities: expected programs = "prefix" or "auto", found "{self.programs}"')
        return self

    @property
    def arity_of(self) -> dict[str, int] | None:
        """The number of arguments of each symbol in `arities`. None if they are to be found."""
        pairs = [pair.rpartition(":") for pair in self.arities.split()]
        return {symbol: int(arity) for symbol, _, arity in pairs} or None


class TrainingConfig(Section):
    """How it is learned: `[training]`. Loss weights are per example; see docs/concepts/training.md."""

    seed: int = Field(0, ge=0, lt=2**31)
    epochs: int = Field(60, ge=1)
    batch_size: int = Field(32, ge=1)
    evaluation_batch_size: int = Field(64, ge=1)
    learning_rate: float = Field(1e-3, gt=0)
    scorer_learning_rate: float | None = Field(
        None, ge=0, description="of the span scorer; the same if unset"
    )
    reader_learning_rate: float = Field(
        2e-5, ge=0, description="of the layers of a pretrained reader that are trained"
    )
    schedule: Literal["constant", "linear"] = Field(
        "constant", description="linear: learning rates fall to 0 over all steps"
    )
    warmup_steps: int = Field(0, ge=0, description="the first steps, in which learning rates rise from 0")
    clip_norm: float = Field(5.0, ge=0, description="largest norm of the gradient; 0: any")
    length_weight: float = Field(3.2, ge=0, description="λ₁ per example")
    alignment_weight: float = Field(0.0, ge=0, description="λ₂ per example")
    alignment_epochs: int = Field(0, ge=0, description="m, the epochs in which λ₂ counts")
    aligner: Aligner = Field("ibm1", description="the model whose posteriors say what is aligned")
    alignment_threshold: float = Field(0.8, gt=0, le=1, description="χ, least posterior of a pair")
    align_start: bool = Field(
        False, description="in the same epochs, align what every target has with the start position"
    )
    align_fertilities: bool = Field(
        False, description="in the same epochs, teach fertilities how often each source token is aligned"
    )
    alignment_iterations: int = Field(150, ge=1, description="EM iterations of the aligner")
    bucket_noise: float = Field(0.1, ge=0, lt=1, description="noise on lengths when batches are formed")
    select_by: Literal["loss", "exact_match", "accuracy", "BLEU-3"] = Field(
        "exact_match", description="dev metric of the best epoch; accuracy is the task's own"
    )
    precision: Literal["no", "bf16", "fp16"] = Field(
        "no", description="mixed precision: for GPUs, and bf16 for large networks on processors that have it"
    )
    word_dropout: float = Field(0.0, ge=0, lt=1, description="share of source words made unknown in training")
    recombine: float = Field(
        0.0, ge=0, description="pairs put together from parts of training pairs, for each training pair"
    )
    recombine_pool: int = Field(
        1, ge=1, description="each epoch draws its recombined pairs from so many times as many"
    )
    recombine_lists: bool = Field(
        False, description="with a grammar: half of the recombined pairs have longer lists than is usual"
    )
    recombine_epochs: int | None = Field(
        None, ge=0, description="the first epochs, which have recombined pairs; unset: all"
    )
    average_epochs: float = Field(0.0, ge=0, description="the epochs whose weights are averaged; 0: none")
    trackers: list[str] = Field([], description="accelerate's trackers beside log.jsonl, e.g. tensorboard")
    confidence: bool = Field(True, description="the confidence of predictions is fitted to dev pairs")
    checkpoint_minutes: float = Field(5.0, gt=0, description="longest time between two checkpoints")

    @model_validator(mode="after")
    def _alignment_weight_and_epochs_agree(self) -> Self:
        if (self.alignment_weight > 0) != (self.alignment_epochs > 0):
            raise ValueError("alignment_weight and alignment_epochs: expected both 0 or both above 0")
        return self


class DecodingConfig(Section):
    """How outputs are searched: `[decoding]`."""

    grammar: str | None = Field(
        None, description="a shipped grammar or a .cfg file; infer: from training programs; none: no grammar"
    )
    generality: Literal["typed", "union", "arity"] = Field(
        "typed", description="how many slots share a type in an inferred grammar; see docs/how-to/programs.md"
    )
    lengths: int = Field(1, ge=1, description="k, how many output lengths are tried with the grammar")
    committee: Literal["log", "arithmetic"] = Field(
        "log",
        description="what is averaged if several models answer together: the logarithms of their "
        "probabilities, or these themselves; the setting of the model that leads counts",
    )
