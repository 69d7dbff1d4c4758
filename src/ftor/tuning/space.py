"""What is searched: for each key of a configuration the values that trials may draw, read from TOML."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from ftor.config import Config, ConfigError

if TYPE_CHECKING:
    from optuna import Trial

Number = int | float
Value = int | float | bool | str

DECIDED = {
    *("data.task", "data.train", "data.dev", "data.test"),
    *("training.seed", "training.epochs", "training.select_by"),
}
"""Keys that say what a trial is and how it is judged, and so cannot differ between trials."""
_PUBLISHED = {
    **{("transducer", task): task for task in ("geo", "atis", "okapi")},
    **{
        (model, task): model for model in ("lstm", "transformer") for task in ("mirror", "mirror-xyz", "atis")
    },
}
"""The shipped space for a variant of the model and a task."""


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, whole ones if both are.

    Attributes:
        log: whether their logarithms are uniform, rather than they themselves.
        step: the distance between two of them; any if None, for fractions.
        times: the key whose value a drawn number is multiplied with.
    """

    low: Number
    high: Number
    log: bool = False
    step: Number | None = None
    times: str | None = None

    def __str__(self) -> str:
        step = f" in steps of {self.step}" if self.step is not None else ""
        times = f", times {self.times}" if self.times is not None else ""
        return f"{self.low} to {self.high}{step}{times}{', log' if self.log else ''}"

    @property
    def ends(self) -> tuple[Value, Value]:
        """The first and last value."""
        return self.low, self.high

    def __contains__(self, value: object) -> bool:
        if not _is_number(value) or not self.low <= value <= self.high:
            return False
        step = self.step or (1 if isinstance(self.low, int) and isinstance(self.high, int) else None)
        return step is None or (value - self.low) % step == 0

    def draw(self, trial: "Trial", key: str) -> Value:
        """What a trial has for a key, drawn now if it has nothing yet."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            return trial.suggest_int(key, self.low, self.high, step=int(self.step or 1), log=self.log)
        return trial.suggest_float(key, self.low, self.high, step=self.step, log=self.log)


@dataclass(frozen=True)
class Choices:
    """A few values."""

    choices: tuple[Value, ...]
    times = None

    def __str__(self) -> str:
        return ", ".join(map(str, self.choices))

    @property
    def ends(self) -> tuple[Value, Value]:
        """The first and last value."""
        return self.choices[0], self.choices[-1]

    def __contains__(self, value: object) -> bool:
        return value in self.choices

    def draw(self, trial: "Trial", key: str) -> Value:
        """What a trial has for a key, drawn now if it has nothing yet."""
        chosen = trial.suggest_categorical(key, self.choices)
        assert chosen is not None
        return chosen


@dataclass(frozen=True)
class Space:
    """The values that each key may have, by `section.key`; `name` is what to call it."""

    name: str
    keys: Mapping[str, Range | Choices]

    def as_dict(self) -> dict[str, Any]:
        """It as JSON has it."""
        return {key: _plain(asdict(values)) for key, values in self.keys.items()}

    def values(self, drawn: Mapping[str, Value], config: Config) -> dict[str, Value]:
        """What a configuration gets for what was drawn; where nothing was, what it has."""
        found: dict[str, Value] = {}
        for key, allowed in self.keys.items():
            if key not in drawn:
                found[key] = value_of(config, key)
            elif allowed.times is None:
                found[key] = drawn[key]
            else:
                found[key] = drawn[key] * drawn.get(allowed.times, value_of(config, allowed.times))
        return found

    def drawn(self, config: Config) -> dict[str, Value]:
        """What would have had to be drawn for a configuration, as far as it is within the space."""
        found: dict[str, Value] = {}
        for key, allowed in self.keys.items():
            value = value_of(config, key)
            if allowed.times is not None and _is_number(value):
                value = value / value_of(config, allowed.times)
                value = int(value) if value == int(value) else value
            if value in allowed:
                found[key] = value
        return found

    def check(self, config: Config) -> None:
        """Refuse keys and values that the configuration cannot have."""
        for key, allowed in self.keys.items():
            if key in DECIDED:
                raise ConfigError(f"{self.name}: {key}: expected a key that trials can differ in")
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
            raise ConfigError(f"{where}: expected a key without times of its own, found {times}")
        value = value_of(config, times)
        if not _is_number(value) or value == 0:
            raise ConfigError(
                f"{where}: expected a key whose value is a number other than 0, found {times} = {value!r}"
            )

    def _check_choices(self, key: str, allowed: Choices, config: Config) -> None:
        for choice in allowed.choices:
            try:
                changed(config, {key: choice}, self.name)
            except ConfigError as error:
                if str(error).startswith(f"{self.name}: {key}: "):
                    raise
                # else it goes with other values of other keys, which trials may draw together


def value_of(config: Config, key: str) -> Any:
    """A configuration's value for `section.key`."""
    section, _, name = key.partition(".")
    return getattr(getattr(config, section), name)


