"""An encoder or vectors are tried where sources are natural language; vectors, if most words have one."""

import random

import pytest

from ftor.datasets import DATASETS
from ftor.datasets.glove import PUBLIC
from ftor.datasets.minilm import ENCODER
from ftor.errors import FtorError
from ftor.reporting import SILENT
from ftor.text.reading import DataError
from ftor.tuning.look import look
from ftor.tuning.own_pairs import Request, plan_race
from ftor.tuning.race.candidates import SEQ2SEQ, candidates, configuration
from support.pairs import pairs_of


def made_up_words(count):
    draw = random.Random(0)
    return sorted({"".join(draw.choices("abcdefghij", k=6)) for _ in range(count)})


FREQUENT, RARE = made_up_words(200)[:100], made_up_words(200)[100:180]


def sentences(rare):
    """Pairs of frequent words, and each of the rare words once."""
    draw = random.Random(1)
    rows = [draw.choices(FREQUENT, k=5) for _ in range(200)]
    for row, word in zip(rows, rare, strict=False):
        row[2] = word
    return pairs_of((" ".join(row), " ".join(row[:2]).upper()) for row in rows)


def write_vectors(folder, words):
    (folder / PUBLIC).write_text("".join(f"{word} 0.5 {number} -1\n" for number, word in enumerate(words)))


def vector_findings(found):
    return [finding for finding in found.findings if finding.kind == "vectors"]


def test_the_seq2seq_reads_vectors_of_most_words(tmp_path):
    write_vectors(tmp_path, [*FREQUENT, *RARE[:60]])
    found = look(sentences(RARE), data_folder=tmp_path)
    (finding,) = vector_findings(found)
    assert finding.text == (
        "Sources are natural language: 180 words, 44 % seen once. glove.6B.100d.txt has vectors for 98 % of "
        "them as they occur, and for 89 % of the different ones."
    )
    assert found.vectors == PUBLIC
    assert "data.vectors" not in found.settings
    some = {one.name: one for one in candidates(found)}
    assert [name for name, one in some.items() if "data.vectors" in one.settings] == [SEQ2SEQ]
    config = configuration("x", [found.settings, some[SEQ2SEQ].settings], [])
    assert config.data.vectors == PUBLIC


def test_a_race_keeps_the_vectors_that_it_began_with(tmp_path):
    path = tmp_path / "pairs.tsv"
    rows = [f"{' '.join(pair.source)}\t{' '.join(pair.target)}\n" for pair in sentences(RARE)]
    path.write_text("".join(rows), "utf-8")
    request = Request.new(path)
    before = plan_race(request, tmp_path / "model", SILENT, tmp_path)
    write_vectors(tmp_path, [*FREQUENT, *RARE])
    write_encoder(tmp_path)
    resumed = plan_race(request, tmp_path / "model", SILENT, tmp_path)
    new = plan_race(request, tmp_path / "other", SILENT, tmp_path)
    assert [plan.look.reader for plan in (before, resumed, new)] == [None, None, ENCODER]
    assert resumed.candidates == before.candidates
    (tmp_path / "model" / "race" / "pretrained.json").unlink()
    (tmp_path / "model" / "race" / "results.jsonl").touch()
    with pytest.raises(FtorError, match="another version began this race; start it anew"):
        plan_race(request, tmp_path / "model", SILENT, tmp_path)


@pytest.mark.parametrize("words", [FREQUENT[:80], None], ids=["few", "none"])
def test_without_vectors_of_most_words_there_is_advice(tmp_path, words):
    if words is not None:
        write_vectors(tmp_path, words)
    found = look(sentences(RARE), data_folder=tmp_path)
    (finding,) = vector_findings(found)
    assert "ftor data fetch minilm" in finding.advice
    assert ("too few" in finding.advice) == (words is not None)
    assert found.vectors is None
    assert not any("data.vectors" in one.settings for one in candidates(found))


def test_a_damaged_file_is_no_file(tmp_path):
    (tmp_path / PUBLIC).write_text("")
    (finding,) = vector_findings(look(sentences(RARE), data_folder=tmp_path))
    assert "no pretrained vectors" in finding.text


def write_encoder(folder):
    for file in DATASETS["minilm"].files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()


def test_an_encoder_takes_the_place_of_vectors(tmp_path):
    write_vectors(tmp_path, [*FREQUENT, *RARE])
    write_encoder(tmp_path)
    found = look(sentences(RARE), data_folder=tmp_path)
    (finding,) = vector_findings(found)
    assert finding.text.endswith(f"The encoder {ENCODER} is there.")
    config = configuration("x", [found.settings, candidates(found)[-1].settings], [])
    assert config.training.learning_rate == 0.001
    assert (found.vectors, found.reader) == (None, ENCODER)
    some = {one.name: one for one in candidates(found)}
    config = configuration("x", [found.settings, some[SEQ2SEQ].settings], [])
    assert (config.model.reader, config.data.vectors) == (ENCODER, None)
    assert "pretrained encoder" in some[SEQ2SEQ].meaning


@pytest.mark.parametrize("words", [[], [*FREQUENT, *RARE]], ids=["alone", "with vectors"])
def test_an_encoder_needs_transformers(tmp_path, monkeypatch, words):
    write_vectors(tmp_path, words)
    write_encoder(tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    found = look(sentences(RARE), data_folder=tmp_path)
    (finding,) = vector_findings(found)
    assert "ftor[pretrained]" in finding.advice
    assert (found.reader, found.vectors) == (None, PUBLIC if words else None)


def test_an_encoder_that_lacks_a_file_is_none(tmp_path):
    write_encoder(tmp_path)
    (tmp_path / ENCODER / "tokenizer.json").unlink()
    assert look(sentences(RARE), data_folder=tmp_path).reader is None


@pytest.mark.parametrize("rare", [RARE, []])
def test_a_data_folder_that_does_not_exist(tmp_path, rare):
    with pytest.raises(DataError, match="none: no such folder"):
        look(sentences(rare), data_folder=tmp_path / "none")


def test_an_lstm_with_a_reader_of_the_user_learns_at_its_rate(tmp_path):
    found = look(sentences([]), data_folder=tmp_path)
    some = {one.name: one for one in candidates(found)}
    settings = [found.settings, some[SEQ2SEQ].settings]
    rates = [
        configuration("x", settings, overrides).training.learning_rate
        for overrides in ([], ["model.reader=mine"], ["model.reader=mine", "training.learning_rate=0.5"])
    ]
    assert rates == [0.004, 0.001, 0.5]


def test_sources_without_rare_words_need_no_vectors(tmp_path):
    write_vectors(tmp_path, FREQUENT)
    assert not vector_findings(look(sentences([]), data_folder=tmp_path))


def test_a_reader_that_cannot_be_read_is_told_before_the_race(tmp_path):
    pytest.importorskip("transformers")
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"a{n} b\tb a\n" for n in range(60)), "utf-8")
    request = Request.new(path, overrides=[f"model.reader={tmp_path}/none"])
    with pytest.raises(FtorError, match=r"model\.reader: .*none: there is no such folder"):
        plan_race(request, tmp_path / "model", SILENT, tmp_path)
