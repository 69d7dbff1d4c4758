"""Downloads published datasets. An interrupted download continues where it stopped."""

import contextlib
import dataclasses
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
from ftor.datasets.archives import Candidate, open_candidates
from ftor.datasets.importing import ImportResult, import_files
from ftor.datasets.published import Download, PublishedDataset, sha256_of
from ftor.errors import FtorError
from ftor.reporting import Report
from ftor.text.reading import DataError

SCHEMES = ("http", "https", "ftp")
TIMEOUT = 30.0
"""Seconds without a byte after which a download fails."""
TRIES = 3
"""How often an interrupted download is continued."""
LARGEST_DOWNLOAD = 4 * 10**9
CHUNK = 1 << 18
DOWNLOADS = ".downloads"
"""Folder in the data folder for archives, until they are unpacked."""


class FetchError(FtorError):
    """A download that failed. The message begins with the address."""


class _IncompleteError(FetchError):
    """A download that ended early."""


def is_complete(dataset: PublishedDataset, folder: Path) -> bool:
    """Whether a data folder has all files of a dataset, as published where the checksum is known."""
    return all(
        (folder / file).is_file() and checksum in (None, sha256_of(folder / file))
        for file, checksum in dataset.files.items()
    )


def downloads(datasets: Sequence[PublishedDataset]) -> list[Download]:
    """The downloads of the datasets, without duplicates."""
    return list(dict.fromkeys(download for dataset in datasets for download in dataset.downloads))


def fetch(
    datasets: Sequence[PublishedDataset],
    folder: Path,
    report: Report,
    download: Download | None = None,
    replace: bool = False,
) -> ImportResult:
    """Download datasets and import them into the data folder.

    A download is checked against its checksum. Where none is known, each file is checked against the checksum
    of the published file.

    Args:
        datasets: the datasets to fetch. Complete ones are not downloaded again, except with `replace`.
        folder: the data folder.
        report: receives the progress.
        download: another address than the public ones.
        replace: whether existing files that differ are replaced.

    Raises:
        FetchError: if a download fails or has the wrong checksum.
        DataError: if files are unusable, or different files are in their places.
    """
    complete = [dataset for dataset in datasets if not replace and is_complete(dataset, folder)]
    # Without the extra files: glove.6B.zip has gigabytes of them.
    wanted = [dataclasses.replace(d, extra_files=None) for d in datasets if d not in complete]
    sources = [download] if download is not None else downloads(wanted)
    checked = all(source.sha256 for source in sources)
    unknown = [file for dataset in wanted for file, checksum in dataset.files.items() if checksum is None]
    if unknown and not checked:
        report.warn(f"no checksum is known of {', '.join(unknown)}; --sha256 demands one")
    result = ImportResult()
    if wanted:
        with _downloaded(sources, folder, report) as candidates:
            result = import_files(
                candidates, wanted, folder, report, replace, as_published=not checked, complete=True
            )
    result.unchanged += [file for dataset in complete for file in dataset.files]
    return result


@contextlib.contextmanager
def _downloaded(sources: Sequence[Download], folder: Path, report: Report) -> Iterator[list[Candidate]]:
    """Download into the data folder, and remove the downloads afterwards."""
    paths, existed = list[Path](), folder.exists()
    try:
        with contextlib.ExitStack() as stack:
            candidates = list[Candidate]()
            for source in sources:
                path = _download(source, folder / DOWNLOADS, report)
                paths.append(path)
                files = stack.enter_context(open_candidates(path))
                candidates += [_with_address(candidate, source.url, path) for candidate in files]
            yield candidates
    except DataError as error:
        message = str(error)
        if len(sources) == 1 and "expected sha256" in message:
            message += f"\nif you trust this copy: --sha256 {sha256_of(paths[0])}"
        raise DataError(message) from None
    finally:
        for path in paths:
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # removes empty folders only
            (folder / DOWNLOADS).rmdir()
            if not existed:
                folder.rmdir()


def _with_address(candidate: Candidate, url: str, path: Path) -> Candidate:
    """The same candidate, named after the address that it was downloaded from."""
    if candidate.name == str(path):  # not in an archive
        return dataclasses.replace(
            candidate, name=url, path=urllib.parse.unquote(urllib.parse.urlsplit(url).path).split("/")
        )
    return dataclasses.replace(candidate, name=candidate.name.replace(str(path), url, 1))


def _download(download: Download, folder: Path, report: Report) -> Path:
    """Download into a folder and check the checksum."""
    url = download.url
    if urllib.parse.urlsplit(url).scheme not in SCHEMES:
        raise FetchError(f"{url}: expected an address that begins with {', '.join(SCHEMES)}")
    name = re.sub(r"[^\w.-]", "_", url.rpartition("/")[2])[-40:]
    path = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:8]}-{name}"
    part, validator = path.with_name(f"{path.name}.part"), path.with_name(f"{path.name}.part.validator")
    report.say(f"loading {url}")
    try:
        for attempt in range(1, TRIES + 1):
            try:
                _transfer(url, part, validator, report)
                break
            except _IncompleteError as error:
                if attempt == TRIES:
                    raise
                report.say(f"{error}; trying again")
        checksum = sha256_of(part)
        if download.sha256 is not None and checksum != download.sha256.lower():
            part.unlink()
            raise FetchError(f"{url}: expected sha256 {download.sha256}, found {checksum}")
        part.replace(path)
    finally:
        if not part.exists():
            validator.unlink(missing_ok=True)
        elif not validator.exists():  # without it the download cannot be continued
            part.unlink()
    return path


def _transfer(url: str, part: Path, validator: Path, report: Report) -> None:
    """Append to `part` what it lacks. `validator` identifies the version of the file that it is part of."""
    done = part.stat().st_size if part.exists() and validator.exists() else 0
    headers = {"User-Agent": f"ftor/{__version__}", "Accept-Encoding": "identity"}
    if done:
        headers |= {"Range": f"bytes={done}-", "If-Range": validator.read_text("utf-8")}
    with _open(url, headers) as response:
        resumed = response is None or response.status == http.HTTPStatus.PARTIAL_CONTENT
        if response is None or (
            resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {done}-")
        ):
            part.unlink()
            raise _IncompleteError(f"{url}: cannot be continued after {done} bytes")
        done = done if resumed else 0
        length = response.headers.get("Content-Length", "")
        total = done + int(length) if length.isdecimal() else None
        _check_size(url, total or 0)
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab" if resumed else "wb") as file:
            _keep_validator(response.headers, validator)
            if resumed:
                report.say(f"continuing after {done / 1e6:.1f} MB")
            done = _receive(url, response, file, done, total, report)
    if total is not None and done != total:
        raise _IncompleteError(f"{url}: the transfer ended after {done} of {total} bytes")


@contextlib.contextmanager
def _open(url: str, headers: dict[str, str]) -> Any:
    """Give the response, or None if the server does not have the requested range."""
    request = urllib.request.Request(url, headers=headers)
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
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
                raise _IncompleteError(
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
        raise FetchError(f"{url}: larger than {LARGEST_DOWNLOAD // 10**9} GB")


def _keep_validator(headers: Any, path: Path) -> None:
    """Write what identifies this version of the file (RFC 9110, 13.1.5). Weak tags do not."""
    tag = headers.get("ETag", "")
    identity = tag if tag.startswith('"') else headers.get("Last-Modified", "")
    if identity:
        path.write_text(identity, "utf-8")
    else:
        path.unlink(missing_ok=True)
