"""What holds for every command: help, examples, exit codes."""

import shlex

import pytest
import typer

from ftor.cli.main import app
from support.tiny import run_here, start


def commands():
    """Yield each command's words, and click's command."""
    root = typer.main.get_command(app)
    for name, command in root.commands.items():
        for inner, leaf in getattr(command, "commands", {"": command}).items():
            yield f"{name} {inner}".strip(), leaf


COMMANDS = dict(commands())
GROUPS = sorted({command.split()[0] for command in COMMANDS if " " in command})


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_has_an_example(self, command):
        finished = run_here(*command.split(), "--help")
        assert finished.code == 0
        assert f"Example: ftor {command}" in " ".join(finished.out.split())

    @pytest.mark.parametrize("command", ["", *GROUPS, *COMMANDS])
    def test_help_fits_a_narrow_terminal(self, command, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        finished = run_here(*command.split(), "--help")
        assert "…" not in finished.out
        assert max(map(len, finished.out.splitlines())) <= 80
        words = set(finished.out.split())
        options = COMMANDS[command].params if command in COMMANDS else []
        named = {name for option in options for name in option.opts if name.startswith("-")}
        assert named <= {word.rstrip(",") for word in words}

    @pytest.mark.parametrize("command", COMMANDS)
    def test_the_example_is_understood(self, command):
        example = COMMANDS[command].epilog.removeprefix("Example: ").split(" > ")[0]
        words = shlex.split(example, comments=False)[1 + len(command.split()) :]
        assert COMMANDS[command].make_context(command, words).params

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


def test_a_reader_that_has_seen_enough():
    process = start("data", "generate", "mirror", "--size", "20000", "--lengths", "20")
    assert process.stdout.readline()
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    assert process.wait(60) in (0, 1)
    process.stderr.close()
