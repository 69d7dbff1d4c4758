"""What every module of the package has: a first line that says what it is for, and a readable size."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "ftor"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 350


def test_the_first_line_says_what_a_module_is_for():
    docstrings = {path: ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "" for path in MODULES}
    assert [path for path, docstring in docstrings.items() if not docstring.partition("\n")[0].strip()] == []


def test_modules_are_short():
    """Kernels may be long, and nothing else."""
    lengths = {str(path.relative_to(SOURCE)): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    long = {name for name, lines in lengths.items() if lines > MOST_LINES and not name.startswith("ops/")}
    assert long == set()
