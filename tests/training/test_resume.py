"""A run that was stopped or killed continues to the same end."""

import re
import shlex
import signal
import time
from dataclasses import replace

import pytest

from ftor.config import Config
from ftor.model.tensors import CheckpointError, load_tensors
from ftor.text.reading import Pair
from ftor.training.resume import fingerprint
from ftor.training.trainer import Trainer
from support import tiny
from support.tiny import assert_same_run, end, run_here, start, train_arguments

pytestmark = pytest.mark.slow

EVERY_STEP = {"training.checkpoint_minutes": 1e-9}


def state_of(folder):
    """The description of the newest checkpoint of a run. None while there is none."""
    path = folder / "checkpoint.safetensors"
    try:
        return load_tensors(path)[1]
    except CheckpointError:
        return None


def wait_until(true, process):
    """Wait until something is true that `process` does."""
    until = time.monotonic() + 60
    while not true():
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            pytest.fail(f"it did not happen: {end(process)}")
        time.sleep(0.001)


# Moments at which a file is replaced: 1 config; 2, 3 config again and vocabulary; a checkpoint takes three
# (the first one two), 4–5, 6–8, …; weights are 15 and 32, the log 19 and 36, metrics and card 37, 38.
MOMENTS = ["1a", "4a", "7a", "15b", "17a", "18a", "32a", "37b"]


@pytest.fixture(scope="module")
def killed_runs(data, tmp_path_factory):
    """Give runs that were killed, each at one of the moments, and then resumed."""
    folder = tmp_path_factory.mktemp("killed")
    arguments = train_arguments(data, folder, EVERY_STEP)
    place = arguments.index("--out")
    del arguments[place : place + 2]
    finished = end(start(folder, ",".join(MOMENTS), *arguments, module="support.killed_runs"))
    assert finished.code == 0, finished.err
    return folder


class TestKilled:
    @pytest.mark.parametrize("moment", MOMENTS)
    def test_a_resumed_run_equals_one_that_was_not_killed(self, killed_runs, trained, moment):
        said = (killed_runs / f"{moment}.txt").read_text()
        assert "model in" in said, said
        assert_same_run(killed_runs / moment, trained)

    @pytest.mark.parametrize(
        "moment",
        [
            lambda folder: state_of(folder) is not None,
            lambda folder: (state := state_of(folder)) is not None and state["epoch"] == 1 <= state["step"],
            lambda folder: (folder / "model.safetensors").exists(),
        ],
        ids=["first checkpoint", "within an epoch", "first weights"],
    )
    def test_a_run_killed_by_another_process(self, data, tmp_path, trained, moment):
        folder = tmp_path / "run"
        process = start(*train_arguments(data, folder, EVERY_STEP))
        wait_until(lambda: moment(folder), process)
        process.kill()
        assert end(process).code == -signal.SIGKILL
        assert not (folder / "metrics.json").exists()
        finished = run_here("train", "--resume", folder)
        assert finished.code == 0, finished.err
        assert_same_run(folder, trained)


class TestStopped:
    """Ctrl-C, or SIGTERM, which a machine sends before it shuts down."""

    def test_it_saves_and_says_how_to_resume(self, data, tmp_path, run):
        folder = tmp_path / "a run"
        process = start(*train_arguments(data, folder, {"training.epochs": 8}))
        wait_until((folder / "log.jsonl").exists, process)
        process.send_signal(signal.SIGINT)
        stopped = end(process)
        assert (stopped.code, stopped.out) == (1, "")
        assert not (folder / "metrics.json").exists()
        assert state_of(folder)["step"] > 0
        command = shlex.split(re.search(r"^stopped; to resume: (.*)$", stopped.err, re.M)[1])
        assert command == ["ftor", "train", "--resume", str(folder)]
        assert run_here(*command[1:]).code == 0
        assert_same_run(folder, run("whole", training__epochs=8))

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_the_command_that_resumes_names_the_data_folder(self, data, tmp_path, monkeypatch, number):
        def interrupt(*_):
            signal.raise_signal(number)
            return step(*_)

        step = Trainer.step
        monkeypatch.setattr(Trainer, "step", interrupt)
        arguments = ["--train", "train.tsv", "--data-dir", data, "--out", tmp_path / "run"]
        stopped = run_here("train", "transducer", *arguments, *tiny.set_arguments({}))
        assert stopped.code == 1
        assert f"ftor train --resume {tmp_path / 'run'} --data-dir {data}" in stopped.err


