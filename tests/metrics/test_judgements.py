"""Files of judgements."""

import numpy as np
import pytest

from ftor.errors import FtorError
from ftor.metrics.judgements import Judgements, digest, read_judgements, write_judgements


def judged(seed):
    draw = np.random.default_rng(seed)
    right = {name: draw.random(280) < 0.7 for name in ("exact_match", "execution_accuracy")}
    return {split: Judgements(f"{split}-pairs", right) for split in ("dev", "test")}


def test_they_come_back(tmp_path):
    written = judged(0)
    write_judgements(tmp_path / "new" / "a.json.gz", written)
    read = read_judgements(tmp_path / "new" / "a.json.gz")
    assert list(read) == ["dev", "test"]
    for split, judgements in written.items():
        assert read[split].pairs == judgements.pairs
        assert {n: r.tolist() for n, r in read[split].right.items()} == {
            n: r.tolist() for n, r in judgements.right.items()
        }


def test_the_lengths_of_the_sources_come_back(tmp_path):
    right = {"exact_match": np.array([True, False])}
    splits = {"dev": Judgements("p", right, (3, 12)), "test": Judgements("q", right)}
    write_judgements(tmp_path / "a.json.gz", splits)
    read = read_judgements(tmp_path / "a.json.gz")
    assert (read["dev"].lengths, read["test"].lengths) == ((3, 12), None)


def test_the_same_judgements_are_the_same_few_bytes(tmp_path):
    for name in "ab":
        write_judgements(tmp_path / name, judged(1))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").stat().st_size < 600


def test_other_pairs_have_another_digest():
    pairs = [(["a", "b"], ["c"]), (["d"], ["e"])]
    same = [(("a", "b"), ("c",)), (("d",), ("e",))]
    assert digest(pairs) == digest(same)
    others = [pairs[::-1], pairs[:1], [(["a"], ["b", "c"]), pairs[1]], [(["a b"], ["c"]), pairs[1]]]
    assert len({digest(other) for other in [pairs, *others]}) == 5


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FtorError, match=r"none.json.gz: not a file of judgements"):
        read_judgements(tmp_path / "none.json.gz")
