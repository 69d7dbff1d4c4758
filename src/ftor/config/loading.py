"""Typed configurations: one TOML file per experiment, checked before anything runs."""

import difflib
import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, ValidationError, model_validator

from ftor.config.baselines import BartConfig, LSTMConfig, TransformerConfig
from ftor.config.section import Section, Side
from ftor.errors import FtorError

Order = Literal["fertility-reordering", "reordering-fertility", "fertility"]
Tokenizer = Literal["whitespace", "english"]
Aligner = Literal["ibm1", "poisson"]


class ConfigError(FtorError):
    """A configuration that cannot be used; says which key, what was expected and what was found."""


class DataConfig(Section):
    """What is learned: `[data]`."""

    task: str = Field("pairs", description="how missing pairs are made, how outputs are judged")
    train: str | None = Field(None, description="TSV file, source and target; relative to the data folder")
    dev: str | None = Field(None, description="TSV file that chooses the best epoch")
    test: str | None = Field(None, description="TSV file that is evaluated once, at the end")
    start_token: bool = Field(True, description="put a token of its own before each source")
    source_tokenizer: Tokenizer = Field("whitespace", description="english: spaCy's rules")
    target_tokenizer: Tokenizer = Field("whitespace", description="english: spaCy's rules")
    lowercase: bool = Field(False, description="look source words up in lower case; copies keep their case")
    vectors: str | None = Field(None, description="GloVe-format text file of pretrained word vectors")
    copy_vocabulary: Literal["open", "closed"] = Field(
        "open", description="whether copies may be words that are no target class"
    )
    copy_case: Literal["same", "any"] = Field("same", description="any: words that differ in case are copies")
    no_copy: list[str] = Field([], description="target tokens that are never trained as copies")
    emphasis: bool = Field(False, description="sources are `sentence ; word`, and the word is marked")


class TransducerConfig(Section):
    """The paper's network: `[model]`. Letters are the paper's."""

    architecture: Literal["transducer"] = "transducer"
    order: Order = Field("fertility-reordering", description="F→R, R→F, or fertility alone")
    decoder: Literal["independent", "autoregressive"] = Field("independent", description="(i) or (iii)")
    copying: bool = Field(False, description="(ii): output tokens may be copies of source tokens")
    encoder: Literal["highway", "plain"] = Field("highway", description="which bidirectional LSTM")
    width: int = Field(200, ge=2, multiple_of=2, description="D, size of embeddings and encoder outputs")
    embedding: Literal["normal", "xavier"] = Field("normal", description="standard, or smaller at first")
    train_vectors: bool = Field(False, description="whether pretrained vectors change in training")
    encoder_layers: int = Field(2, ge=1, description="layers of each encoder")
    recurrent_dropout: float = Field(0.1, ge=0, lt=1, description="between time steps, highway encoder only")
    layer_dropout: float = Field(0.1, ge=0, lt=1, description="between the layers of an encoder")
    max_fertility: int = Field(4, ge=1, description="d, most copies of a token")
    temperature: float = Field(1.0, gt=0, description="τ of the fertility softmax")
    fertility_skip: bool = Field(False, description="tell fertilities from x too, as R→F always does")
    fertility_hidden: int = Field(128, ge=1, description="hidden units of the fertility MLP")
    scorer_hidden: int | None = Field(None, ge=1, description="hidden units of the span scorer; 4·D if unset")
    decoder_hidden: int = Field(128, ge=1, description="hidden units of the decoder's MLP")
    dropout: float = Field(0.1, ge=0, lt=1, description="on the hidden units of every MLP")
    context_scale: float = Field(0.05, ge=0, description="ρ, weight of the decoder's encoder beside x itself")
    target_width: int = Field(64, ge=1, description="size of target embeddings, autoregressive decoder only")

    @property
    def batch_by(self) -> Side:
        """The side whose lengths are similar within a batch: what is reordered takes its time and memory."""
        return "source" if self.order == "reordering-fertility" else "target"


_ARCHITECTURES: dict[str, type[Section]] = {
    "transducer": TransducerConfig,
    "lstm": LSTMConfig,
    "transformer": TransformerConfig,
    "bart": BartConfig,
}


def _architecture(model: Any) -> str:
    """Which network a `[model]` section describes."""
    if isinstance(model, Mapping):
        return str(model.get("architecture", "transducer"))
    return str(getattr(model, "architecture", "transducer"))


