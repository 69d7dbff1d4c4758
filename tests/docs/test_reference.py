"""The reference is complete, and the documentation builds without a warning."""

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator

import pytest
import typer

import ftor
from ftor.cli.main import app
from support.pages import ROOT
from support.tiny import environment


def all_commands(command, path: str) -> Iterator[tuple[str, object]]:
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from all_commands(below, f"{path} {name}")


def test_every_command_and_option_is_in_the_reference():
    text = runpy.run_path(str(ROOT / "docs" / "hooks.py"))["commands"]()
    for path, command in all_commands(typer.main.get_command(app), "ftor"):
        _, title, section = text.rpartition(f"# `{path}`\n") if path != "ftor" else ("", "ftor", text)
        assert title, path
        section = re.split(r"^#+ ", section, flags=re.MULTILINE)[0]
        missing = [
            name
            for option in command.params
            for name in option.opts
            if name[0] == "-" and name not in section
        ]
        assert missing == [], path
        assert hasattr(command, "commands") or "Example: ftor " in section, path


def test_every_configuration_key_is_in_the_reference():
    text = runpy.run_path(str(ROOT / "docs" / "hooks.py"))["configuration"]()
    for section, values in ftor.config.Config().model_dump(exclude={"name"}).items():
        assert f"`[{section}]`" in text
        assert [key for key in values if key != "architecture" and f"| `{key}` |" not in text] == []
    assert "PydanticUndefined" not in text


def test_every_public_name_is_in_the_reference():
    text = (ROOT / "docs" / "reference" / "python.md").read_text("utf-8")
    modules = {"ftor": ftor, "ftor.nn": ftor.nn, "ftor.programs": ftor.programs}
    names = [f"{module}.{name}" for module, content in modules.items() for name in content.__all__]
    documented = set(re.findall(r"^::: (\S+)", text, re.MULTILINE))
    assert set(names) - documented == {"ftor.__version__", "ftor.ops", "ftor.nn", "ftor.programs"}


@pytest.mark.slow
def test_the_documentation_builds_without_a_warning(tmp_path):
    pytest.importorskip("mkdocstrings")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(tmp_path)]
    variables = environment() | {"NO_MKDOCS_2_WARNING": "1"}
    finished = subprocess.run(build, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert "ftor tune" in (tmp_path / "reference" / "commands" / "index.html").read_text("utf-8")
