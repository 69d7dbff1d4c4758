"""Downloads datasets from their public homes; what was broken off goes on where it stopped."""

import contextlib
import hashlib
import http.client
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ftor._version import __version__
from ftor.datasets.importing import Imported, Item, bring, look_into
from ftor.datasets.sources import Dataset, Home, homes, published
from ftor.errors import FtorError
from ftor.reporting import Report
from ftor.text.reading import DataError

SCHEMES = ("http", "https", "ftp")
SECONDS_OF_SILENCE = 30.0
"""After which a server is given up."""
TRIES = 3
"""For a transfer that breaks off."""
LARGEST_DOWNLOAD = 4 * 10**9
CHUNK = 1 << 18
DOWNLOADS = ".downloads"
"""The folder in the data folder that holds archives until they are unpacked."""


class FetchError(FtorError):
    """A download that failed; names the address."""


class _BrokenOffError(FetchError):
    """A transfer that ended early."""


def is_here(dataset: Dataset, folder: Path) -> bool:
    """Whether a data folder has all files of a dataset, as published where that is known."""
    return all(_is_published(folder / file, published().get(file)) for file in dataset.files)


def _is_published(path: Path, checksum: str | None) -> bool:
    return path.is_file() and (checksum is None or sha256_of(path) == checksum)


