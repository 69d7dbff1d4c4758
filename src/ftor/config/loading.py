"""Configurations read from TOML files, with bases and overrides, and written back."""

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Self

import tomli_w
from pydantic import Field, ValidationError, field_validator, model_validator

from ftor.config.architectures import DEFAULT_ARCHITECTURE, ModelConfig, TransducerConfig
from ftor.config.complaints import ConfigError, complaint, hint, section_keys, unknown_key
from ftor.config.sections import DataConfig, DecodingConfig, Section, TrainingConfig

_EARLIER_NAMES = {"glove.6B.100d.txt": "glove.6B.100d.subset.txt"}
"""Files of vectors under the names that hashes know them by. The second is an excerpt of the first."""
_EXPERIMENTS = resources.files("ftor.config.experiments")


class Config(Section):
    """An experiment."""

    name: str = "transducer"
    data: DataConfig = DataConfig()
    model: ModelConfig = Field(TransducerConfig(), discriminator="architecture")
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    @field_validator("model", mode="before")
    @classmethod
    def _name_the_architecture(cls, model: Any) -> Any:
        return {"architecture": DEFAULT_ARCHITECTURE, **model} if isinstance(model, Mapping) else model

    @model_validator(mode="after")
    def _refuse_unused_keys(self) -> Self:
        for path in self.model.unused_keys:
            section, key = path.split(".")
            values = getattr(self, section)
            value, default = getattr(values, key), type(values).model_fields[key].default
            if value != default:
                raise ValueError(
                    f'{path}: architecture "{self.model.architecture}" does not use this key, '
                    f"found {json.dumps(value, ensure_ascii=False)}"
                )
        return self

    @classmethod
    def load(cls, name_or_path: str | Path, overrides: Iterable[str] = ()) -> Self:
        """Read a shipped experiment by its name, or a TOML file, then apply `section.key=value` overrides."""
        values = _read(str(name_or_path))
        for override in overrides:
            _set(values, override)
        return cls.check(values, str(name_or_path))

    def with_overrides(self, overrides: Iterable[str]) -> Self:
        """The same experiment with `section.key=value` overrides."""
        values = self.model_dump(exclude_defaults=True)
        for override in overrides:
            _set(values, override)
        return self.check(values, self.name)

    @classmethod
    def check(cls, values: Mapping[str, Any], where: str) -> Self:
        """Build a configuration from nested values, or say what is wrong with them; `where` they are from."""
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            raise ConfigError("\n".join(complaint(problem, where) for problem in error.errors())) from None

    def to_toml(self) -> str:
        """All keys and values, defaults included; `Config.load` reads them back."""
        return tomli_w.dumps(self.model_dump(exclude_none=True))

    @property
    def hash(self) -> str:
        """Twelve digits that two runs share if only their names, seeds, trackers or checkpoints differ."""
        values = self.model_dump(
            exclude={"name": True, "training": {"seed", "trackers", "checkpoint_minutes"}},
            exclude_defaults=True,  # a key that is added later does not change it
        )
        data = values.get("data", {})
        if data.get("vectors") in _EARLIER_NAMES:
            data["vectors"] = _EARLIER_NAMES[data["vectors"]]
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


@cache
def shipped() -> Mapping[str, str]:
    """The names of the experiments in the package, each with the first line of its file."""
    names = sorted(file.name[:-5] for file in _EXPERIMENTS.iterdir() if file.name.endswith(".toml"))
    return {name: _shipped_text(name).partition("\n")[0].lstrip("# ") for name in names}


def _shipped_text(name: str) -> str:
    return (_EXPERIMENTS / f"{name}.toml").read_text("utf-8")


def _read(name: str, based_on_it: tuple[str, ...] = ()) -> dict[str, Any]:
    """The values of a file over those of its `base`, if it names one."""
    try:
        values = tomllib.loads(_text(name))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{name}: {error}") from None
    base = values.pop("base", None)
    values.setdefault("name", Path(name).name.removesuffix(".toml"))
    if base is None:
        return values
    if not isinstance(base, str):
        raise ConfigError(f"{name}: base: expected the name of an experiment or a file, found {base!r}")
    chain = (*based_on_it, name)
    base = str(Path(name).parent / base) if base.endswith(".toml") else base
    if base in chain:
        raise ConfigError(f"{name}: base: the files are based on each other: {' → '.join([*chain, base])}")
    return _merged(_read(base, chain), values)


def _text(name: str) -> str:
    """The text of a shipped experiment or of a file."""
    if name in shipped():
        return _shipped_text(name)
    if not name.endswith(".toml"):
        raise ConfigError(
            f"{name}: no such experiment{hint(name, shipped())}; expected one of `ftor data list`, a .toml "
            "file, or a .tsv file of your own pairs"
        )
    try:
        return Path(name).read_text("utf-8")
    except OSError as error:
        raise ConfigError(f"{name}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{name}: not UTF-8 text") from None


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both else value
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
        model = values.get("model")
        named = model.get("architecture") if isinstance(model, Mapping) else None
        architecture = str(named or DEFAULT_ARCHITECTURE)
        sections = [section for section, keys in section_keys(architecture).items() if key in keys][:1]
        if not sections:
            raise ConfigError(f"--set {unknown_key(key, architecture)}")
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise ConfigError(f"--set {path}: {section} is not a section")
    values[key] = value
