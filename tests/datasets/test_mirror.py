"""The mirror task: what is generated follows the same distributions as the published files."""

import os
from collections import Counter
from pathlib import Path

import pytest
from scipy.stats import binomtest, chisquare

from ftor.datasets.mirror import SPLITS, generate, mirror, mirror_xyz, mirror_xyz_unseen

LETTERS = "abcdefghijk"
FILES = [(task, name) for task, splits in SPLITS.items() for name in splits]


def published(task):
    if not os.environ.get("FTOR_DATA"):
        pytest.skip("FTOR_DATA does not say where the published files are: nothing to compare with")
    folder = Path(os.environ["FTOR_DATA"]) / task.replace("-", "_")
    if not folder.is_dir():
        pytest.skip(f"no folder {folder} of the published files: nothing to compare with")
    return {
        path.stem: [tuple(line.split("\t")) for line in path.read_text().splitlines()]
        for path in folder.glob("*.tsv")
    }


@pytest.fixture(params=["generated", "published"])
def splits(request):
    """Give a task's splits, as we generate them and as they were published."""
    return generate if request.param == "generated" else published


def strings(pairs):
    """The sources without their blanks."""
    return [source.replace(" ", "") for source, _ in pairs]


def check_counts(observed, weights):
    """Check that outcomes occur as often as their weights say, and no others do."""
    assert set(observed) <= set(weights)
    scale = sum(observed.values()) / sum(weights.values())
    counts = [observed[outcome] for outcome in weights]
    if len(weights) > 1:
        assert chisquare(counts, [scale * weight for weight in weights.values()]).pvalue > 1e-3


def uniform(outcomes):
    return dict.fromkeys(outcomes, 1.0)


@pytest.mark.parametrize(("task", "name"), FILES)
class TestEverySplit:
    def test_has_the_published_size(self, splits, task, name):
        assert len(splits(task)[name]) == {"train": 4000, "dev": 200, "dev_iid": 500, "test": 1000}[name]

    def test_mirrors_its_sources(self, splits, task, name):
        for source, target in splits(task)[name]:
            assert target.split() == source.split() + source.split()[::-1]


@pytest.mark.parametrize("task", SPLITS)
def test_the_names_of_the_splits(splits, task):
    assert set(splits(task)) == {"train", "dev", "test"} | ({"dev_iid"} if task == "mirror" else set())


@pytest.mark.parametrize(
    ("name", "lengths"),
    [("train", range(3, 10)), ("dev", [10]), ("dev_iid", range(3, 10)), ("test", range(11, 21))],
)
def test_lengths_and_symbols_of_mirror_are_uniform(splits, name, lengths):
    sources = strings(splits("mirror")[name])
    check_counts(Counter(map(len, sources)), uniform(lengths))
    check_counts(Counter("".join(sources)), uniform(LETTERS))


@pytest.mark.parametrize("name", ["train", "dev"])
class TestSeenCombinations:
    """A base string of length 3..9 over a–k; up to length 6, a fifth of them get `xyz` somewhere."""

    def test_share_of_clusters(self, splits, name):
        sources = strings(splits("mirror-xyz")[name])
        clusters = sum("xyz" in source for source in sources)
        assert binomtest(clusters, len(sources), 0.2 * 4 / 7).pvalue > 1e-2  # 457 of 4000; published: 474

    def test_without_their_clusters_they_are_mirrors(self, splits, name):
        bases = [source.replace("xyz", "", 1) for source in strings(splits("mirror-xyz")[name])]
        check_counts(Counter(map(len, bases)), uniform(range(3, 10)))
        check_counts(Counter("".join(bases)), uniform(LETTERS))

    def test_a_cluster_is_anywhere_and_fits(self, splits, name):
        sources = [source for source in strings(splits("mirror-xyz")[name]) if "xyz" in source]
        weights = {(base, at): 1 / (base + 1) for base in range(3, 7) for at in range(base + 1)}
        check_counts(Counter((len(source) - 3, source.index("xyz")) for source in sources), weights)


class TestUnseenCombinations:
    """Uniform strings over 14 symbols, kept if they hold x, y or z but not xyz."""

    def test_the_constraint(self, splits):
        for source in strings(splits("mirror-xyz")["test"]):
            assert set("xyz") & set(source)
            assert "xyz" not in source

    def test_longer_strings_are_kept_more_often(self, splits):
        sources = strings(splits("mirror-xyz")["test"])
        # xyz itself, one in 14³ at each place, is rare enough to leave out
        check_counts(Counter(map(len, sources)), {n: 1 - (11 / 14) ** n for n in range(3, 10)})

    def test_symbols_of_each_kind_are_uniform(self, splits):
        counts = Counter("".join(strings(splits("mirror-xyz")["test"])))
        check_counts(Counter({s: counts[s] for s in LETTERS}), uniform(LETTERS))
        check_counts(Counter({s: n for s, n in counts.items() if s not in LETTERS}), uniform("xyz"))


@pytest.mark.parametrize("draw", [mirror, mirror_xyz, mirror_xyz_unseen])
class TestRepeatability:
    def test_the_seed_decides(self, draw):
        assert draw(50, range(3, 10), 1) == draw(50, range(3, 10), 1)
        assert draw(50, range(3, 10), 1) != draw(50, range(3, 10), 2)

    def test_a_smaller_set_is_the_beginning_of_a_larger_one(self, draw):
        assert draw(10, range(3, 10), 1) == draw(50, range(3, 10), 1)[:10]

    def test_lengths_are_obeyed(self, draw):
        assert set(map(len, strings(draw(200, [4, 30], 0)))) - {4 + 3} == {4, 30}

    @pytest.mark.parametrize("lengths", [[], [0, 3]], ids=["none", "zero"])
    def test_impossible_lengths_are_named(self, draw, lengths):
        with pytest.raises(ValueError, match=r"lengths: expected .* found"):
            draw(1, lengths, 0)


def test_no_two_splits_share_a_seed():
    everything = generate("mirror", seed=3)
    assert generate("mirror", seed=3) == everything
    assert generate("mirror", seed=4)["train"] != everything["train"]
    assert everything["train"][:500] != everything["dev_iid"]


def test_an_unknown_task_is_named():
    with pytest.raises(ValueError, match=r"expected mirror or mirror-xyz, found 'miror'"):
        generate("miror")
