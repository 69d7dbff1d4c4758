"""The data folders, and where files are found in them."""

import os
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

from ftor.text.reading import DataError


def data_folders(data_folder: Path | None) -> list[Path]:
    """The folders that are searched: `data_folder` if given. Else $FTOR_DATA, ./data and the user's cache."""
    if data_folder is not None:
        if not data_folder.is_dir():
            raise DataError(f"{data_folder}: no such folder")
        return [data_folder]
    from_environment = [Path(os.environ["FTOR_DATA"])] if os.environ.get("FTOR_DATA") else []
    return [*from_environment, Path("data"), user_cache_path("ftor", appauthor=False)]


def find_file(name: str, data_folder: Path | None) -> Path | None:
    """The file in the first data folder that has it, or None. An absolute path is returned if it exists."""
    paths = (folder / name for folder in data_folders(data_folder))
    return next((path for path in paths if path.is_file()), None)


def find_folder(name: str, data_folder: Path | None, having: str) -> Path | None:
    """The folder in the first data folder that has it with the file `having` in it, or None."""
    paths = (folder / name for folder in data_folders(data_folder))
    return next((path for path in paths if (path / having).is_file()), None)


def is_in_hub_cache(encoder: str) -> bool:
    """Whether transformers can load an encoder from where the hub's files are kept on this machine."""
    if find_spec("huggingface_hub") is None:
        return False
    from huggingface_hub import try_to_load_from_cache  # an extra
    from huggingface_hub.errors import HFValidationError

    try:
        return isinstance(try_to_load_from_cache(encoder, "config.json"), str)
    except HFValidationError:  # the path of a folder
        return False


def require_file(name: str, data_folder: Path | None, purpose: str, hint: str = "") -> Path:
    """Find a file in the data folders or the current folder.

    Args:
        name: the path of the file.
        data_folder: the data folder, if the user named one.
        purpose: what the file is for, as the error says it.
        hint: how the user can get it, as the error says it.

    Raises:
        DataError: if no folder has the file.
    """
    path = find_file(name, data_folder) or (Path(name) if Path(name).is_file() else None)
    if path is None:
        raise DataError(f"{purpose}: {missing(name, data_folder)}" + (f"; {hint}" if hint else ""))
    return path


def missing(names: str, data_folder: Path | None) -> str:
    """The message that files are not found."""
    places = ", ".join(map(str, data_folders(data_folder)))
    return f"{names}: no such file; looked in {places} and the current folder"