def changed(config: Config, values: Mapping[str, Value], where: str) -> Config:
    """The configuration with some values of its keys; `where` they are from."""
    nested = config.model_dump()
    for key, value in values.items():
        section, _, name = key.partition(".")
        nested[section][name] = value
    return Config.check(nested, where)


def _require(config: Config, key: str, where: str) -> None:
    section, _, name = key.partition(".")
    if section not in config.model_dump(exclude={"name"}) or not name:
        raise ConfigError(f"{where}: {key}: expected section.key, such as training.length_weight")
    if not hasattr(getattr(config, section), name):
        changed(config, {key: 0}, where)  # which says what may have been meant


def published(config: Config) -> Space | None:
    """The paper's space for an experiment, if it has one."""
    name = _PUBLISHED.get((config.model.variant, config.data.task))
    if name is None:
        return None
    text = resources.files("ftor.tuning.spaces").joinpath(f"{name}.toml").read_text("utf-8")
    return _parse(text, f"space {name}")


def read(path: Path) -> Space:
    """A space of one's own."""
    try:
        return _parse(path.read_text("utf-8"), str(path))
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: expected UTF-8, found other bytes") from None


def _parse(text: str, where: str) -> Space:
    try:
        entries = dict(_flat(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{where}: {error}") from None
    if not entries:
        raise ConfigError(f"{where}: expected keys and their values, found none")
    return Space(where, {key: _allowed(entry, f"{where}: {key}") for key, entry in entries.items()})


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Entries by `section.key`, which people quote, or write as a table."""
    for key, value in values.items():
        if "." not in key and isinstance(value, dict) and all(isinstance(v, dict) for v in value.values()):
            yield from ((f"{key}.{name}", entry) for name, entry in value.items())
        else:
            yield key, value


def _allowed(entry: Any, where: str) -> Range | Choices:
    if not isinstance(entry, dict) or not ({"low", "high"} <= entry.keys() or "choices" in entry):
        raise ConfigError(f"{where}: expected {{ low, high }} or {{ choices }}, found {entry!r}")
    known = ["choices"] if "choices" in entry else ["low", "high", "log", "step", "times"]
    for name in entry.keys() - known:
        raise ConfigError(f"{where}: expected {', '.join(known)}, found {name}")
    if "choices" in entry:
        choices = entry["choices"]
        if (
            not isinstance(choices, list)
            or not choices
            or not all(isinstance(each, Value) for each in choices)
        ):
            raise ConfigError(f"{where}: choices: expected numbers, texts or truth values, found {choices!r}")
        return Choices(tuple(choices))
    problem = _problem(entry)
    if problem is not None:
        raise ConfigError(f"{where}: {problem}")
    return Range(**entry)


def _problem(entry: Mapping[str, Any]) -> str | None:
    """What is wrong with a range, if anything."""
    for name in ("low", "high", "step"):
        number = entry.get(name, 1)
        if not _is_number(number):
            return f"{name}: expected a number, found {number!r}"
    if not entry["low"] <= entry["high"]:
        return f"expected low ≤ high, found {entry['low']} and {entry['high']}"
    if not entry.get("step", 1) > 0:
        return f"step: expected a number above 0, found {entry['step']}"
    if isinstance(entry["low"], int) and isinstance(entry["high"], int) and entry.get("step", 1) % 1:
        return f"step: expected a whole number, as the bounds are, found {entry['step']}"
    if not isinstance(entry.get("log", False), bool):
        return f"log: expected true or false, found {entry['log']!r}"
    if entry.get("log") and (entry["low"] <= 0 or "step" in entry):
        return f"log: expected a low above 0 and no step, found {dict(entry)}"
    if not isinstance(entry.get("times", ""), str):
        return f"times: expected a key, found {entry['times']!r}"
    return None


def _is_number(value: object) -> TypeGuard[Number]:
    return isinstance(value, Number) and not isinstance(value, bool)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value is not None and value is not False
    }
