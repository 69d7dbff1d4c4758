"""What holds for every command: help, examples, exit codes."""

import shlex

import pytest
import typer

from ftor.cli.main import app
from support.tiny import run_here, start

COMMANDS = [
    "train",
    "predict",
    "evaluate",
    "explain",
    "reproduce",
    "results",
    "align",
    "tune",
    "config show",
    "config diff",
    "data list",
    "data import",
    "data fetch",
    "data generate",
    "data trivial",
]


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_has_an_example(self, command):
        finished = run_here(*command.split(), "--help")
        assert finished.code == 0
        assert f"Example: ftor {command}" in " ".join(finished.out.split())

    @pytest.mark.parametrize("command", COMMANDS)
    def test_help_fits_a_narrow_terminal(self, command, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        finished = run_here(*command.split(), "--help")
        assert "…" not in finished.out
        assert max(map(len, finished.out.splitlines())) <= 80

    def test_every_command_is_tested(self):
        assert {" ".join(path) for path, _ in commands()} == set(COMMANDS)

    @pytest.mark.parametrize("command", COMMANDS)
    def test_the_example_is_understood(self, command):
        (found,) = [found for path, found in commands() if " ".join(path) == command]
        example = found.epilog.removeprefix("Example: ").split(" > ")[0]
        words = shlex.split(example, comments=False)[1 + len(command.split()) :]
        assert found.make_context(command, words).params

    @pytest.mark.parametrize(
        "arguments", [[], ["data"], ["config"]], ids=["ftor", "ftor data", "ftor config"]
    )
    def test_no_command_shows_help(self, arguments):
        finished = run_here(*arguments)
        assert "Usage: " in finished.out + finished.err

    @pytest.mark.parametrize(
        "arguments", [["trian"], ["train", "--sed", "1"], ["train"], ["train", "mirror", "--seed", "x"]]
    )
    def test_bad_usage_is_2(self, arguments):
        finished = run_here(*arguments)
        assert (finished.code, finished.out) == (2, "")
        assert "Usage: " in finished.err

    @pytest.mark.parametrize(
        "arguments", [["mirorr"], ["mirror", "--set", "epoch=1"], ["mirror", "--seed", "-1"]]
    )
    def test_so_are_bad_configurations(self, arguments):
        finished = run_here("train", *arguments)
        assert (finished.code, finished.out) == (2, "")
        assert finished.err.startswith("error: ")


def commands():
    """The words of each command, and click's command."""
    root = typer.main.get_command(app)
    for name, command in root.commands.items():
        for inner, leaf in getattr(command, "commands", {"": command}).items():
            yield [word for word in (name, inner) if word], leaf


def test_a_reader_that_has_seen_enough():
    process = start("data", "generate", "mirror", "--size", "20000", "--lengths", "20")
    assert process.stdout.readline()
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    assert process.wait(60) in (0, 1)
    process.stderr.close()
