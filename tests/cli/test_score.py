import json

import pytest

from support.tiny import run_here, write_lines


def test_json_lines(trained, tmp_path):
    path = write_lines(tmp_path / "pairs.tsv", "a b\ta b b a", "a\tzebra")
    finished = run_here("score", trained, path)
    first, second = map(json.loads, finished.out.splitlines())
    assert finished.code == 0
    assert (first["source"], first["target"], first["tokens"]) == ("a b", "a b b a", ["a", "b", "b", "a"])
    assert sum(first["token_scores"]) + first["length_score"] == pytest.approx(first["score"])
    assert second["score"] is None
    assert "'zebra' is not in the vocabulary" in second["reason"]
    assert finished.err == "warning: the model can never write 1 of 2 targets\n"
    out = tmp_path / "out.jsonl"
    assert run_here("score", trained, path, "--output", out).out == ""
    assert out.read_text() == finished.out


def test_the_score_is_that_of_predict(trained, tmp_path):
    record = json.loads(run_here("predict", trained, "a b c").out)
    path = write_lines(tmp_path / "pairs.tsv", f"a b c\t{record['prediction']}")
    assert json.loads(run_here("score", trained, path).out)["score"] == pytest.approx(
        record["score"], abs=1e-5
    )


def test_bad_files(trained, tmp_path):
    finished = run_here("score", trained, tmp_path / "none.tsv")
    assert (finished.code, finished.out) == (1, "")
    assert "none.tsv: No such file or directory" in finished.err
