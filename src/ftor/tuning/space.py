"""A search space: the values that trials may draw for each key of a configuration, read from TOML."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self, TypeGuard

from pydantic import ConfigDict, Field, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from ftor.config import Config, ConfigError
from ftor.config.complaints import section_keys, unknown_key

if TYPE_CHECKING:
    from optuna import Trial

Number = int | float
Value = str | bool | int | float
FIXED = {
    *("data.task", "data.train", "data.dev", "data.test"),
    *("training.seed", "training.epochs", "training.select_by"),
}
"""Keys that decide what is compared, and how. They are the same in all trials."""
_SHIPPED = {
    **{("transducer", task): task for task in ("geo", "atis", "okapi")},
    **{
        (model, task): model for model in ("lstm", "transformer") for task in ("mirror", "mirror-xyz", "atis")
    },
}
"""The file of the paper's space for a variant of the model and a task."""


_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _is_number(value: object) -> TypeGuard[Number]:
    return isinstance(value, Number) and not isinstance(value, bool)


@dataclass(frozen=True, config=_STRICT)
class Range:
    """Numbers from `low` to `high`. They are integers if both ends are.

    Attributes:
        log: draw the logarithm uniformly.
        step: distance between neighbouring values.
        times: key whose value a drawn number is multiplied by.
    """

    low: Number
    high: Number
    log: bool = False
    step: Annotated[Number, Field(gt=0)] | None = None
    times: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"expected low ≤ high, found {self.low} and {self.high}")
        if isinstance(self.low + self.high, int) and (self.step or 1) % 1:
            raise ValueError(f"step: expected an integer, as the ends are, found {self.step}")
        if self.log and (self.low <= 0 or self.step is not None):
            raise ValueError(f"log: expected low above 0 and no step, found {self}")
        return self

    def __str__(self) -> str:
        step = f" in steps of {self.step}" if self.step is not None else ""
        times = f", times {self.times}" if self.times is not None else ""
        return f"{self.low} to {self.high}{step}{times}{', log' if self.log else ''}"

    @property
    def ends(self) -> tuple[Value, Value]:
        """The first and the last value."""
        return self.low, self.high

    def __contains__(self, value: object) -> bool:
        if not _is_number(value) or not self.low <= value <= self.high:
            return False
        step = self.step or (1 if isinstance(self.low + self.high, int) else None)
        return step is None or (value - self.low) % step == 0

    def draw(self, trial: "Trial", key: str) -> Value:
        """Return the trial's value for a key. It is drawn if the trial has none yet."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            return trial.suggest_int(key, self.low, self.high, step=int(self.step or 1), log=self.log)
        return trial.suggest_float(key, self.low, self.high, step=self.step, log=self.log)


@dataclass(frozen=True, config=_STRICT)
class Choices:
    """A list of values."""

    choices: Annotated[list[Value], Field(min_length=1)]
    times: ClassVar[None] = None

    def __str__(self) -> str:
        return ", ".join(map(str, self.choices))

    @property
    def ends(self) -> tuple[Value, Value]:
        """The first and the last value."""
        return self.choices[0], self.choices[-1]

    def __contains__(self, value: object) -> bool:
        return value in self.choices

    def draw(self, trial: "Trial", key: str) -> Value:
        """Return the trial's value for a key. It is drawn if the trial has none yet."""
        value = trial.suggest_categorical(key, self.choices)
        assert value is not None
        return value


