"""Commands and Python on all pages: run on small files, or checked against the CLI where they take long."""

import contextlib
import io
import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pyarrow
import pytest
import typer
from pyarrow import parquet

from ftor.cli.main import app
from ftor.config import Config
from ftor.grammar import Grammar
from ftor.metrics.mistakes import Mistake
from support import tiny
from support.archives import zip_of
from support.pages import PAGES, ROOT, blocks, commands, mentioned
from support.tiny import run_here

SIZES = {
    "transducer": tiny.SETTINGS,
    "lstm": {"model.width": 8, "model.hidden": 6, "model.max_steps": 12, "training.epochs": 1},
    "transformer": {
        **{"model.width": 8, "model.heads": 2, "model.layers": 1, "model.hidden": 8, "model.max_steps": 12},
        "training.epochs": 1,
    },
}
FILES = (".toml", ".tsv")
REAL = ("README.md", "docs/getting-started/first-model.md")
"""Pages whose commands are run as they stand, see test_readme.py."""
SERVES = "runs until it is stopped, see test_serve.py"
EVERYTHING_RUNS = [
    f"docs/how-to/{page}.md"
    for page in (
        "align",
        "configure",
        "evaluate",
        "programs",
        "results",
        "train",
        "use-a-model",
        "when-it-does-not-work",
    )
]
TESTED_ELSEWHERE = (
    "docs/concepts/distributions.md",
    "docs/concepts/layers-in-your-model.md",
    "docs/how-to/share-a-model.md",  # with a hub, see tests/model/test_hub.py
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def pages_with(kind, *arguments):
    return [page for page in PAGES if list(kind(page, *arguments))]


def parsed(words):
    """The command that words name, its path, and the values of its parameters."""
    command, path, words = typer.main.get_command(app), [], list(words)
    while hasattr(command, "commands"):
        path.append(words.pop(0))
        command = command.commands[path[-1]]
    return " ".join(path), command.make_context("ftor", words).params


def ftor_words(command):
    """The words after `ftor`, or None if it is another program's command."""
    words = shlex.split(command.replace("$seed", "0"), comments=True)
    if "-m" in words and words[0] in ("accelerate", "torchrun"):
        words = words[words.index("-m") + 1 :]
    return words[1:] if words[0] == "ftor" else None


@pytest.mark.parametrize("page", pages_with(commands))
def test_commands_are_understood(page):
    for command in commands(page):
        words = ftor_words(command)
        if words is None:
            check_other(shlex.split(command, comments=True))
        else:
            path, values = parsed(words)
            if path == "train" and values["resume"] is None and not values["experiment"].endswith(FILES):
                assert Config.load(values["experiment"], values["settings"] or [])


def check_other(words):
    """Check a command of another program as far as it is about this project."""
    if words[0] == "make":
        assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text("utf-8")
    elif words[0] == "pip":
        extras = re.findall(r"ftor\[(\w+)\]", " ".join(words))
        assert set(extras) <= set(PROJECT["optional-dependencies"])
    elif words[0] == "python":
        script = (ROOT / words[1]).read_text("utf-8")
        options = [word[2:].replace("-", "_") for word in words if word.startswith("--")]
        assert [option for option in options if not re.search(rf"\b{option}\b", script)] == []


@pytest.mark.parametrize("page", pages_with(mentioned))
def test_options_within_sentences_exist(page):
    for code in mentioned(page):
        command, words = typer.main.get_command(app), code.split()[1:]
        while hasattr(command, "commands") and words:
            command = command.commands[words.pop(0)]
        known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
        assert [word for word in words if word.startswith("--") and word not in known] == [], code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with small files under the names that the pages use; nothing else is found."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FTOR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for place in ("data/mirror", "data/mirror_xyz"):
        tiny.write_data(tmp_path / place)
    splits = {
        split: (tmp_path / "data" / "mirror" / f"{split}.tsv").read_bytes() for split in ("train", "dev")
    }
    files = {
        **{
            "a.tsv": splits["train"],
            "b.tsv": splits["dev"],
            "c.tsv": splits["dev"],
            "more.tsv": splits["dev"],
            "dev.tsv": splits["train"],
            "pairs.tsv": splits["dev"],
        },
        **{"data/geo/iid_train.tsv": splits["train"], "data/geo/len_train.tsv": splits["train"]},
        "f-then-r/data.zip": zip_of({"data/mirror/train.tsv": splits["train"]}),
        "sentences.txt": b"a b\nc d e\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


def add_files_of(page, folder, trained):
    """Add what a page itself shows or assumes: configurations, grammars, pairs, a model, the ledgers."""
    for block in blocks(page, "toml"):
        (folder / "my.toml").write_text(block, "utf-8")
    for block in blocks(page, ""):
        if "\t" in block:
            for name in ("a.tsv", "b.tsv", "test.tsv"):
                (folder / name).write_text(block, "utf-8")
        elif " -> " in block:
            for name in ("my.cfg", "other.cfg", "calendar.cfg"):
                (folder / name).write_text(block, "utf-8")
    for suffix in ("lark", "gbnf"):
        for block in blocks(page, suffix):
            (folder / f"calendar.{suffix}").write_text(block, "utf-8")
    if page == "docs/how-to/rewrite-sentences.md":
        for name in ("a.tsv", "b.tsv"):
            (folder / name).write_text("a big dog ; big\tbig big\nthe dog ; dog\tdog dog\n" * 4, "utf-8")
    if page == "docs/how-to/corpora.md":
        parquet.write_table(pyarrow.table({"sentence": ["a b", "c d e"]}), folder / "sentences.parquet")
    if page in ("docs/how-to/corpora.md", "docs/how-to/use-a-model.md", "docs/how-to/evaluate.md"):
        for name in ("mirror-0", "mine-0", "mine-1"):
            shutil.copytree(trained, folder / "runs" / name)
    if page == "docs/how-to/train.md":
        shutil.copytree(ROOT / "examples/home", folder / "examples/home")
        shutil.copytree(trained, folder / "runs" / "home")
    if page in ("docs/how-to/programs.md", "docs/how-to/evaluate.md"):
        shutil.copytree(ROOT / "examples/home/programs", folder / "examples/home/programs")
    if "results" in page or "reproduce" in page or page == "docs/how-to/evaluate.md":
        shutil.copytree(ROOT / "results", folder / "results")
        (folder / "docs" / "results").mkdir(parents=True)
        shutil.copy(ROOT / "docs" / "results" / "index.md", folder / "docs" / "results")


def made_small(words):
    """Words with options that make a command cheap, or a reason why it is only checked."""
    path, values = parsed(words)
    if path == "data fetch":
        return None, "downloads"
    if path == "serve":
        return None, SERVES
    if path == "tune":
        return None, "trains many models"
    if path == "data trivial":
        return None, "needs published data"
    if path == "grammar export" and "/" in values["source"]:
        return None, "needs a model with a grammar"
    if path == "reproduce":
        return [*words, "--dry-run"], None
    if path == "predict" and values["ray"]:
        return None, "needs a cluster, see test_cluster.py"
    if path in ("predict", "evaluate", "explain"):
        return (words, None) if Path(values["folder"]).exists() else (None, "needs a model of published data")
    if path == "data generate" and values["size"]:
        return [*words, "--size", "4"], None
    if path != "train":
        return words, None
    if values["resume"]:
        return [*words, "--set", "training.epochs=3"], None
    if values["experiment"].endswith(".toml") and not Path(values["experiment"]).exists():
        return None, "needs a file that a search writes"
    if values["experiment"].endswith(".tsv"):
        if "--minutes" in words:  # without a race it means nothing
            place = words.index("--minutes")
            words = words[:place] + words[place + 2 :]
        return [*words, "--quick", *settings_of("transducer")], None
    config = Config.load(values["experiment"], values["settings"] or [])
    files = {
        split: values[f"{split}_file"] or getattr(config.data, split) for split in ("train", "dev", "test")
    }
    if any(file and not (Path(file).exists() or Path("data", file).exists()) for file in files.values()):
        return None, "needs published data"
    return [*words, *settings_of(config.model.architecture)], None


def settings_of(architecture):
    """The options that make a network small."""
    return [
        part for key, value in SIZES[architecture].items() for part in ("--set", f"{key}={json.dumps(value)}")
    ]


def run_small(page):
    """Run a page's commands in order; gives the reasons why some were only checked."""
    reasons = []
    for command in commands(page):
        words = ftor_words(command)
        if words is None or command.startswith("accelerate"):
            continue
        small, reason = made_small(words)
        if small is None:
            reasons.append(reason)
            continue
        finished = run_here(*small)
        assert finished.code == 0, f"{command}\n{finished.err}"
    return reasons


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        page
        for page in pages_with(commands)
        if page not in REAL and any(command.startswith("ftor") for command in commands(page))
    ],
)
def test_commands_run(page, folder, trained):
    add_files_of(page, folder, trained)
    reasons = run_small(page)
    assert page not in EVERYTHING_RUNS or {*reasons} <= {SERVES}


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [page for page in pages_with(blocks, "python") if page not in (*REAL, *TESTED_ELSEWHERE)]
)
def test_python_blocks_run(page, folder, trained):
    add_files_of(page, folder, trained)
    for block in blocks(page, "python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            small = re.sub(r'("training.epochs": )\d+', r"\g<1>1", block)
            small = re.sub(r"minutes=\d+", 'quick=True, settings={"training.epochs": 1}', small)
            exec(compile(small, page, "exec"), {})
        for shown in re.findall(r"print\(.*\)  # ([\w ]+)$", block, re.MULTILINE):
            assert shown in printed.getvalue() or "runs/" in block  # where the model is a small one


def test_the_tree_and_the_error_of_the_grammar_page_are_real(tmp_path):
    page = "docs/how-to/write-a-grammar.md"
    text, (grammar,) = PAGES[page].read_text("utf-8"), blocks(page, "")
    tree = Grammar.parse(grammar).tree(
        ["SEARCH", "ann", "smith"], sentence=["when", "is", "ann", "smith", "in"]
    )
    assert f"`{tree}`" in text
    with pytest.raises(Exception, match="Nubmer") as error:
        Grammar.parse(grammar.replace("'TOP' Number", "'TOP' Nubmer"), "calendar.cfg")
    assert f"\n    {error.value}\n" in text


def test_the_grammars_of_the_grammar_page_are_read(tmp_path):
    page = "docs/how-to/write-a-grammar.md"
    text = PAGES[page].read_text("utf-8")
    for format_, string in (
        ("lark", "GET event TOP 12 FILTER event.location eq new york"),
        ("gbnf", "TOP 9 COUNT"),
    ):
        (block,) = blocks(page, format_)
        assert Grammar.parse(block, f"calendar.{format_}", format_).accepts(string.split())
    with pytest.raises(Exception, match="finitely many words") as error:
        Grammar.parse("root ::= name\n\nname ::= [a-z]+", "calendar.gbnf", "gbnf")
    assert "".join(f"    {line}\n" for line in str(error.value).splitlines()) in text


def test_the_search_space_of_the_tuning_page_has_keys_that_exist():
    (space,) = blocks("docs/how-to/tune.md", "toml")
    configs = [Config.load(name).model_dump() for name in ("transducer", "mirror-transformer")]
    for path in tomllib.loads(space):
        section, key = path.split(".")
        assert any(key in config[section] for config in configs)


def test_the_evaluation_page_has_every_class_of_mistakes():
    text = PAGES["docs/how-to/evaluate.md"].read_text("utf-8")
    rows = [f"| {mistake} | {mistake.meaning} |" for mistake in Mistake]
    assert "\n".join(rows) in text
