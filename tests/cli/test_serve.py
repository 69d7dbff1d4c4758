"""`ftor serve` as a process: its address, its stop, its one-line errors."""

import http.client
import json
import re
import signal
import socket
import sys

import pytest

from support.served import SECONDS
from support.tiny import end, run_here, start


@pytest.mark.slow
def test_it_serves_until_it_is_told_to_stop(trained, tmp_path):
    key = tmp_path / "keys.txt"
    key.write_text("# of the tests\nlong-key\n")
    process = start("serve", f"mine={trained}", trained, "--port", "0", "--api-key-file", key)
    try:
        url = process.stdout.readline().strip()
        port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)", url)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        headers = {"Content-Type": "application/json", "Authorization": "Bearer long-key"}
        connection.request("POST", "/v1/predict", json.dumps({"sentences": ["a secret"]}), headers)
        response = connection.getresponse()
        assert response.status == 200
        assert json.loads(response.read())["predictions"][0]["prediction"]
        connection.request("GET", "/v1/models", headers=headers)
        names = [model["name"] for model in json.loads(connection.getresponse().read())["models"]]
        assert names == ["mine", trained.name]
        connection.close()
    finally:
        process.send_signal(signal.SIGTERM)
        finished = end(process)
    assert finished.code == 0
    assert "POST /v1/predict 200" in finished.err
    assert "secret" not in finished.err
    assert "Traceback" not in finished.err


def test_a_port_in_use_is_one_line(trained):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        finished = run_here("serve", trained, "--port", port)
    assert finished.code == 1
    message = "Address already in use; choose another with --host and --port"
    assert finished.err == f"error: 127.0.0.1:{port}: {message}\n"


def test_no_such_host_and_no_model_are_one_line(trained, tmp_path):
    finished = run_here("serve", trained, "--host", "no.such.host.invalid")
    assert finished.code == 1
    assert len(finished.err.splitlines()) == 1
    finished = run_here("serve", tmp_path / "none", "--port", "0")
    message = f"error: {tmp_path / 'none'}: not a model folder: it does not exist"
    assert finished.err.splitlines() == ["loading none", message]


def test_names_and_keys(trained, tmp_path):
    twice = run_here("serve", trained, trained)
    assert twice.code == 2
    assert f"are both called {trained.name}" in " ".join(twice.err.replace("│", " ").split())
    (tmp_path / "none.cfg").write_text("A -> 'a'")
    reserved = run_here("serve", trained, "--grammar", tmp_path / "none.cfg")
    assert reserved.code == 2
    (tmp_path / "keys").write_text("# none\n\n")
    finished = run_here("serve", trained, "--api-key-file", tmp_path / "keys")
    assert finished.err == f"error: {tmp_path / 'keys'}: expected a key on a line, found none\n"
    (tmp_path / "keys").write_bytes(b"\xff\xfek\0")
    finished = run_here("serve", trained, "--api-key-file", tmp_path / "keys")
    assert finished.err == f"error: {tmp_path / 'keys'}: expected keys in UTF-8, found other bytes\n"


def test_without_the_extra_it_says_what_to_install(trained, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("ftor.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    finished = run_here("serve", trained)
    assert (finished.code, finished.err) == (
        1,
        "error: uvicorn is not installed: pip install 'ftor[serve]'\n",
    )
