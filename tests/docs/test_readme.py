"""README and the page of the first model: real runs give the output that they show."""

import contextlib
import io
import json
import re
import shlex
import shutil

import pytest
import torch

from support.pages import PAGES, ROOT, blocks, commands
from support.tiny import run_here

README = "README.md"
FIRST_MODEL = "docs/getting-started/first-model.md"


@pytest.fixture
def _default_print_options():
    yield
    torch.set_printoptions(profile="default")


@pytest.mark.usefixtures("_default_print_options")
def test_python_example_prints_what_the_readme_shows():
    (code,), (*_, shown) = blocks(README, "python"), blocks(README, "")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, README, "exec"), {})
    assert printed.getvalue() == shown


def test_the_first_screen_has_the_two_commands():
    assert [command.split("  ")[0] for command in commands(README)][:2] == ["make demo", "make test"]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "examples/README.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text("utf-8"))
    links = [link for link in links if not link.startswith("https://")]
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


@pytest.fixture(scope="module")
def outputs(once):
    """Run all commands of both pages as they are, each once; gives what they print."""

    def run_all(folder):
        shutil.copytree(ROOT / "examples" / "home", folder / "examples" / "home")
        printed = {}
        with contextlib.chdir(folder):
            for command in (*commands(README), *commands(FIRST_MODEL)):
                if command.startswith("ftor ") and command not in printed:
                    finished = run_here(*shlex.split(command)[1:])
                    assert finished.code == 0, f"{command}\n{finished.err}"
                    printed[command] = finished.out
        (folder / "outputs.json").write_text(json.dumps(printed), "utf-8")

    return json.loads((once("readme", run_all) / "outputs.json").read_text("utf-8"))


@pytest.mark.slow
def test_the_commands_of_the_readme_print_what_it_shows(outputs):
    assert {command for command in commands(README) if command.startswith("ftor")} <= outputs.keys()
    shown = [part.strip() for part in re.split("…|\n", blocks(README, "")[0])]
    assert [part for part in shown if part not in "".join(outputs.values())] == []


@pytest.mark.slow
def test_the_commands_of_the_first_model_print_what_the_page_shows(outputs):
    printed = "\n".join(line.rstrip() for line in "".join(outputs.values()).splitlines())
    _, table, prediction, explained = blocks(FIRST_MODEL, "")
    assert table in printed
    assert f'"prediction": "{prediction.strip()}"' in printed
    assert explained in printed
    text = PAGES[FIRST_MODEL].read_text("utf-8")
    odd = re.findall(r'"prediction": "(o\w+ \w+ attic)".*"score": (-[\d.e-]+)', printed)
    assert [output for output, _ in odd] == ["open lamp attic", "on lamp attic"]
    assert all(f"`{output}`" in text for output, _ in odd)
    assert f"from {abs(float(odd[0][1])):.1f} to −{abs(float(odd[1][1])):.1f}" in " ".join(text.split())