ModelConfig = Annotated[
    Annotated[TransducerConfig, Tag("transducer")]
    | Annotated[LSTMConfig, Tag("lstm")]
    | Annotated[TransformerConfig, Tag("transformer")]
    | Annotated[BartConfig, Tag("bart")],
    Discriminator(_architecture),
]
"""The network: `[model]`, with the keys of its architecture."""


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
    alignment_iterations: int = Field(150, ge=1, description="EM iterations of the aligner")
    bucket_noise: float = Field(0.1, ge=0, lt=1, description="how far lengths are blurred when batches form")
    select_by: Literal["loss", "exact_match", "accuracy", "BLEU-3"] = Field(
        "exact_match", description="dev metric of the best epoch; accuracy is the task's own"
    )
    precision: Literal["no", "bf16", "fp16"] = Field("no", description="mixed precision, for GPUs")
    word_dropout: float = Field(0.0, ge=0, lt=1, description="how many source words training makes unknown")
    average_epochs: float = Field(0.0, ge=0, description="the epochs whose weights are averaged; 0: none")
    trackers: list[str] = Field([], description="accelerate's trackers beside log.jsonl, e.g. tensorboard")
    checkpoint_minutes: float = Field(5.0, gt=0, description="longest time between two checkpoints")

    @model_validator(mode="after")
    def _alignment_is_whole(self) -> Self:
        if (self.alignment_weight > 0) != (self.alignment_epochs > 0):
            raise ValueError("alignment_weight and alignment_epochs: expected both 0 or both above 0")
        return self


class DecodingConfig(Section):
    """How outputs are searched: `[decoding]`."""

    grammar: str | None = Field(None, description="a shipped grammar or a .cfg file; outputs derive from it")
    lengths: int = Field(1, ge=1, description="k, how many output lengths are tried with the grammar")


class Config(Section):
    """An experiment."""

    name: str = "transducer"
    data: DataConfig = DataConfig()
    model: ModelConfig = TransducerConfig()
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    @model_validator(mode="after")
    def _keys_are_of_use(self) -> Self:
        for path in _of_no_use(self.model):
            section, key = path.split(".")
            found, default = (getattr(values, key) for values in (getattr(self, section), _DEFAULTS[section]))
            if found != default:
                raise ValueError(
                    f'{path}: expected none, since it means nothing to "{self.model.architecture}", '
                    f"found {_toml(found)}"
                )
        return self

    @classmethod
    def load(cls, name_or_path: str | Path, overrides: Iterable[str] = ()) -> Self:
        """Read a shipped experiment by its name, or a TOML file, then apply `section.key=value` overrides."""
        values = _read(name_or_path)
        for override in overrides:
            _set(values, override)
        return cls.check(values, str(name_or_path))

    @classmethod
    def check(cls, values: Mapping[str, Any], where: str) -> Self:
        """Build a configuration from nested values, or say what is wrong with them; `where` they are from."""
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            raise ConfigError("\n".join(_explain(problem, where) for problem in error.errors())) from None

    def to_toml(self) -> str:
        """The whole configuration, defaults included; `Config.load` reads it back."""
        lines = [f"name = {_toml(self.name)}"]
        for section, values in self.model_dump(exclude={"name"}).items():
            lines.append(f"\n[{section}]")
            lines += [f"{key} = {_toml(value)}" for key, value in values.items() if value is not None]
        return "\n".join(lines) + "\n"

    @property
    def hash(self) -> str:
        """Twelve digits that two runs share if nothing but their seeds and places differ."""
        values = self.model_dump(
            exclude={"name": True, "training": {"seed", "trackers", "checkpoint_minutes"}},
            exclude_defaults=True,  # a key that is added later does not change it
        )
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


_DEFAULTS: dict[str, Section] = {
    "data": DataConfig(),
    "training": TrainingConfig(),
    "decoding": DecodingConfig(),
}
_OF_TRANSDUCERS = (
    *("data.copy_vocabulary", "data.copy_case", "data.no_copy", "data.emphasis"),
    *("decoding.lengths", "training.aligner", "training.alignment_threshold"),
    *("training.scorer_learning_rate", "training.length_weight", "training.alignment_weight"),
    *("training.alignment_epochs", "training.alignment_iterations", "training.align_start"),
)


def _of_no_use(model: Section) -> tuple[str, ...]:
    """The keys of other sections that mean nothing to a network."""
    if isinstance(model, TransducerConfig):
        return ()
    if isinstance(model, LSTMConfig):
        return _OF_TRANSDUCERS
    if isinstance(model, TransformerConfig):
        return (*_OF_TRANSDUCERS, "data.vectors")
    return (*_OF_TRANSDUCERS, "data.vectors", "data.start_token", "training.word_dropout")


