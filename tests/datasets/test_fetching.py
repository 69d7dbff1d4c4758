"""Fetching datasets over real HTTP from this machine: checksums, broken transfers, and what is left after."""

import dataclasses
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import numpy as np
import pytest
from safetensors.numpy import save

from ftor.datasets import DATASETS, fetching
from ftor.datasets.minilm import ENCODER, find_encoder
from ftor.datasets.published import Download, PublishedDataset
from ftor.text.reading import DataError
from support.archives import PAIRS, VECTORS, row, tree, write_all, zip_of
from support.tiny import run_here

MORE_PAIRS = b"".join(b"a b %d\tx %d\n" % (n, n * n) for n in range(5000))
CHECKSUMS = {
    "mirror/train.tsv": hashlib.sha256(MORE_PAIRS).hexdigest(),
    "mirror/dev.tsv": hashlib.sha256(PAIRS).hexdigest(),
}
ARCHIVE = zip_of(
    {"data/mirror/train.tsv": MORE_PAIRS, "data/mirror/dev.tsv": PAIRS, "data/ATP/test.tsv": PAIRS}
)


class Site:
    """What a server has, how it misbehaves, and what it was asked."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.tag: str | None = '"1"'
        self.cuts: list[int] = []  # after how many bytes the next answers end
        self.honest = True  # about where a part begins
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        wanted = handler.headers.get("Range")
        self.asked.append((handler.path, wanted))
        content = self.files.get(handler.path)
        if content is None:
            handler.send_error(404)
            return
        first = 0
        if wanted and self.tag and handler.headers.get("If-Range") == self.tag:
            first = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if first >= len(content):
                handler.send_error(416)
                return
            handler.send_response(206)
            begin = first if self.honest else 0
            handler.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        else:
            handler.send_response(200)
        if self.tag:
            handler.send_header("ETag", self.tag)
        handler.send_header("Content-Length", str(len(content) - first))
        handler.end_headers()
        end = first + self.cuts.pop(0) if self.cuts else len(content)
        handler.wfile.write(content[first:end])


@pytest.fixture
def site():
    found = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            found.answer(self)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        found.url = f"http://127.0.0.1:{server.server_port}"
        yield found
        server.shutdown()
        thread.join()


@pytest.fixture
def fetch(tmp_path, monkeypatch, site):
    """Run `ftor data fetch` where the mirror data comes from the site."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FTOR_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    mirror = PublishedDataset("mirror", CHECKSUMS, (Download(f"{site.url}/data.zip"),))
    monkeypatch.setitem(DATASETS, "mirror", mirror)
    site.files["/data.zip"] = ARCHIVE

    def run(*arguments):
        return run_here("data", "fetch", *arguments)

    return run


def test_an_archive(fetch, tmp_path, site):
    finished = fetch("mirror")
    assert finished.code == 0, finished.err
    assert row(finished, "mirror") == ["mirror", "2", "0", "–"]
    assert f"loading {site.url}/data.zip" in finished.err
    assert tree(tmp_path) == ["data/mirror/dev.tsv", "data/mirror/train.tsv"]
    assert (tmp_path / "data/mirror/train.tsv").read_bytes() == MORE_PAIRS
    assert not (tmp_path / "data/.downloads").exists()
    finished = fetch("mirror")
    assert (finished.code, row(finished, "mirror")) == (0, ["mirror", "0", "2", "–"])
    assert len(site.asked) == 1  # what is here is not loaded again


def test_single_files_and_one_archive_for_two(fetch, tmp_path, site, monkeypatch):
    downloads = tuple(Download(f"{site.url}/deep/{file}") for file in CHECKSUMS)
    monkeypatch.setitem(DATASETS, "mirror", PublishedDataset("mirror", CHECKSUMS, downloads))
    site.files = {"/deep/mirror/train.tsv": MORE_PAIRS, "/deep/mirror/dev.tsv": PAIRS}
    assert fetch("mirror", "--to", "files").code == 0
    assert tree(tmp_path) == ["files/mirror/dev.tsv", "files/mirror/train.tsv"]
    site.files["/both.zip"] = ARCHIVE
    style = PublishedDataset("style", {"ATP/test.tsv": None}, ())
    monkeypatch.setitem(DATASETS, "style", style)
    sha256 = hashlib.sha256(ARCHIVE).hexdigest()
    finished = fetch("mirror", "style", "--to", "both", "--url", f"{site.url}/both.zip", "--sha256", sha256)
    assert finished.code == 0, finished.err
    assert len(tree(tmp_path / "both")) == 3


