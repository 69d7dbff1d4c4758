from pathlib import Path

import pytest

from ftor.jobs.corpora import Request


def test_a_request_for_another_folder_names_the_same_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.cfg").write_text("A -> 'a'")
    (tmp_path / "model").mkdir()
    request = Request(("model",), Path("data"), "my.cfg").absolute()
    assert request == Request((str(tmp_path / "model"),), tmp_path / "data", str(tmp_path / "my.cfg"))
    assert Request(("hf://ann/mirror",)).absolute() == Request(("hf://ann/mirror",))


@pytest.mark.parametrize("grammar", ["own", "none", "geo"])
def test_a_folder_that_is_called_like_a_grammar_is_not_taken_for_it(tmp_path, monkeypatch, grammar):
    monkeypatch.chdir(tmp_path)
    (tmp_path / grammar).mkdir()
    assert Request(("hf://ann/mirror",), grammar=grammar).absolute().grammar == grammar
