"""Models on a hub: sent to and fetched from one on this machine."""

import contextlib
import io
import json
import shutil
import sys
import time

import pytest

import ftor
from ftor.errors import FtorError
from ftor.model import hub as hub_module
from ftor.model.hub import FILES, HubError, is_remote, local_folder
from support.hub import hub, use
from support.pages import blocks
from support.tiny import run_here

REPO = "ann/mirror"
SENDING = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # of huggingface_hub
NOWHERE = "http://127.0.0.1:9"


@SENDING
def test_there_and_back(model, trained, tmp_path, monkeypatch):
    """Push a model, fetch it again, and use it from the command line and without a network."""
    wanted = list(model.predict(["a b c"])[0].tokens)
    with hub() as server:
        use(monkeypatch, server.address, tmp_path / "cache")
        address = model.push_to_hub(REPO)
        ((commit, files),) = server.repos[REPO].items()
        assert address == f"{server.address}/{REPO}/commit/{commit}"
        assert set(files) == {"config.toml", "vocab.json", "model.safetensors", "metrics.json", "README.md"}
        assert files["model.safetensors"] == (trained / "model.safetensors").read_bytes()

        server.commit(REPO, {"evil.pkl": b"no", "train.py": b"no", "pretrained/model.bin": b"no"})
        for name in (f"hf://{REPO}", f"hf://{REPO}@{commit}"):
            assert list(ftor.load(name).predict(["a b c"])[0].tokens) == wanted
        assert not [request for request in server.requests if request.endswith((".pkl", ".py", ".bin"))]
        assert {path.name for path in (tmp_path / "cache").rglob("snapshots/*/*")} == set(files)

        use(monkeypatch, server.address, tmp_path / "cache", offline=True)
        count = len(server.requests)
        finished = run_here("predict", f"hf://{REPO}", "a b c")
        assert finished.code == 0, finished.err
        assert json.loads(finished.out)["tokens"] == wanted
        assert len(server.requests) == count


@SENDING
@pytest.mark.slow
def test_the_code_of_the_page(trained, tmp_path, monkeypatch):
    (code,) = blocks("docs/how-to/share-a-model.md", "python")
    shutil.copytree(trained, tmp_path / "runs" / "mirror-0")
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with hub() as server, contextlib.redirect_stdout(printed):
        use(monkeypatch, server.address, tmp_path / "cache")
        exec(compile(code, "share-a-model.md", "exec"), {})
    assert printed.getvalue().startswith(f"{server.address}/ann/mirror/commit/")


def test_what_can_go_wrong_is_one_line(tmp_path, monkeypatch):
    with hub() as server:
        use(monkeypatch, server.address, tmp_path)
        server.repos[REPO] = {}
        server.commit(REPO, {"model.bin": b"", "README.md": b"# a card"})
        finished = {
            name: run_here("predict", name, "a")
            for name in ("hf://ann/none", "hf://ann/mirror@old", "hf://ann/mirror", "hf://ann/--")
        }
    assert [one.code for one in finished.values()] == [1] * 4
    lines = [one.err.splitlines()[-1] for one in finished.values()]  # after the progress of fetching
    assert [line.split("; ")[0] for line in lines[:3]] == [
        f"error: hf://ann/none: not found on {server.address}",
        f"error: hf://ann/mirror@old: {server.address} has no such revision of it",
        "error: hf://ann/mirror: not a model of ftor: it has no config.toml",
    ]
    assert lines[3].startswith("error: hf://ann/--: ")


@SENDING
def test_a_file_that_cannot_be_sent(model, tmp_path, monkeypatch):
    with hub() as server:
        use(monkeypatch, server.address, tmp_path)
        server.accepts = False
        with pytest.raises(HubError, match=rf"^{REPO}: {server.address}: Error while uploading .*403"):
            model.push_to_hub(REPO)
    assert server.repos == {REPO: {}}


@pytest.mark.parametrize("offline", [False, True])
def test_without_a_network_it_fails_at_once(tmp_path, model, monkeypatch, offline):
    use(monkeypatch, NOWHERE, tmp_path, offline)
    messages = []
    for act in (lambda: ftor.load("hf://ann/mirror"), lambda: model.push_to_hub("ann/mirror")):
        begun = time.perf_counter()
        with pytest.raises(FtorError) as error:
            act()
        messages.append(str(error.value))
        assert time.perf_counter() - begun < 15
    why = "HF_HUB_OFFLINE is set" if offline else f"{NOWHERE} cannot be reached"
    assert messages[0] == f"hf://ann/mirror: not in the cache ({tmp_path}), and {why}"
    if offline:
        assert messages[1] == "ann/mirror: HF_HUB_OFFLINE is set, and this needs the network"
    else:
        assert messages[1].startswith(f"ann/mirror: {NOWHERE}: ")
    assert not any("\n" in message for message in messages)


@pytest.mark.parametrize("name", ["hf://", "hf://mirror", "hf://a/b/c", "hf://a/b@", "hf://a/", "hf:///b"])
def test_names(name):
    with pytest.raises(HubError, match="expected hf://owner/name or hf://owner/name@revision"):
        local_folder(name)


def test_folders_are_left_alone(tmp_path):
    assert local_folder(tmp_path) == tmp_path
    assert not is_remote("hf:/a/b")


def test_without_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    finished = run_here("predict", "hf://ann/mirror", "a")
    assert (finished.code, finished.out) == (1, "")
    wanted = "hf://ann/mirror: huggingface_hub is not installed: pip install 'ftor[hub]'"
    assert finished.err == f"error: {wanted}\n"


def test_every_file_that_a_model_saves_is_sent(model, tmp_path):
    model.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} <= set(FILES)
    assert not any(name.endswith((".pkl", ".bin", ".pt", ".py")) for name in hub_module.FILES)