def test_a_wrong_checksum_of_a_file(fetch, tmp_path, site):
    site.files["/data.zip"] = zip_of({"mirror/train.tsv": MORE_PAIRS, "mirror/dev.tsv": b"a\tb\n"})
    finished = fetch("mirror")
    assert (finished.code, finished.out) == (1, "")
    assert (
        f"{site.url}/data.zip/mirror/dev.tsv: expected sha256 {CHECKSUMS['mirror/dev.tsv']}, found"
        in finished.err
    )
    assert list(tmp_path.iterdir()) == []
    trusted = finished.err.rstrip().rpartition(" ")[2]
    finished = fetch("mirror", "--sha256", trusted)
    assert finished.code == 0, finished.err
    assert "warning: these differ from the published files: mirror/dev.tsv" in finished.err


@pytest.mark.parametrize("given", [True, False], ids=["demanded", "registered"])
def test_a_wrong_checksum_of_an_archive(fetch, tmp_path, site, monkeypatch, given):
    wrong = "0" * 64
    download = Download(f"{site.url}/data.zip", None if given else wrong)
    monkeypatch.setitem(DATASETS, "mirror", PublishedDataset("mirror", CHECKSUMS, (download,)))
    finished = fetch("mirror", *(["--sha256", wrong] if given else []))
    assert (finished.code, finished.out) == (1, "")
    found = hashlib.sha256(ARCHIVE).hexdigest()
    assert f"error: {site.url}/data.zip: expected sha256 {wrong}, found {found}" in finished.err
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_stays(fetch, tmp_path, site):
    write_all(tmp_path / "data", {"mine": b"1"})
    site.files = {}
    assert fetch("mirror").code == 1
    assert tree(tmp_path) == ["data/mine"]
    (tmp_path / "empty").mkdir()
    assert fetch("mirror", "--to", "empty").code == 1
    assert (tmp_path / "empty").is_dir()


def test_no_such_file_and_no_server(fetch, tmp_path, site):
    finished = fetch("mirror", "--url", f"{site.url}/none.zip")
    assert (finished.code, finished.out) == (1, "")
    assert f"error: {site.url}/none.zip: 404 Not Found\n" in finished.err
    finished = fetch("mirror", "--url", "http://127.0.0.1:1/data.zip")
    assert (finished.code, finished.out) == (1, "")
    assert "error: http://127.0.0.1:1/data.zip: cannot be reached: " in finished.err
    assert list(tmp_path.iterdir()) == []


def test_one_of_several_is_missing(fetch, tmp_path, site, monkeypatch):
    downloads = tuple(Download(f"{site.url}/{file}") for file in CHECKSUMS)
    monkeypatch.setitem(DATASETS, "mirror", PublishedDataset("mirror", CHECKSUMS, downloads))
    site.files = {"/mirror/train.tsv": MORE_PAIRS}
    finished = fetch("mirror")
    assert finished.code == 1
    assert f"{site.url}/mirror/dev.tsv: 404 Not Found" in finished.err
    assert list(tmp_path.iterdir()) == []


def test_an_archive_without_the_files(fetch, tmp_path, site):
    site.files["/data.zip"] = zip_of({"mirror/dev.tsv": PAIRS})
    finished = fetch("mirror")
    assert finished.code == 1
    assert "mirror/train.tsv: no file of this name" in finished.err
    assert list(tmp_path.iterdir()) == []


def test_a_transfer_that_breaks_off_goes_on(fetch, tmp_path, site):
    site.cuts = [1000, 500]
    finished = fetch("mirror")
    assert finished.code == 0, finished.err
    assert f"the transfer ended after 1000 of {len(ARCHIVE)} bytes; trying again" in finished.err
    assert [wanted for _, wanted in site.asked] == [None, "bytes=1000-", "bytes=1500-"]
    assert tree(tmp_path) == ["data/mirror/dev.tsv", "data/mirror/train.tsv"]


