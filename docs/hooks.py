"""Pages that mkdocs generates: the commands, by typer itself, and the keys of the configuration."""

import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args

from pydantic import BaseModel

from ftor.config import Config

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page


def on_page_markdown(markdown: str, page: "Page", **_: object) -> str:
    """Fill in what a page has a marker for."""
    for marker, generate in {"<!-- commands -->": commands, "<!-- configuration -->": configuration}.items():
        if marker in markdown:
            markdown = markdown.replace(marker, generate())
    return markdown


def commands() -> str:
    """Every command with its arguments, options and an example."""
    typer = [sys.executable, "-m", "typer", "ftor.cli.main", "utils", "docs", "--name", "ftor"]
    text = subprocess.run(typer, check=True, capture_output=True, text=True).stdout
    return text.partition("\n")[2]  # the page has a title of its own


def configuration() -> str:
    """A table of keys for each section, and for each architecture of `[model]`."""
    return "\n\n".join(f"## {title}\n\n{_table(section)}" for title, section in _sections())


def _sections() -> Iterator[tuple[str, type[BaseModel]]]:
    for name, field in Config.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield f"`[{name}]`", field.annotation
        for union in get_args(field.annotation):
            section = get_args(union)[0] if get_args(union) else union
            (architecture,) = get_args(section.model_fields["architecture"].annotation)
            yield f'`[{name}]` with `architecture = "{architecture}"`', section


def _table(section: type[BaseModel]) -> str:
    rows = [
        f"| `{key}` | {_value(field.default)} | {(field.description or '').replace('|', chr(92) + '|')} |"
        for key, field in section.model_fields.items()
        if key != "architecture"
    ]
    return "\n".join(["| key | default | |", "|---|---|---|", *rows])


def _value(default: object) -> str:
    return "–" if default is None else f"`{str(default).lower() if isinstance(default, bool) else default}`"
