"""The pages of the documentation: their commands and their blocks of code."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(ROOT)): path
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
}
PROGRAMS = ("accelerate", "ftor", "make", "pip", "python", "ray")


def commands(page: str) -> Iterator[str]:
    """Yield the shell commands in a page's indented blocks, one line each, without loops around them."""
    text = re.sub(r"```.*?```", "", PAGES[page].read_text("utf-8"), flags=re.DOTALL).replace("\\\n", " ")
    for line in re.findall(r"^    (\S.*)$", text, re.MULTILINE):
        command = re.sub(r"^for .*?; do (.*); done$", r"\1", line)
        if command.split()[0] in PROGRAMS:
            yield command


def mentioned(page: str) -> Iterator[str]:
    """Yield what is written as `ftor …` within sentences and tables."""
    text = re.sub(r"```.*?```", "", PAGES[page].read_text("utf-8"), flags=re.DOTALL)
    for code in re.findall(r"`([^`]*)`", text):
        if code.startswith("ftor ") and "…" not in code:
            yield " ".join(code.split())


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a language; "" for those that name none."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", PAGES[page].read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [block for name, block in fenced if name == language]