class Space(NamedTuple):
    """The allowed values of each key, by `section.key`. `name` is used in messages."""

    name: str
    keys: Mapping[str, Range | Choices]

    def as_dict(self) -> dict[str, Any]:
        """Return the keys as JSON values."""
        entries = {key: asdict(allowed).items() for key, allowed in self.keys.items()}
        return {
            key: {name: value for name, value in entry if value is not None and value is not False}
            for key, entry in entries.items()
        }

    def values(self, drawn: Mapping[str, Value], config: Config) -> dict[str, Value]:
        """Return the value of each key: from what was drawn, or else the configuration's."""
        values: dict[str, Value] = {}
        for key, allowed in self.keys.items():
            if key not in drawn:
                values[key] = value_of(config, key)
            elif allowed.times is None:
                values[key] = drawn[key]
            else:
                values[key] = drawn[key] * drawn.get(allowed.times, value_of(config, allowed.times))
        return values

    def drawn(self, config: Config) -> dict[str, Value]:
        """Return the draws that give a configuration's values, without the values outside the space."""
        drawn: dict[str, Value] = {}
        for key, allowed in self.keys.items():
            value = value_of(config, key)
            if allowed.times is not None and _is_number(value):
                value = value / value_of(config, allowed.times)
                value = int(value) if value == int(value) else value
            if value in allowed:
                drawn[key] = value
        return drawn

    def check(self, config: Config) -> None:
        """Raise if a configuration cannot have these keys and values."""
        for key, allowed in self.keys.items():
            if key in FIXED:
                raise ConfigError(f"{self.name}: {key}: this key must be the same in all trials")
            _require(config, key, self.name)
            if allowed.times is not None:
                self._check_times(allowed.times, f"{self.name}: {key}: times", config)
            elif isinstance(allowed, Choices):
                self._check_choices(key, allowed, config)
        for end in (0, 1):
            drawn = {key: allowed.ends[end] for key, allowed in self.keys.items()}
            changed(config, self.values(drawn, config), self.name)

    def _check_times(self, times: str, where: str, config: Config) -> None:
        _require(config, times, where)
        if getattr(self.keys.get(times), "times", None) is not None:
            raise ConfigError(f"{where}: expected a key without times, found {times}")
        value = value_of(config, times)
        if not _is_number(value) or value == 0:
            raise ConfigError(
                f"{where}: expected a key with a number other than 0, found {times} = {value!r}"
            )

    def _check_choices(self, key: str, allowed: Choices, config: Config) -> None:
        for choice in allowed.choices:
            try:
                changed(config, {key: choice}, self.name)
            except ConfigError as error:
                if str(error).startswith(f"{self.name}: {key}: "):
                    raise
                # Otherwise the choice needs other values of other keys, and trials may draw these.


def value_of(config: Config, key: str) -> Any:
    """Return a configuration's value for `section.key`."""
    section, _, name = key.partition(".")
    return getattr(getattr(config, section), name)


def changed(config: Config, values: Mapping[str, Value], where: str) -> Config:
    """Return a configuration with other values. `where` they are from is for error messages."""
    nested = config.model_dump()
    for key, value in values.items():
        section, _, name = key.partition(".")
        nested[section][name] = value
    return Config.check(nested, where)


def _require(config: Config, key: str, where: str) -> None:
    section, _, name = key.partition(".")
    architecture = config.model.architecture
    if name not in section_keys(architecture).get(section, ()):
        raise ConfigError(f"{where}: {unknown_key(key, architecture)}")


def paper_space(config: Config) -> Space | None:
    """Return the paper's space for an experiment, if there is one."""
    name = _SHIPPED.get((config.model.variant, config.data.task))
    if name is None:
        return None
    text = resources.files("ftor.tuning.spaces").joinpath(f"{name}.toml").read_text("utf-8")
    return _parse(text, f"space {name}")


def read_space(path: Path) -> Space:
    """Read a space from a TOML file."""
    try:
        return _parse(path.read_text("utf-8"), str(path))
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None


def _parse(text: str, where: str) -> Space:
    try:
        entries = dict(_flat(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: {error}") from None
    if not entries:
        raise ConfigError(f"{where}: no keys")
    return Space(where, {key: _allowed(entry, f"{where}: {key}") for key, entry in entries.items()})


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the entries by `section.key`, which a file may quote or write as a table."""
    for key, value in values.items():
        if "." not in key and isinstance(value, dict) and all(isinstance(v, dict) for v in value.values()):
            yield from ((f"{key}.{name}", entry) for name, entry in value.items())
        else:
            yield key, value


def _allowed(entry: Any, where: str) -> Range | Choices:
    if not isinstance(entry, dict):
        raise ConfigError(f"{where}: expected {{ low, high }} or {{ choices }}, found {entry!r}")
    try:
        return Choices(**entry) if "choices" in entry else Range(**entry)
    except ValidationError as error:
        by_name = {problem["loc"][:1]: problem for problem in error.errors()}  # one of each union
        raise ConfigError("\n".join(f"{where}: {_complaint(each)}" for each in by_name.values())) from None


def _complaint(problem: Any) -> str:
    message = problem["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    texts = {"missing": "missing", "unexpected_keyword_argument": "unknown key", "value_error": message}
    text = texts.get(problem["type"], f"{message}, found {problem['input']!r}")
    return ": ".join(map(str, [*problem["loc"][:1], text]))
