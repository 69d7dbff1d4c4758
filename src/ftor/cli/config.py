"""`ftor config`: show and compare configurations."""

import json
import sys
from collections.abc import Iterator
from typing import Any

import typer

from ftor.cli.options import Experiment, Settings

config_app = typer.Typer(no_args_is_help=True, help="Show and compare configurations.")


@config_app.command(epilog="Example: ftor config show geo-iid --set training.epochs=50")
def show(experiment: Experiment, settings: Settings = None) -> None:
    """Print a whole configuration as TOML, with all defaults."""
    from ftor.config import Config  # here for start-up time

    sys.stdout.write(Config.load(experiment, settings or []).to_toml())


@config_app.command(epilog="Example: ftor config diff geo-iid runs/geo-iid-0/config.toml")
def diff(first: Experiment, second: Experiment) -> None:
    """Print the keys that differ, one per line: key, first value, second value."""
    from ftor.config import Config  # here for start-up time

    one, other = (dict(_values(Config.load(name).model_dump())) for name in (first, second))
    for key in dict.fromkeys([*one, *other]):
        before, after = one.get(key, "not set"), other.get(key, "not set")
        if before != after:
            print(f"{key}: {before} → {after}")


def _values(section: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted keys that are set, and their values in TOML."""
    for key, value in section.items():
        if isinstance(value, dict):
            yield from _values(value, f"{prefix}{key}.")
        elif value is not None:
            yield f"{prefix}{key}", json.dumps(value, ensure_ascii=False)
