"""Folders and zips of data, and a look at what became of them."""

import io
import re
import zipfile
from pathlib import Path

from support.tiny import Finished

PAIRS = b"a b\ta b b a\nb\tb b\n"
VECTORS = b"the 0.1 -0.2\nof 0.3 1e-3\n"


def write_all(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


def zip_of(files: dict[str, bytes], compression=zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def tree(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def row(finished: Finished, dataset: str) -> list[str]:
    (line,) = re.findall(rf"^│ {dataset} .*$", finished.out, re.M)
    return [cell.strip() for cell in line.strip("│").split("│")]