def test_it_goes_on_in_the_next_command(fetch, tmp_path, site):
    site.cuts = [1000, 500, 0]
    finished = fetch("mirror")
    assert (finished.code, finished.out) == (1, "")
    assert (
        f"error: {site.url}/data.zip: the transfer ended after 1500 of {len(ARCHIVE)} bytes" in finished.err
    )
    assert [name for name in tree(tmp_path) if not name.endswith((".part", ".validator"))] == []
    assert fetch("mirror").code == 0
    assert site.asked[-1][1] == "bytes=1500-"
    assert tree(tmp_path) == ["data/mirror/dev.tsv", "data/mirror/train.tsv"]


@pytest.mark.parametrize(
    ("change", "size"),
    [("tag", 1000), ("honest", 1000), (None, 10**6 - 1)],
    ids=["another version", "a part from elsewhere", "too long"],
)
def test_a_part_of_something_else_is_dropped(fetch, tmp_path, site, change, size):
    site.files["/data.zip"] = b"x" * 10**6
    site.cuts = [size, 0, 0]
    assert fetch("mirror").code == 1
    site.files["/data.zip"], first = ARCHIVE, len(site.asked)
    if change is not None:
        setattr(site, change, {"tag": '"2"', "honest": False}[change])
    finished = fetch("mirror")
    assert finished.code == 0, finished.err
    assert site.asked[first][1] == f"bytes={size}-"
    assert tree(tmp_path) == ["data/mirror/dev.tsv", "data/mirror/train.tsv"]


@pytest.mark.parametrize("tag", [None, 'W/"1"'], ids=["none", "weak"])
def test_without_a_sure_sign_of_the_version_nothing_is_kept(fetch, tmp_path, site, tag):
    site.tag, site.cuts = tag, [1000] * fetching.TRIES
    assert fetch("mirror").code == 1
    assert [wanted for _, wanted in site.asked] == [None] * fetching.TRIES
    assert list(tmp_path.iterdir()) == []


def test_a_part_that_was_whole_already(fetch, tmp_path, site):
    site.cuts = [1000, 0, 0]
    assert fetch("mirror").code == 1
    (part,) = tmp_path.rglob("*.part")
    part.write_bytes(ARCHIVE)
    assert fetch("mirror").code == 0
    assert [wanted for _, wanted in site.asked[-2:]] == [f"bytes={len(ARCHIVE)}-", None]


def test_vectors_have_no_checksum_of_their_own(fetch, tmp_path, site):
    files = dict.fromkeys([f"glove.6B.{size}d.txt" for size in (50, 100, 200, 300)], VECTORS)
    site.files["/glove.zip"] = zip_of(files)
    finished = fetch("glove", "--url", f"{site.url}/glove.zip")
    assert finished.code == 0, finished.err
    unknown = "glove.6B.100d.txt, glove.6B.200d.txt"
    assert f"warning: no checksum is known of {unknown}; --sha256 demands one" in finished.err
    assert tree(tmp_path) == ["data/glove.6B.100d.txt", "data/glove.6B.200d.txt"]


def test_vectors_whose_transfer_breaks_off(fetch, tmp_path, site, monkeypatch):
    """As for any other archive: it goes on, and the archive has its checksum."""
    content = b"".join(b"word%d 0.1 %d\n" % (n, n * n) for n in range(5000))
    archive = zip_of({"glove.6B.100d.txt": content, "glove.6B.200d.txt": content})
    site.files["/glove.zip"], site.cuts = archive, [1000]
    download = Download(f"{site.url}/glove.zip", hashlib.sha256(archive).hexdigest())
    glove = dataclasses.replace(DATASETS["glove"], downloads=(download,))
    monkeypatch.setitem(DATASETS, "glove", glove)
    finished = fetch("glove")
    assert finished.code == 0, finished.err
    assert [wanted for _, wanted in site.asked] == [None, "bytes=1000-"]
    assert (tmp_path / "data/glove.6B.100d.txt").read_bytes() == content
    site.files["/glove.zip"] = archive + b"?"
    assert f"expected sha256 {download.sha256}, found" in fetch("glove", "--to", "new").err
    assert not (tmp_path / "new").exists()


