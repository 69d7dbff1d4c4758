"""Pages that mkdocs generates: the commands, by typer itself, and the keys of the configuration."""

import subprocess
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

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
        f"| `{key}` | {_kind(field.annotation)} | {_value(field)} | {field.description or ''} |"
        for key, field in section.model_fields.items()
        if key != "architecture"
    ]
    return "\n".join(["| key | value | default | |", "|---|---|---|---|", *rows])


def _kind(annotation: object) -> str:
    """What a value may be."""
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(annotation))
    if get_origin(annotation) is list:
        return "list"
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)] or [annotation]
    names = {bool: "`true`, `false`", int: "integer", float: "number", str: "text"}
    return " or ".join(names[kind] if kind in names else _kind(kind) for kind in kinds)


def _value(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.default
    return "–" if default is None else f"`{str(default).lower() if isinstance(default, bool) else default}`"
