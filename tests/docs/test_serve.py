"""The requests of the page on serving, as they stand."""

import json
import shutil
import subprocess

import pytest

from ftor.grammar import Grammar
from ftor.model.model import Model
from support.pages import PAGES, blocks
from support.served import Served

PAGE = "docs/how-to/serve.md"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_requests_are_answered(trained):
    model = Model.load(trained)
    with Served({"tiny": model}, {"my": Grammar.parse("A -> 'a'")}, keys=["KEY"]) as served:
        requests = [request for block in blocks(PAGE, "sh") for request in block.split("\ncurl ")]
        for request in requests:
            command = request.removeprefix("curl ").replace("http://127.0.0.1:8000", served.url)
            key = "" if "Bearer" in command else " -H 'Authorization: Bearer KEY'"
            shell = ["sh", "-c", f"curl -sS --fail {command.strip()}{key}"]
            done = subprocess.run(shell, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, done.stderr
            if "/metrics" not in command:
                assert json.loads(done.stdout)
            if "/v1/predict" in command:
                assert len(json.loads(done.stdout)["predictions"]) == 2
    assert len(requests) == 5


def test_fields_paths_and_limits_are_those_of_the_server(trained):
    text = PAGES[PAGE].read_text("utf-8")
    served = Served({"tiny": Model.load(trained)})
    described = served.app.openapi()
    body = described["paths"]["/v1/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert [name for name in (*body["properties"], *described["paths"]) if f"`{name}`" not in text] == []
    served.close()
