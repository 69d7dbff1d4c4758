"""Pretrained vectors: read from small files of the real format."""

from pathlib import Path

import numpy as np
import pytest

from ftor.text.reading import DataError
from ftor.text.vectors import VectorFile, read_vectors

FILE = "the 1 2 3\nof 0.5 -0.25 1e-3\né 0 0 1\n"


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_only_the_wanted_words_are_kept(tmp_path):
    vectors = read_vectors(write(tmp_path / "glove.txt", FILE), ["of", "é", "unheard"])
    assert sorted(vectors.by_word) == ["of", "é"]
    assert vectors.size == 3
    np.testing.assert_allclose(vectors.by_word["of"], [0.5, -0.25, 0.001])
    numbers = [0.5, -0.25, 0.001, 0, 0, 1]
    assert vectors.mean == pytest.approx(np.mean(numbers))
    assert vectors.deviation == pytest.approx(np.std(numbers))


def test_other_words_have_vectors_of_their_own_that_never_change(tmp_path):
    path = write(tmp_path / "glove.txt", FILE)
    table = read_vectors(path, ["the", "of"]).table(["p", "the", "q"])
    again = read_vectors(path, ["the", "of"]).table(["q", "p"])
    np.testing.assert_array_equal(table[1], [1, 2, 3])
    np.testing.assert_array_equal(table[[2, 0]], again)
    assert not np.array_equal(table[0], table[2])
    many = read_vectors(path, ["the", "of"]).table([f"word {number}" for number in range(20_000)])
    assert many.mean() == pytest.approx(read_vectors(path, ["the", "of"]).mean, abs=0.02)
    assert many.std() == pytest.approx(read_vectors(path, ["the", "of"]).deviation, rel=0.02)


def test_a_file_without_any_of_the_words_still_gives_vectors(tmp_path):
    table = read_vectors(write(tmp_path / "glove.txt", FILE), ["x"]).table(["x", "y"])
    assert table.shape == (2, 3)
    assert np.isfinite(table).all()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("the 1 2\nof 1\n", ":2: expected a word and 2 numbers, found 'of 1'"),
        ("the\n", ":1: expected a word and its numbers, found 'the'"),
        ("the 1 2\nof 1 b\n", ":2: expected a word and 2 finite numbers, found 'of 1 b'"),
        ("the 1 2\nof 1 nan\n", ":2: expected a word and 2 finite numbers, found 'of 1 nan'"),
        ("the 1 2\nx of b 2\n", ":2: expected a word and 2 finite numbers, found 'x of b 2'"),
        ("the 1 2\n\nof 1 2\n", ":2: expected a word and 2 numbers"),
    ],
    ids=["empty", "short", "no-numbers", "letters", "nan", "phrase", "blank-line"],
)
def test_a_broken_file_is_named_with_its_line(tmp_path, content, message):
    path = write(tmp_path / "glove.txt", content)
    with pytest.raises(DataError) as caught:
        read_vectors(path, ["the", "of"])
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_phrases_and_a_header_are_passed_over(tmp_path):
    path = write(tmp_path / "glove.txt", "3 2\nthe 1 2\n. . . 3 4\nof 5 6\n")
    vectors = read_vectors(path, ["the", ".", "of"])
    assert {word: vector.tolist() for word, vector in vectors.by_word.items()} == {
        "the": [1, 2],
        "of": [5, 6],
    }


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        read_vectors(tmp_path / "none.txt", ["the"])


class TestVectorFile:
    """Words are looked up again and again, and have the vectors of `read_vectors`."""

    def test_the_vectors_are_those_of_reading_the_file(self, tmp_path):
        rng = np.random.default_rng(0)
        words = [*(f"w{number}" for number in range(200)), "w7", "of", "é", "."]  # w7 twice
        rows = [f"{word} {' '.join(map(str, rng.normal(size=4)))}" for word in words]
        rows.insert(3, ". . . 1 2 3 4")
        path = write(tmp_path / "glove.txt", "204 4\n" + "\r\n".join(rows))
        file = VectorFile(path)
        asked = [*words, "w", "w2000", "unheard", "\udc80"]
        wanted = read_vectors(path, asked)
        assert file.size == wanted.size == 4
        for some in (asked, asked[:3], asked[::-1]):
            found = file.find(some)
            assert found.keys() == set(some) & wanted.by_word.keys()
            assert all(np.array_equal(found[word], wanted.by_word[word]) for word in found)

    def test_equal_hashes_do_not_confuse_words(self, tmp_path, monkeypatch):
        monkeypatch.setattr("ftor.text.vectors.hash", lambda word: len(word), raising=False)
        file = VectorFile(write(tmp_path / "glove.txt", FILE))
        assert {word: vector.tolist() for word, vector in file.find(["the", "xyz", "of", "oz"]).items()} == {
            "the": [1, 2, 3],
            "of": pytest.approx([0.5, -0.25, 0.001]),
        }

    def test_a_broken_line_is_named(self, tmp_path):
        with pytest.raises(DataError, match=r"glove.txt:2: expected a word and 2 numbers, found 'of 1'"):
            VectorFile(write(tmp_path / "glove.txt", "the 1 2\nof 1\n"))
        file = VectorFile(write(tmp_path / "glove.txt", "the 1 2\nof 1 b\n"))
        with pytest.raises(DataError, match=r"glove.txt: of: expected a word and 2 finite numbers"):
            file.find(["of"])