class TestResumed:
    def test_a_changed_grammar_is_an_error(self, run, tmp_path):
        path = tmp_path / "my.cfg"
        path.write_text("S -> 'a' S | 'a'")
        folder = run("run", decoding__grammar=str(path))
        assert run_here("train", "--resume", folder, "--set", "training.epochs=3").code == 0
        path.write_text("S -> 'b' S | 'b'")
        finished = run_here("train", "--resume", folder, "--set", "training.epochs=4")
        assert finished.code == 1
        assert f"{folder / 'grammar.cfg'}: the grammar is not that of {path}" in finished.err

    def test_a_finished_run_does_not_change(self, copy, trained):
        finished = run_here("train", "--resume", copy)
        assert finished.code == 0, finished.err
        assert_same_run(copy, trained)

    def test_more_epochs_give_the_longer_run(self, copy, run):
        finished = run_here("train", "transducer", "--resume", copy, "--set", "training.epochs=4")
        assert finished.code == 0, finished.err
        assert_same_run(copy, run("longer", training__epochs=4))
        assert Config.load(copy / "config.toml").training.epochs == 4

    def test_fewer_epochs_than_are_done_are_an_error(self, copy, trained):
        finished = run_here("train", "--resume", copy, "--set", "training.epochs=1")
        assert finished.code == 2
        assert (
            f"--set training.epochs=1: expected at least 2, which {copy} has already trained" in finished.err
        )
        assert_same_run(copy, trained)

    def test_a_run_whose_rates_fall_keeps_its_number_of_epochs(self, run):
        folder = run("run", training__schedule="linear")
        assert "training.epochs=N" not in (folder / "README.md").read_text()
        finished = run_here("train", "--resume", folder, "--set", "training.epochs=3")
        assert finished.code == 2
        assert "--set training.epochs: a resumed run keeps its settings" in finished.err

    def test_unfinished_files_are_removed(self, copy, trained):
        (copy / ".model.safetensors.4711").write_bytes(b"half of something")
        assert run_here("train", "--resume", copy).code == 0
        assert_same_run(copy, trained)

    def test_a_checkpoint_that_was_not_yet_renamed_is_used(self, copy, trained):
        (copy / "checkpoint.safetensors").rename(copy / "checkpoint.incoming.safetensors")
        for name in ("checkpoint.safetensors", "checkpoint.previous.safetensors"):
            (copy / name).write_bytes(b"torn")
        assert run_here("train", "--resume", copy).code == 0
        assert_same_run(copy, trained)

    def test_if_the_newest_checkpoint_is_damaged_the_one_before_is_used(self, copy, trained):
        newest = copy / "checkpoint.safetensors"
        newest.write_bytes(newest.read_bytes()[:-100])
        finished = run_here("train", "--resume", copy)
        assert finished.code == 0
        assert re.search(r"warning: .*checkpoint.safetensors: .*damaged", finished.err)
        assert "epoch 2, step 1" in finished.err
        assert_same_run(copy, trained)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                ["--set", "model.width=32"],
                r"--set model.width: a resumed run keeps .* only .*epochs",
            ),
            (["--set", "training.learning_rate=1.0"], r"--set training.learning_rate: "),
            (["--set", "data.train=other.tsv"], r"--set data.train: "),
            (["--set", "decoding.grammar=geo"], r"--set decoding.grammar: "),
            (["--seed", "1"], r"--resume takes its data, seed and folder from the run"),
            (["--out", "elsewhere"], r"--resume takes"),
            (
                ["--set", "training.epoch=3"],
                r"training.epoch: unknown key \(did you mean training.epochs\?\)",
            ),
        ],
    )
    def test_other_settings_are_errors(self, copy, trained, arguments, message):
        finished = run_here("train", "--resume", copy, *arguments)
        assert finished.code == 2
        assert re.search(message, " ".join(finished.err.replace("│", " ").split()))
        assert_same_run(copy, trained)

    def test_another_experiment_is_an_error(self, copy):
        finished = run_here("train", "mirror", "--resume", copy)
        assert (finished.code, finished.out) == (2, "")
        assert f"--resume {copy}: this is a run of transducer, not of mirror" in finished.err

    def test_a_folder_without_a_run_is_an_error(self, tmp_path):
        finished = run_here("train", "--resume", tmp_path)
        assert finished.code == 1
        assert finished.err == f"error: {tmp_path}: not a run that can be resumed: it has no config.toml\n"

    @pytest.mark.parametrize("split", ["train", "dev"])
    def test_other_pairs_are_an_error_and_change_nothing(self, tmp_path, split):
        data = tiny.write_data(tmp_path / "data")
        folder = tmp_path / "run"
        assert run_here(*train_arguments(data, folder)).code == 0
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        with (data / f"{split}.tsv").open("a") as file:
            file.write("new words\tnew words words new\n")
        finished = run_here("train", "--resume", folder, "--set", "training.epochs=3")
        assert finished.code == 1
        wanted = f"{folder}: the training or dev pairs are not those that the run began with"
        assert wanted in finished.err
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

    def test_averaged_weights_are_resumed(self, run, tmp_path):
        whole = run("whole", training__average_epochs=1.5, training__epochs=3)
        folder = run("resumed", training__average_epochs=1.5)
        finished = run_here("train", "--resume", folder, "--set", "training.epochs=3")
        assert finished.code == 0, finished.err
        assert_same_run(folder, whole)


class TestFingerprint:
    PAIRS = (Pair(("a", "b"), ("c",), 1), Pair(("d",), ("e",), 2, "d"))

    def test_it_depends_on_tokens_and_emphasis_only(self):
        first, second = self.PAIRS
        assert fingerprint(self.PAIRS) == fingerprint([replace(first, line=7), second])
        for other in (
            [second, first],
            [first],
            [replace(first, target=("x",)), second],
            [replace(first, emphasis="a"), second],
        ):
            assert fingerprint(other) != fingerprint(self.PAIRS)

    def test_it_is_that_of_older_checkpoints(self):
        assert fingerprint(self.PAIRS) == "0bd23240b940124a"
