"""The files of an experiment: found, generated or missing."""

import pytest

from ftor.config import Config, ConfigError
from ftor.datasets import DATASETS
from ftor.datasets.minilm import ENCODER
from ftor.datasets.mirror import DEFAULT_SEED, generate
from ftor.datasets.splits import files_of, load_splits, missing_files, require_files
from ftor.reporting import SILENT
from ftor.text.reading import DataError


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("FTOR_DATA", raising=False)


def write(path, text="a\tb\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def texts(pairs):
    return [(" ".join(pair.source), " ".join(pair.target)) for pair in pairs]


def test_missing_pairs_are_generated_once(tmp_path):
    config = Config.load("mirror")
    splits = load_splits(config, None, tmp_path / "run", SILENT)
    expected = generate("mirror", DEFAULT_SEED)
    assert [texts(splits.train), texts(splits.dev), texts(splits.test)] == [
        *(expected["train"], expected["dev"], expected["test"])
    ]
    write(tmp_path / "run/data/mirror/dev.tsv")  # the files of the run count, even beside other data
    write(tmp_path / "data/mirror/dev.tsv", "c\td\n")
    assert texts(load_splits(config, None, tmp_path / "run", SILENT).dev) == [("a", "b")]


def test_nothing_is_generated_beside_files_that_are_there(tmp_path):
    write(tmp_path / "data/mirror/dev.tsv")
    with pytest.raises(
        DataError,
        match=r"^mirror/train.tsv, mirror/test.tsv: no such file; looked in data, .*: ftor data fetch mirror",
    ):
        load_splits(Config.load("mirror"), None, tmp_path / "run", SILENT)
    assert not (tmp_path / "run").exists()


def test_experiments_without_dev_and_test_files(tmp_path):
    write(tmp_path / "a.tsv")
    splits = load_splits(Config.load("transducer", ['data.train="a.tsv"']), None, tmp_path / "run", SILENT)
    assert (texts(splits.train), splits.dev, splits.test) == ([("a", "b")], None, [])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ([], DataError, "data.train: no TSV file; give one with --train FILE"),
        (['data.task="miror"'], ConfigError, "data.task: expected pairs, atis, .*, found 'miror'"),
    ],
)
def test_settings_that_name_no_data(tmp_path, settings, error, message):
    with pytest.raises(error, match=message):
        load_splits(Config.load("transducer", settings), None, tmp_path / "run", SILENT)


def test_files_are_named_from_the_folder_of_the_run(tmp_path):
    """Wherever both are moved to, and before the folder is there."""
    for folder in (tmp_path / "here", tmp_path / "there"):
        write(folder / "a.tsv", f"{folder.name}\tb\n")
        config = Config.load("transducer", ['data.train="../../a.tsv"'])
        splits = load_splits(config, None, folder / "runs" / "x", SILENT)
        assert splits.train[0].source == (folder.name,)


class TestRequiredFiles:
    def test_generated_pairs_are_not_required(self):
        require_files(Config.load("mirror"), None)

    def test_published_pairs_are(self, tmp_path):
        with pytest.raises(
            DataError, match=r"^geo-iid: geo/iid_train.tsv: no such file; .* ftor data fetch geo$"
        ):
            require_files(Config.load("geo-iid"), None)
        for split in ("train", "dev", "test"):
            write(tmp_path / f"data/geo/iid_{split}.tsv")
        with pytest.raises(DataError, match=r"^geo-iid: glove.6B.100d.txt: no .* fetch glove$"):
            require_files(Config.load("geo-iid"), None)
        write(tmp_path / "data/glove.6B.100d.txt", "a 1 2\n")
        with pytest.raises(DataError, match=r"^geo-iid: geo/geobase.pl: no .* fetch geobase$"):
            require_files(Config.load("geo-iid"), None)
        write(tmp_path / "data/geo/geobase.pl", "")
        require_files(Config.load("geo-iid"), None)

    def test_so_is_a_reader_that_can_be_fetched(self, tmp_path, monkeypatch):
        config = Config.load("geo-iid-beyond")
        for file in files_of(Config.load("geo-iid")):
            write(tmp_path / "data" / file)
        with pytest.raises(DataError, match=rf"^geo-iid-beyond: {ENCODER}/config.json: no .* fetch minilm$"):
            require_files(config, None)
        other = Config.load("geo-iid-beyond", ["model.reader=my/encoder"])
        require_files(other, None)  # nobody says what files it has
        cache = tmp_path / "hub"
        snapshot = cache / f"models--{ENCODER.replace('/', '--')}"
        write(snapshot / "snapshots/1/config.json", "{}")
        write(snapshot / "refs/main", "1")
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
        require_files(config, None)  # transformers has it
        monkeypatch.undo()
        for file in DATASETS["minilm"].files:
            write(tmp_path / "data" / file)
        assert missing_files(config, tmp_path / "data") == []

    def test_so_is_the_folder_that_the_user_names(self, tmp_path):
        with pytest.raises(DataError, match="none: no such folder"):
            require_files(Config.load("mirror"), tmp_path / "none")