def test_an_encoder_is_fetched_into_the_folder_of_its_name(fetch, tmp_path, site, monkeypatch):
    """Its files have addresses of their own, as on the hub."""
    minilm = DATASETS["minilm"]
    weights = save({"a": np.zeros(1)})
    contents = {file: weights if file.endswith(".safetensors") else b"{}" for file in minilm.files}
    site.files = {
        urlsplit(download.url).path: content
        for download, content in zip(minilm.downloads, contents.values(), strict=True)
    }
    checksums = {file: hashlib.sha256(content).hexdigest() for file, content in contents.items()}
    downloads = tuple(
        Download(site.url + path, checksum)
        for path, checksum in zip(site.files, checksums.values(), strict=True)
    )
    monkeypatch.setitem(DATASETS, "minilm", dataclasses.replace(minilm, files=checksums, downloads=downloads))
    finished = fetch("minilm")
    assert finished.code == 0, finished.err
    for file, content in contents.items():
        assert (tmp_path / "data" / file).read_bytes() == content
    assert find_encoder(tmp_path / "data") == tmp_path / "data" / ENCODER


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_file_that_is_not_of_an_encoder(tmp_path, name):
    path = tmp_path / name
    path.write_text("no")
    with pytest.raises(DataError, match=f"{name}: not a file of an encoder"):
        DATASETS["minilm"].check(path)


def test_reproduce_downloads_what_is_missing(fetch, tmp_path, site, monkeypatch):
    """Without --fetch it says so in one line. The runs are not started."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    style = dict.fromkeys(DATASETS["style"].files)
    archive = zip_of(dict.fromkeys([*style, "glove.6B.100d.txt", "glove.6B.200d.txt"], b"no pairs"))
    site.files["/all.zip"] = archive
    download = Download(f"{site.url}/all.zip", hashlib.sha256(archive).hexdigest())
    monkeypatch.setitem(
        DATASETS, "style", PublishedDataset("style", style, (download,), check=lambda path: None)
    )
    glove = dataclasses.replace(DATASETS["glove"], downloads=(download,), check=lambda path: None)
    monkeypatch.setitem(DATASETS, "glove", glove)
    monkeypatch.setattr("ftor.jobs.run_jobs", lambda reproduction, *_: reproduction)
    words = ("reproduce", "style", "--seeds", "1", "--ledgers", "mine")
    finished = run_here(*words)
    assert finished.code == 1
    assert finished.err == (
        "error: 10 files are missing, such as ATP/train.tsv; to download them: ftor data fetch glove style, "
        "or add --fetch\n"
    )
    assert not (tmp_path / "data").exists()
    finished = run_here(*words, "--fetch")
    assert f"loading {site.url}/all.zip" in finished.err
    assert tree(tmp_path / "data") == sorted([*style, "glove.6B.100d.txt", "glove.6B.200d.txt"])
    assert len(site.asked) == 1


def test_more_than_anybody_publishes(fetch, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "LARGEST_DOWNLOAD", 100)
    finished = fetch("mirror")
    assert finished.code == 1
    assert "data.zip: larger than " in finished.err
    assert list(tmp_path.iterdir()) == []


def test_files_that_differ_are_kept(fetch, tmp_path):
    write_all(tmp_path / "data", {"mirror/dev.tsv": b"my\town\n"})
    finished = fetch("mirror")
    assert finished.code == 1
    assert "data/mirror/dev.tsv: differs from http://127.0.0.1" in finished.err
    assert tree(tmp_path) == ["data/mirror/dev.tsv"]
    assert fetch("mirror", "--replace").code == 0
    assert (tmp_path / "data/mirror/dev.tsv").read_bytes() == PAIRS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["miror"],
            "no dataset miror; there are atis, cogs, geo, geobase, glove, minilm, mirror, mirror-xyz, okapi, "
            "scan-length, scan-around-right, scan-jump, style",
        ),
        (["mirror", "--sha256", "12"], "a checksum has 64 hexadecimal digits, not 2 characters"),
        (
            ["mirror", "--url", "file:///etc/passwd"],
            "file:///etc/passwd does not begin with one of http://, https://, ftp://",
        ),
        (["style", "--sha256", "0" * 64], "one checksum is for one download, not for 9"),
        ([], "Missing argument"),
    ],
)
def test_bad_usage(fetch, tmp_path, arguments, message):
    finished = fetch(*arguments)
    assert (finished.code, finished.out) == (2, "")
    assert message in " ".join(finished.err.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_downloads_are_pinned_to_a_version():
    for dataset in DATASETS.values():
        assert dataset.downloads
        for download in dataset.downloads:
            assert download.sha256 or "/raw.githubusercontent.com/" in download.url
            assert download.url.startswith("https://")