def shipped() -> dict[str, str]:
    """The names of the experiments in the package, each with the first line of its file."""
    files = [
        file for file in resources.files("ftor.config.experiments").iterdir() if file.name.endswith(".toml")
    ]
    first_lines = {file.name[:-5]: file.read_text("utf-8").split("\n", 1)[0].lstrip("# ") for file in files}
    return dict(sorted(first_lines.items()))


def _toml(value: Any) -> str:
    """A string, number, truth value or list of these in TOML, which is JSON but for two things."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _read(name_or_path: str | Path, above: tuple[str, ...] = ()) -> dict[str, Any]:
    """The values of a file over those of its `base`, if it names one; `above` are the files based on it."""
    name = str(name_or_path)
    if name.endswith(".toml"):
        try:
            text = Path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{name}: {_reason(error)}") from None
    elif name in shipped():
        text = resources.files("ftor.config.experiments").joinpath(f"{name}.toml").read_text("utf-8")
    else:
        raise ConfigError(
            f"{name}: no such experiment{_nearest(name, shipped())}; there are {', '.join(shipped())}, "
            "or give a file that ends in .toml"
        )
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: {error}") from None
    base = values.pop("base", None)
    values.setdefault("name", Path(name).name.removesuffix(".toml"))
    if base is None:
        return values
    if not isinstance(base, str):
        raise ConfigError(f"{name}: base: expected the name of an experiment or a file, found {base!r}")
    chain = (*above, name)
    base = str(Path(name).parent / base) if base.endswith(".toml") else base
    if base in chain:
        raise ConfigError(f"{name}: base: expected no circle, found {' → '.join([*chain, base])}")
    return _merge(_read(base, chain), values)


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "not UTF-8 text"


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _set(values: dict[str, Any], override: str) -> None:
    """Put one `section.key=value` into nested values; the value is TOML, or else a plain string."""
    path, equals, text = override.partition("=")
    if not equals:
        raise ConfigError(f"--set {override}: expected key=value, for example training.epochs=3")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    *sections, key = path.strip().split(".")
    if not sections and key != "name":
        architecture = _architecture(values.get("model"))
        found = [section for section, keys in _keys(architecture).items() if key in keys]
        if not found:
            raise ConfigError(f"--set {path}: unknown key{_nearest(key, _dotted_keys(architecture))}")
        sections = found[:1]
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise ConfigError(f"--set {path}: {section} is not a section")
    values[key] = value


def _keys(architecture: str) -> dict[str, list[str]]:
    """The keys of each section."""
    sections: dict[str, type[Section]] = {
        "data": DataConfig,
        "model": _ARCHITECTURES.get(architecture, TransducerConfig),
        "training": TrainingConfig,
        "decoding": DecodingConfig,
    }
    return {name: list(section.model_fields) for name, section in sections.items()}


def _dotted_keys(architecture: str) -> list[str]:
    return [f"{section}.{key}" for section, keys in _keys(architecture).items() for key in keys]


def _nearest(name: str, known: Iterable[str]) -> str:
    """A phrase that names the known key that was most likely meant, if there is one."""
    by_last_part = {key.rsplit(".", 1)[-1]: key for key in known}
    by_last_part.update({key: key for key in known})
    close = difflib.get_close_matches(name, by_last_part, n=1, cutoff=0.75)
    return f" (did you mean {by_last_part[close[0]]}?)" if close else ""


def _explain(problem: Any, where: str) -> str:
    """One line on one of pydantic's complaints."""
    loc, architecture = [str(part) for part in problem["loc"]], "transducer"
    if len(loc) > 1 and loc[0] == "model":
        architecture = loc.pop(1)  # which of the union's classes it was
    path = ".".join(loc)
    if problem["type"] == "union_tag_invalid":
        expected = ", ".join(_toml(name) for name in _ARCHITECTURES)
        found = _toml(_architecture(problem["input"]))
        return f"{where}: {path}.architecture: expected one of {expected}, found {found}"
    if problem["type"] == "extra_forbidden":
        known = _dotted_keys(architecture) + list(Config.model_fields)
        near = _nearest(path, known) or _nearest(path.rsplit(".", 1)[-1], known)
        of = f' of architecture "{architecture}"' if architecture != "transducer" else ""
        return f"{where}: {path}: unknown key{of}{near}"
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    message = message.replace("a valid boolean", "true or false")
    if problem["type"] == "value_error":  # one of ours, which says what it found
        return ": ".join(part for part in (where, path, message) if part)
    return f"{where}: {path}: expected {message}, found {problem['input']!r}"
