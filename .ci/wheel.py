"""Build and test what people install: the wheel, on every Python that pyproject.toml and this machine have.

    python .ci/wheel.py [FOLDER]

The wheel brings compiled kernels for this Python, numba and operating system. FOLDER gets the tested wheel.
This Python has all dependencies in its environment, so the example runs. The others get a new environment
with all dependencies but those that need a build of torch, and import and run everything that works without.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SMALL = ("--set", "training.epochs=1", "--set", "model.width=16")
NEED_TORCH = {"torch", "accelerate", "numba", "llvmlite"}  # only code with torch needs the last two

IMPORTS = """
import importlib, pathlib, sys
import ftor
from ftor.config import Config, shipped
from ftor.errors import FtorError
from ftor.grammar import Grammar, shipped_grammars

root = pathlib.Path(ftor.__file__).parent
names = [".".join(path.relative_to(root.parent).with_suffix("").parts) for path in root.rglob("*.py")]
missing = 0
for name in names:
    if name.endswith("__main__"):
        continue
    try:
        importlib.import_module(name.removesuffix(".__init__"))
    except ModuleNotFoundError as error:
        if error.name.split(".")[0] not in sys.argv[1:]:
            raise
        missing += 1
    except FtorError as error:
        if "pip install 'ftor[" not in str(error):
            raise
        missing += 1
for name in shipped():
    Config.load(name)
assert (root / "serve" / "page" / "index.html").is_file()
for name in shipped_grammars():
    Grammar.read(name).accepts(["answer"])
print(f"Python {sys.version.split()[0]}: {len(names) - missing} of {len(names)} modules are imported")
"""


def main() -> None:
    """Build the wheel and test it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        test_here(wheel, folder / "here")
        for version in versions():
            if version != "{}.{}".format(*sys.version_info):
                test_without_torch(version, wheel, folder / version)
        if sys.argv[1:]:
            Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
            print(shutil.copy(wheel, sys.argv[1]))


def build(folder: Path) -> Path:
    """Build the wheel from a copy of the sources, to which the compiled kernels are added."""
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    code = source / "src" / "ftor" / "ops" / "machine_code"
    run(sys.executable, ".ci/kernels.py", code, PYTHONPATH=str(source / "src"))
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, source)
    (wheel,) = folder.glob("ftor-*.whl")
    return wheel


def test_here(wheel: Path, folder: Path) -> None:
    """Install the wheel beside the environment of this Python, and run the example and the command.

    Neither may compile anything: numba would write it into its cache.
    """
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, wheel)
    environment = {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    check = f"import ftor; assert ftor.__file__.startswith({str(folder)!r}), ftor.__file__"
    run(sys.executable, "-c", check + IMPORTS, **environment)
    run(sys.executable, "examples/paper_example.py", **environment)
    train = ("ftor", "train", "mirror", "--out", folder / "run", "--threads", "1", *SMALL)
    run(sys.executable, "-m", *train, **environment)
    compiled = sorted({path.name.split("-")[0] for path in (folder / "cache").rglob("*.nbc")})
    if compiled and platform.machine().lower() in ("x86_64", "amd64"):
        raise SystemExit(f"{wheel.name} brings no code for {', '.join(compiled)}")


def test_without_torch(version: str, wheel: Path, folder: Path) -> None:
    """Install the wheel and what needs no torch for another Python; import and run all that can be."""
    python = next(interpreters(version), None)
    if python is None:
        print(f"Python {version}: not on this machine, so not tested")
        return
    run(python, "-m", "venv", folder)
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt")
    others = [name for name in dependencies() if re.split(r"[<>=]", name)[0] not in NEED_TORCH]
    run(*pip, "--only-binary", ":all:", *others)
    run(*pip, "--no-deps", wheel)
    (package,) = folder.glob("lib/*/site-packages/ftor")
    run(python, "-W", "error", "-m", "compileall", "-q", "-f", package)
    run(python, "-c", IMPORTS, *NEED_TORCH)
    run(python, "-m", "ftor", "--help", output=subprocess.DEVNULL)
    run(python, "-m", "ftor", "results", "--ledgers", ROOT / "results", output=subprocess.DEVNULL)


def versions() -> list[str]:
    """The versions of Python that the classifiers name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def dependencies() -> list[str]:
    """What the wheel requires."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]


def interpreters(version: str) -> Iterator[str | Path]:
    """The interpreters of a version that work: on the path, or installed by pyenv and not switched on."""
    command = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for candidate in (command, *sorted(pyenv.glob(f"versions/{version}.*/bin/{command}"))):
        try:
            done = subprocess.run([candidate, "-c", "import venv"], stderr=subprocess.DEVNULL, check=False)
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            yield candidate


def run(*command: str | Path, output: int | None = None, **environment: str) -> None:
    """Run a command from the project's folder; stop if it fails."""
    inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(
        [str(part) for part in command], cwd=ROOT, env=inherited | environment, stdout=output, check=True
    )


if __name__ == "__main__":
    main()
