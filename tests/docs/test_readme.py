import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
import torch
import typer

from ftor.cli.main import app

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture
def default_print_options():
    yield
    torch.set_printoptions(profile="default")


@pytest.mark.usefixtures("default_print_options")
def test_python_example_prints_what_the_readme_shows():
    code, shown = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README.read_text(), re.S).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(README), "exec"), {})
    assert printed.getvalue() == shown


def test_commands_are_targets_of_the_makefile():
    named = set(re.findall(r"(?:`|^    )make (\w+)", README.read_text(), re.M))
    targets = set(re.findall(r"^(\w+):", (README.parent / "Makefile").read_text(), re.M))
    assert {"demo", "test"} <= named <= targets


def test_links_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README.read_text())
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []


PAGES = [
    "README.md",
    *(
        f"docs/{page}.md"
        for page in ("results/index", "how-to/train", "how-to/parse", "how-to/rewrite-sentences")
    ),
    *(f"docs/how-to/{page}.md" for page in ("baselines", "tune", "get-data", "reproduce")),
]


@pytest.mark.parametrize("page", PAGES)
def test_commands_are_understood(page):
    text = (README.parent / page).read_text("utf-8")
    lines = re.findall(r"^    (?:accelerate launch .* -m )?(ftor .*)$", text, re.M)
    assert lines
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        command = typer.main.get_command(app)
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        assert command.make_context("ftor", words).params
