"""Models on a hub: sent to and fetched from one on this machine."""

import json
import subprocess
import sys

import pytest

import ftor
from ftor.model import hub as hub_module
from ftor.model.hub import FILES, HubError, is_remote, local_folder
from support.hub import hub
from support.tiny import environment, run_here

REPO = "ann/mirror"
ATTEMPTS = """
import time, ftor
from ftor.errors import FtorError
model = ftor.load({!r})
for act in (lambda: ftor.load("hf://ann/mirror"), lambda: model.push_to_hub("ann/mirror")):
    begin = time.perf_counter()
    try:
        act()
    except FtorError as error:
        print(error)
    assert time.perf_counter() - begin < 20
"""


def in_a_process(code, address, cache, **variables):
    """Run code in a process whose hub is at `address`. The library reads these variables at its start."""
    variables = {
        "HF_ENDPOINT": address,
        "HF_HOME": str(cache),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_TOKEN": "a-token",
        **variables,
    }
    return subprocess.run(
        [sys.executable, "-c", code],
        env={key: value for key, value in environment().items() if not key.startswith("HF_")} | variables,
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.slow
def test_there_and_back(trained, tmp_path):
    """Push a model, fetch it again, and use it from the command line and without a network."""
    predict = (
        "import ftor, json, sys\n"
        "for name in sys.argv[1:] or {names!r}:\n"
        "    print(json.dumps(ftor.load(name).predict(['a b c'])[0].tokens))\n"
    )
    (trained_prediction,) = ftor.load(trained).predict(["a b c"])
    wanted = list(trained_prediction.tokens)
    with hub() as server:
        pushed = in_a_process(
            f"import ftor\nprint(ftor.load({str(trained)!r}).push_to_hub({REPO!r}))",
            server.address,
            tmp_path / "1",
        )
        assert pushed.returncode == 0, pushed.stderr
        ((commit, files),) = server.repos[REPO].items()
        assert pushed.stdout.strip() == f"{server.address}/{REPO}/commit/{commit}"
        assert set(files) == {"config.toml", "vocab.json", "model.safetensors", "metrics.json", "README.md"}
        assert files["model.safetensors"] == (trained / "model.safetensors").read_bytes()

        server.commit(REPO, {"evil.pkl": b"no", "train.py": b"no", "pretrained/model.bin": b"no"})
        names = [f"hf://{REPO}", f"hf://{REPO}@{commit}"]
        fetched = in_a_process(predict.format(names=names), server.address, tmp_path / "2")
        assert fetched.returncode == 0, fetched.stderr
        assert [json.loads(line) for line in fetched.stdout.splitlines()] == [wanted, wanted]
        assert not [request for request in server.requests if request.endswith((".pkl", ".py", ".bin"))]
        cached = {path.name for path in (tmp_path / "2").rglob("snapshots/*/*")}
        assert cached == set(files)

        code = f"from ftor.cli.main import main; main(['predict', 'hf://{REPO}', 'a b c'])"
        count = len(server.requests)
        offline = in_a_process(code, server.address, tmp_path / "2", HF_HUB_OFFLINE="1")
        assert offline.returncode == 0, offline.stderr
        assert json.loads(offline.stdout)["tokens"] == wanted
        assert len(server.requests) == count


@pytest.mark.slow
def test_what_can_go_wrong_is_one_line(tmp_path):
    code = (
        "import ftor\nfrom ftor.cli.main import main\n"
        "for name in ('hf://ann/none', 'hf://ann/mirror@old', 'hf://ann/mirror', 'hf://ann/--'):\n"
        "    try:\n        main(['predict', name, 'a'])\n"
        "    except SystemExit as done:\n        print(done.code)\n"
    )
    with hub() as server:
        server.repos[REPO] = {}
        server.commit(REPO, {"model.bin": b"", "README.md": b"# a card"})
        finished = in_a_process(code, server.address, tmp_path)
    assert finished.stdout.split() == ["1"] * 4
    lines = [line for line in finished.stderr.splitlines() if line]
    assert [line.split("; ")[0] for line in lines[:3]] == [
        f"error: hf://ann/none: not found on {server.address}",
        f"error: hf://ann/mirror@old: {server.address} has no such revision of it",
        "error: hf://ann/mirror: not a model of ftor: it has no config.toml",
    ]
    assert lines[3].startswith("error: hf://ann/--: ")
    assert len(lines) == 4


@pytest.mark.slow
def test_without_a_network_it_fails_at_once(tmp_path, trained):
    code = ATTEMPTS.format(str(trained))
    nowhere = "http://127.0.0.1:9"
    finished = in_a_process(code, nowhere, tmp_path)
    assert finished.returncode == 0, finished.stderr
    first, second = finished.stdout.splitlines()
    assert first.startswith(f"hf://ann/mirror: not in the cache ({tmp_path}")
    assert first.endswith(f"and {nowhere} cannot be reached")
    assert second.startswith(f"ann/mirror: {nowhere}: ")
    finished = in_a_process(code, nowhere, tmp_path, HF_HUB_OFFLINE="1")
    first, second = finished.stdout.splitlines()
    assert first.endswith("and HF_HUB_OFFLINE is set")
    assert second == "ann/mirror: HF_HUB_OFFLINE is set, and this needs the network"


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