def sha256_of(path: Path) -> str:
    """A file's checksum."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(
    datasets: Sequence[Dataset], folder: Path, report: Report, home: Home | None = None, replace: bool = False
) -> Imported:
    """Download datasets and put them into the data folder.

    What comes is checked against the home's checksum; where none is known, file by file against those of
    the published files.

    Args:
        datasets: those wanted.
        folder: the data folder.
        report: hears what is loaded, and how far it is.
        home: another home than the public ones.
        replace: whether files may be overwritten by ones that differ.

    Raises:
        FetchError: if something cannot be loaded, or is not what it should be.
        DataError: if the files are unusable, or others are in their places.
    """
    here = [dataset for dataset in datasets if not replace and is_here(dataset, folder)]
    datasets = [dataset for dataset in datasets if dataset not in here]
    sources = [home] if home is not None else homes(datasets)
    vouched = all(source.sha256 for source in sources)
    unknown = [file for dataset in datasets for file in dataset.files if file not in published()]
    if unknown and not vouched:
        report.warn(f"no checksum is known of {', '.join(unknown)}; --sha256 demands one")
    # glove.6B.zip has gigabytes of further files
    wanted = [Dataset(dataset.name, dataset.files, dataset.homes) for dataset in datasets]
    result = Imported()
    if wanted:
        with _downloaded(sources, folder, report) as items:
            result = bring(items, folder, report, wanted, replace, as_published=not vouched, complete=True)
    result.same += [file for dataset in here for file in dataset.files]
    return result


@contextlib.contextmanager
def _downloaded(sources: Sequence[Home], folder: Path, report: Report) -> Iterator[list[Item]]:
    """What the sources have; it is gone from the data folder afterwards."""
    paths, existed = list[Path](), folder.exists()
    try:
        with contextlib.ExitStack() as stack:
            items = list[Item]()
            for source in sources:
                path = _download(source, folder / DOWNLOADS, report)
                paths.append(path)
                found = stack.enter_context(look_into(path))
                items += [_named_after(source.url, path, item) for item in found]
            yield items
    except DataError as error:
        message = str(error)
        if len(sources) == 1 and "expected sha256" in message:
            message += f"\nif you trust this copy: --sha256 {sha256_of(paths[0])}"
        raise DataError(message) from None
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
        _remove_if_empty(folder / DOWNLOADS)
        if not existed:
            _remove_if_empty(folder)


def _named_after(url: str, path: Path, item: Item) -> Item:
    """An item that is called by its address, and not by where it is kept for a minute."""
    parts = item.parts
    if item.name == str(path):
        parts = tuple(urllib.parse.unquote(urllib.parse.urlsplit(url).path).split("/"))
    return Item(item.name.replace(str(path), url, 1), parts, item.size, item.open)


def _download(home: Home, folder: Path, report: Report) -> Path:
    """Load a file into a folder, and check it."""
    if urllib.parse.urlsplit(home.url).scheme not in SCHEMES:
        raise FetchError(f"{home.url}: expected an address that begins with {', '.join(SCHEMES)}")
    last = re.sub(r"[^\w.-]", "_", home.url.rpartition("/")[2])[-40:]
    path = folder / f"{hashlib.sha256(home.url.encode()).hexdigest()[:8]}-{last}"
    part, validator = path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.part.validator")
    report.say(f"loading {home.url}")
    try:
        for attempt in range(1, TRIES + 1):
            try:
                _transfer(home.url, part, validator, report)
                break
            except _BrokenOffError as error:
                if attempt == TRIES:
                    raise
                report.say(f"{error}; trying again")
        found = sha256_of(part)
        if home.sha256 is not None and found != home.sha256.lower():
            part.unlink()
            raise FetchError(f"{home.url}: expected sha256 {home.sha256}, found {found}")
        part.replace(path)
        validator.unlink(missing_ok=True)
    finally:
        if not part.exists():
            validator.unlink(missing_ok=True)
        elif not validator.exists():  # nothing can tell whether the rest would fit
            part.unlink()
    return path


def _transfer(url: str, part: Path, validator: Path, report: Report) -> None:
    """Load what is not in `part` yet; `validator` says which version of the file that is part of."""
    done = part.stat().st_size if part.exists() and validator.exists() else 0
    headers = {"User-Agent": f"ftor/{__version__}", "Accept-Encoding": "identity"}
    if done:
        headers |= {"Range": f"bytes={done}-", "If-Range": validator.read_text("utf-8")}
    with _open(url, headers) as response:
        if response is None:  # nothing comes after what is here: it is whole, or of another version
            part.unlink()
            raise _BrokenOffError(f"{url}: cannot go on from {done} bytes")
        goes_on = response.status == http.HTTPStatus.PARTIAL_CONTENT
        if goes_on and not response.headers.get("Content-Range", "").startswith(f"bytes {done}-"):
            part.unlink()
            raise _BrokenOffError(f"{url}: expected the part from {done} bytes on, found another")
        done = done if goes_on else 0
        length = response.headers.get("Content-Length", "")
        total = done + int(length) if length.isdecimal() else None
        _check_size(url, total or 0)
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab" if goes_on else "wb") as file:
            _keep_validator(response.headers, validator)
            if goes_on:
                report.say(f"going on after {done / 1e6:.1f} MB")
            done = _receive(url, response, file, done, total, report)
    if total is not None and done != total:
        raise _BrokenOffError(f"{url}: the transfer ended after {done} of {total} bytes")


@contextlib.contextmanager
def _open(url: str, headers: dict[str, str]) -> Any:
    """The response, or None if the server has nothing in the range asked for."""
    request = urllib.request.Request(url, headers=headers)
    try:
        response = urllib.request.urlopen(request, timeout=SECONDS_OF_SILENCE)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or "Range" not in headers:
            raise FetchError(f"{url}: {error.code} {error.reason}") from None
        yield None
        return
    except urllib.error.URLError as error:
        raise FetchError(f"{url}: cannot be reached: {error.reason}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise FetchError(f"{url}: cannot be reached: {error or type(error).__name__}") from None
    with response:
        yield response


def _receive(url: str, response: Any, file: Any, done: int, total: int | None, report: Report) -> int:
    with report.loading(total, done) as load:
        while True:
            try:
                content = response.read(CHUNK)
            except (OSError, http.client.HTTPException) as error:
                raise _BrokenOffError(
                    f"{url}: the transfer broke off after {done} bytes: {error or type(error).__name__}"
                ) from None
            if not content:
                return done
            done += len(content)
            _check_size(url, done)
            file.write(content)
            load.advance(len(content))


def _check_size(url: str, size: int) -> None:
    if size > LARGEST_DOWNLOAD:
        raise FetchError(f"{url}: expected at most {LARGEST_DOWNLOAD // 10**9} GB, found more")


def _keep_validator(headers: Any, path: Path) -> None:
    """Note what tells this version of the file from others (RFC 9110, 13.1.5): no weak tags."""
    tag = headers.get("ETag", "")
    known = tag if tag.startswith('"') else headers.get("Last-Modified", "")
    if known:
        path.write_text(known, "utf-8")
    else:
        path.unlink(missing_ok=True)


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
