"""Typed configurations: one TOML file per experiment, checked before anything runs."""

import difflib
import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Self, get_args

from pydantic import Field, ValidationError, field_validator, model_validator

from ftor.config.sections import (
    DataConfig,
    DecodingConfig,
    ModelConfig,
    NetworkConfig,
    Section,
    TrainingConfig,
    TransducerConfig,
)
from ftor.errors import FtorError


class ConfigError(FtorError):
    """A configuration that cannot be used; says which key, what was expected and what was found."""


_ARCHITECTURES: dict[str, type[NetworkConfig]] = {
    get_args(section.model_fields["architecture"].annotation)[0]: section for section in get_args(ModelConfig)
}


def _architecture(model: Any) -> str:
    """Which network a `[model]` section describes."""
    if isinstance(model, Mapping):
        return str(model.get("architecture", "transducer"))
    return str(getattr(model, "architecture", "transducer"))


class Config(Section):
    """An experiment."""

    name: str = "transducer"
    data: DataConfig = DataConfig()
    model: ModelConfig = Field(TransducerConfig(), discriminator="architecture")
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    @field_validator("model", mode="before")
    @classmethod
    def _default_architecture(cls, model: Any) -> Any:
        return {"architecture": "transducer", **model} if isinstance(model, Mapping) else model

    @model_validator(mode="after")
    def _keys_are_of_use(self) -> Self:
        for path in self.model.unused_keys:
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
