"""Error messages for configurations: one line for each problem, with the nearest valid name."""

from collections.abc import Iterable
from typing import Any

from ftor.config.architectures import ARCHITECTURES, DEFAULT_ARCHITECTURE
from ftor.config.sections import DataConfig, DecodingConfig, Section, TrainingConfig
from ftor.errors import FtorError, nearest


class ConfigError(FtorError):
    """A configuration that cannot be used; says which key, what was expected and what was found."""


def section_keys(architecture: str) -> dict[str, list[str]]:
    """The keys of each section."""
    sections: dict[str, type[Section]] = {
        "data": DataConfig,
        "model": ARCHITECTURES.get(architecture, ARCHITECTURES[DEFAULT_ARCHITECTURE]),
        "training": TrainingConfig,
        "decoding": DecodingConfig,
    }
    return {name: list(section.model_fields) for name, section in sections.items()}


def unknown_key(path: str, architecture: str) -> str:
    """The complaint about a path, `section.key` or `key`, that no section has."""
    sections = section_keys(architecture)
    known = ["name", *sections, *(f"{section}.{key}" for section, keys in sections.items() for key in keys)]
    of_another = path.startswith("model.") and architecture != DEFAULT_ARCHITECTURE
    of = f' of architecture "{architecture}"' if of_another else ""
    if owners := _owners(path):
        return f'{path}: unknown key of architecture "{architecture}"; it belongs to {owners}'
    return f"{path}: unknown key{of}{hint(path, known) or hint(path.rpartition('.')[2], known)}"


def _owners(path: str) -> str:
    """The architectures that have a key of the section `model`. Empty if none has it."""
    section, _, key = path.partition(".")
    names = [name for name, config in ARCHITECTURES.items() if key in config.model_fields]
    return ", ".join(f'"{name}"' for name in names) if section == "model" else ""


def hint(name: str, known: Iterable[str]) -> str:
    """A phrase with the known name that was most likely meant, or with the one whose last part was."""
    full_names = {full.rpartition(".")[2]: full for full in known}
    full_names |= {full: full for full in known}
    near = nearest(name, full_names)
    return "" if near is None else f" (did you mean {full_names[near]}?)"


def complaint(problem: Any, where: str) -> str:
    """One line for one of pydantic's errors; `where` the values are from."""
    location, architecture = [str(part) for part in problem["loc"]], DEFAULT_ARCHITECTURE
    if len(location) > 1 and location[0] == "model":
        architecture = location.pop(1)  # pydantic puts the class of the union here
    path, kind, value = ".".join(location), problem["type"], problem["input"]
    if kind == "union_tag_invalid":
        names = ", ".join(f'"{name}"' for name in ARCHITECTURES)
        return f'{where}: {path}.architecture: expected one of {names}, found "{value["architecture"]}"'
    if kind == "missing":
        return f"{where}: {path}: expected a value, found none"
    if kind == "extra_forbidden":
        return f"{where}: {unknown_key(path, architecture)}"
    message = problem["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    if kind == "value_error":  # raised by a validator of ours, which says what it found
        return ": ".join(part for part in (where, path, message) if part)
    return f"{where}: {path}: expected {message.replace('a valid boolean', 'true or false')}, found {value!r}"
