"""A hub on this machine: the requests that huggingface_hub makes to create, fill and read a model."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

Files = dict[str, bytes]


@dataclass
class Hub:
    """What the hub holds: by repository the files of each commit, the newest last, and what was asked.

    Attributes:
        address: where it listens.
        repos: by name, commits and their files.
        requests: method and path of each request.
        uploads: the large files, by their SHA-256.
        accepts: whether large files may be sent.
    """

    address: str = ""
    repos: dict[str, dict[str, Files]] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    uploads: Files = field(default_factory=dict)
    accepts: bool = True

    def commit(self, repo: str, files: Files) -> str:
        """Add a commit that adds these files to those of the one before."""
        commits = self.repos[repo]
        files = {**(list(commits.values()) or [{}])[-1], **files}
        name = hashlib.sha1(f"{len(commits)}{sorted(files)}".encode()).hexdigest()
        commits[name] = files
        return name

    def files(self, repo: str, revision: str) -> tuple[str, Files] | None:
        """The commit of a revision, `main` or the name of a commit, and its files."""
        commits = self.repos[repo]
        name = list(commits)[-1] if revision == "main" and commits else revision
        return (name, commits[name]) if name in commits else None


@contextmanager
def hub() -> Iterator[Hub]:
    """Run a hub until the end of the block."""
    state = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": state}))
    state.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def use(monkeypatch: pytest.MonkeyPatch, address: str, cache: Path, offline: bool = False) -> None:
    """Let huggingface_hub use the hub at an address, and a cache. It reads these at its import."""
    from huggingface_hub import constants, hf_api

    template = address + "/{repo_id}/resolve/{revision}/{filename}"
    values = {
        "ENDPOINT": address,
        "HUGGINGFACE_CO_URL_TEMPLATE": template,
        "HF_HUB_CACHE": str(cache),
        "HF_HUB_OFFLINE": offline,
        "HF_HUB_DISABLE_XET": True,
    }
    for name, value in values.items():
        monkeypatch.setattr(constants, name, value)
    monkeypatch.setattr(hf_api.api, "endpoint", address)
    monkeypatch.setenv("HF_TOKEN", "a-token")


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            chunks = b""
            while size := int(self.rfile.readline(), 16):
                chunks += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return chunks
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer(self, value: Any = None, status: int = 200, headers: dict[str, str] | None = None) -> None:
        content = value if isinstance(value, bytes) else json.dumps(value or {}).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _missing(self, code: str) -> None:
        self._answer({"error": "not found"}, 404, {"X-Error-Code": code})

    def _handle(self) -> None:
        path = self.path.partition("?")[0]
        self.hub.requests.append(f"{self.command} {path}")
        body = self._body()
        if path == "/api/repos/create":
            asked = json.loads(body)
            self.hub.repos.setdefault(f"{asked['organization']}/{asked['name']}", {})
            self._answer({"url": f"{self.hub.address}/{asked['organization']}/{asked['name']}"})
        elif path == "/api/validate-yaml":
            self._answer({"errors": [], "warnings": []})
        elif upload := re.fullmatch(r"/lfs/(\w+)", path):
            assert hashlib.sha256(body).hexdigest() == upload[1]
            self.hub.uploads[upload[1]] = body
            self._answer(status=200 if self.hub.accepts else 403)
        elif match := re.fullmatch(
            r"/(?:api/models/)?([\w-]+/[\w-]+)(?:\.git)?/(preupload|commit|revision|tree|resolve|info)/(.+)",
            path,
        ):
            repo, action, rest = match.groups()
            if repo not in self.hub.repos:
                self._missing("RepoNotFound")
            else:
                getattr(self, f"_{action}")(repo, rest, body)
        else:
            self._answer({"error": f"no answer for {path}"}, 501)

    do_GET = do_HEAD = do_POST = do_PUT = _handle  # noqa: N815

    def _preupload(self, repo: str, rest: str, body: bytes) -> None:
        files = [
            {
                "path": path,
                "uploadMode": "lfs" if path.endswith(".safetensors") else "regular",
                "shouldIgnore": False,
            }
            for path in (file["path"] for file in json.loads(body)["files"])
        ]
        self._answer({"files": files})

    def _info(self, repo: str, rest: str, body: bytes) -> None:
        objects = [
            {**one, "actions": {"upload": {"href": f"{self.hub.address}/lfs/{one['oid']}"}}}
            for one in json.loads(body)["objects"]
        ]
        self._answer({"transfer": "basic", "objects": objects})

    def _commit(self, repo: str, rest: str, body: bytes) -> None:
        files = {}
        for line in body.splitlines():
            key, value = (item := json.loads(line))["key"], item["value"]
            if key == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif key == "lfsFile":
                files[value["path"]] = self.hub.uploads[value["oid"]]
        name = self.hub.commit(repo, files)
        self._answer({"commitUrl": f"{self.hub.address}/{repo}/commit/{name}", "commitOid": name})

    def _revision(self, repo: str, revision: str, body: bytes) -> None:
        if found := self.hub.files(repo, revision):
            siblings = [{"rfilename": path} for path in found[1]]
            self._answer(
                {"_id": "1", "id": repo, "modelId": repo, "sha": found[0], "siblings": siblings, "tags": []}
            )
        else:
            self._missing("RevisionNotFound")

    def _tree(self, repo: str, revision: str, body: bytes) -> None:
        found = self.hub.files(repo, revision.rstrip("/"))
        assert found is not None
        self._answer(
            [
                {"type": "file", "path": path, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
                for path, content in found[1].items()
            ]
        )

    def _resolve(self, repo: str, rest: str, body: bytes) -> None:
        revision, _, path = rest.partition("/")
        found = self.hub.files(repo, revision)
        if found is None or path not in found[1]:
            self._missing("EntryNotFound")
            return
        content = found[1][path]
        self._answer(
            content, headers={"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": found[0]}
        )
