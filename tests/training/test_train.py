"""Training: the same seed gives the same run, whatever happens to it on the way."""

import json
import re
import shlex
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from accelerate.state import AcceleratorState

import ftor
from ftor.config import Config
from ftor.model.tensors import CheckpointError, load_tensors
from ftor.networks.network import Losses
from ftor.networks.transducer import Transducer
from ftor.show.progress import TerminalReport
from ftor.training.data import load_training_data
from ftor.training.trainer import Trainer, TrainingError
from support import tiny, tiny_geo
from support.tiny import assert_same_run, end, log, metrics, run_here, start, train_arguments

EVERY_STEP = {"training.checkpoint_minutes": 1e-9}
VARIANTS = [
    pytest.param(order, decoder, copying, id=f"{order}-{decoder}{'-copying' * copying}")
    for order in ("fertility-reordering", "reordering-fertility", "fertility")
    for decoder in ("independent", "autoregressive")
    for copying in (False, True)
]


@pytest.fixture
def trainer(data, tmp_path):
    """Make a trainer with some settings, which has not begun."""

    def make(folder=data, **settings):
        overrides = tiny.SETTINGS | {key.replace("__", "."): value for key, value in settings.items()}
        files = {f"data.{split}": str(folder / f"{split}.tsv") for split in ("train", "dev", "test")}
        config = Config.load("transducer", [f"{k}={json.dumps(v)}" for k, v in (files | overrides).items()])
        report = TerminalReport(quiet=True)
        (tmp_path / "run").mkdir()
        return Trainer(config, load_training_data(config, None, tmp_path, report), tmp_path / "run", report)

    return make


@pytest.fixture
def copy(trained, tmp_path):
    """Give a copy of the finished run, to change."""
    return Path(shutil.copytree(trained, tmp_path / "copy"))


def state_of(folder):
    """What a run's newest checkpoint says, or None while there is none."""
    path = folder / "checkpoint.safetensors"
    try:
        return load_tensors(path)[1]
    except CheckpointError:
        return None


def wait_until(true, process):
    """Look every millisecond whether something has happened that `process` does."""
    until = time.monotonic() + 60
    while not true():
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            pytest.fail(f"it did not happen: {end(process)}")
        time.sleep(0.001)


class TestRepeatability:
    def test_the_same_seed_gives_the_same_run(self, run, trained):
        assert_same_run(run("again"), trained)

    def test_averaged_weights_go_on_after_a_stop_too(self, run, tmp_path):
        whole = run("whole", training__average_epochs=1.5, training__epochs=3)
        folder = run("resumed", training__average_epochs=1.5)
        finished = run_here("train", "--resume", folder, "--set", "training.epochs=3")
        assert finished.code == 0, finished.err
        assert_same_run(folder, whole)

    def test_another_seed_gives_another(self, run, trained):
        other = run("other", training__seed=1)
        weights = load_tensors(other / "model.safetensors")[0]
        before = load_tensors(trained / "model.safetensors")[0]
        assert not any(weights[name].equal(before[name]) for name in weights if "bias" not in name)
        assert log(other) != log(trained)

    def test_how_often_checkpoints_are_written_changes_nothing(self, run, trained):
        assert_same_run(run("often", **{"training__checkpoint_minutes": 1e-9}), trained)

    def test_a_process_of_its_own_gives_the_same(self, data, tmp_path, trained):
        finished = end(start(*train_arguments(data, tmp_path / "run")))
        assert finished.code == 0, finished.err
        assert finished.out.startswith("test pairs, exact match by source length:\n")
        assert "epoch" not in finished.out
        assert "epoch 1/2: tokens" in finished.err
        assert "Warning" not in finished.err
        assert_same_run(tmp_path / "run", trained)


# Which files are put in their places: 1 config; 2, 3 config again and vocabulary; a checkpoint takes three
# moments (the first one two), 4–5, 6–8, …; weights are 15 and 32, the log 19 and 36, metrics and card 37, 38.
MOMENTS = ["1a", "4a", "7a", "15b", "17a", "18a", "32a", "37b"]


@pytest.fixture(scope="module")
def killed_runs(data, tmp_path_factory):
    """Runs that were killed, each at one of the moments, and went on to their end."""
    folder = tmp_path_factory.mktemp("killed")
    arguments = train_arguments(data, folder, EVERY_STEP)
    place = arguments.index("--out")
    del arguments[place : place + 2]
    finished = end(start(folder, ",".join(MOMENTS), *arguments, module="support.killed_runs"))
    assert finished.code == 0, finished.err
    return folder


class TestKilled:
    @pytest.mark.parametrize("moment", MOMENTS)
    def test_going_on_gives_the_run_that_nobody_killed(self, killed_runs, trained, moment):
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
    def test_from_outside(self, data, tmp_path, trained, moment):
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
    """Ctrl-C, or SIGTERM, which machines send before they end."""

    def test_saves_and_says_how_to_go_on(self, data, tmp_path, run):
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
    def test_the_data_folder_is_part_of_how_to_go_on(self, data, tmp_path, monkeypatch, number):
        def interrupt(*_):
            signal.raise_signal(number)
            return step(*_)

        step = Trainer._step
        monkeypatch.setattr(Trainer, "_step", interrupt)
        arguments = ["--train", "train.tsv", "--data-dir", data, "--out", tmp_path / "run"]
        stopped = run_here("train", "transducer", *arguments, *tiny.set_arguments({}))
        assert stopped.code == 1
        assert f"ftor train --resume {tmp_path / 'run'} --data-dir {data}" in stopped.err


class TestGoingOn:
    def test_a_grammar_that_was_changed_is_refused(self, run, tmp_path):
        path = tmp_path / "my.cfg"
        path.write_text("S -> 'a' S | 'a'")
        folder = run("run", decoding__grammar=str(path))
        assert run_here("train", "--resume", folder, "--set", "training.epochs=3").code == 0
        path.write_text("S -> 'b' S | 'b'")
        finished = run_here("train", "--resume", folder, "--set", "training.epochs=4")
        assert finished.code == 1
        assert f"{folder / 'grammar.cfg'}: expected the text of {path}, found another" in finished.err

    def test_a_finished_run_stays_what_it_is(self, copy, trained):
        finished = run_here("train", "--resume", copy)
        assert finished.code == 0, finished.err
        assert_same_run(copy, trained)

    def test_more_epochs_are_those_of_a_longer_run(self, copy, run):
        finished = run_here("train", "transducer", "--resume", copy, "--set", "training.epochs=4")
        assert finished.code == 0, finished.err
        assert_same_run(copy, run("longer", training__epochs=4))
        assert Config.load(copy / "config.toml").training.epochs == 4

    def test_what_killed_writers_left_is_cleared_away(self, copy, trained):
        (copy / ".model.safetensors.4711").write_bytes(b"half of something")
        assert run_here("train", "--resume", copy).code == 0
        assert_same_run(copy, trained)

    def test_a_checkpoint_that_was_not_yet_in_place_counts(self, copy, trained):
        (copy / "checkpoint.safetensors").rename(copy / "checkpoint.incoming.safetensors")
        for name in ("checkpoint.safetensors", "checkpoint.previous.safetensors"):
            (copy / name).write_bytes(b"torn")
        assert run_here("train", "--resume", copy).code == 0
        assert_same_run(copy, trained)

    def test_a_torn_checkpoint_costs_only_what_came_after_the_one_before(self, copy, trained):
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
    def test_other_settings_are_refused(self, copy, trained, arguments, message):
        finished = run_here("train", "--resume", copy, *arguments)
        assert finished.code == 2
        assert re.search(message, " ".join(finished.err.replace("│", " ").split()))
        assert_same_run(copy, trained)

    def test_another_experiment_is_refused(self, copy):
        finished = run_here("train", "mirror", "--resume", copy)
        assert (finished.code, finished.out) == (2, "")
        assert f"--resume {copy}: this is a run of transducer, not of mirror" in finished.err

    def test_a_folder_without_a_run_is_named(self, tmp_path):
        finished = run_here("train", "--resume", tmp_path)
        assert finished.code == 1
        assert finished.err == f"error: {tmp_path}: not a run that can be resumed: it has no config.toml\n"

    @pytest.mark.parametrize("split", ["train", "dev"])
    def test_other_pairs_are_refused_and_the_model_survives(self, tmp_path, split):
        data = tiny.write_data(tmp_path / "data")
        folder = tmp_path / "run"
        assert run_here(*train_arguments(data, folder)).code == 0
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        with (data / f"{split}.tsv").open("a") as file:
            file.write("new words\tnew words words new\n")
        finished = run_here("train", "--resume", folder, "--set", "training.epochs=3")
        assert finished.code == 1
        assert "expected the training and dev pairs that the run began with, found others in" in finished.err
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


FTOR_THAT_LOOKS_FOR_THREADS_LEFT = """
from pathlib import Path

from ftor.cli.main import main

try:
    main()
finally:
    threads = [name.read_text().strip() for name in Path("/proc/self/task").glob("*/comm")]
    assert not any("gloo" in name for name in threads), threads
"""


def by_two_processes(arguments, folder):
    """`accelerate launch --multi_gpu --num_processes 2 -m ftor …` in a folder, also where there is no GPU.

    It looks for threads of the process group that are left when it ends, which abort it now and then.
    """
    program = folder / "program.py"
    program.write_text(FTOR_THAT_LOOKS_FOR_THREADS_LEFT)
    choices = {"num_processes": "2", "num_machines": "1", "mixed_precision": "no", "dynamo_backend": "no"}
    launch = ["--multi_gpu", *(part for name, value in choices.items() for part in (f"--{name}", value))]
    launch += ["--main_process_port", "0", program]
    return end(start(*launch, *arguments, module="accelerate.commands.launch", cwd=folder))


class TestTwoProcesses:
    @pytest.mark.parametrize("decoder", ["independent", "autoregressive"])
    def test_they_have_the_loss_curve_of_one(self, data, tmp_path, run, decoder):
        """The last batch of an epoch has one example, and the second process none."""
        dropouts = dict.fromkeys(("model.dropout", "model.recurrent_dropout", "model.layer_dropout"), 0.0)
        settings = dropouts | {"model.decoder": decoder}
        arguments = train_arguments(data, tmp_path, settings)
        place = arguments.index("--out")
        del arguments[place : place + 2]
        finished = by_two_processes(arguments, tmp_path)
        assert finished.code == 0, finished.err
        assert [path.name for path in (tmp_path / "runs").iterdir()] == ["transducer-0"]
        assert finished.err.count("epoch 1/2") == finished.out.count("exact match by source length") == 1
        one = run("one", **{key.replace(".", "__"): value for key, value in settings.items()})
        two = tmp_path / "runs" / "transducer-0"
        assert [metrics(folder)["processes"] for folder in (one, two)] == [1, 2]
        for found, wanted in zip(log(two), log(one), strict=True):
            assert found == pytest.approx(wanted, rel=1e-4)
        assert (metrics(two)["dev"], metrics(two)["test"]) == (metrics(one)["dev"], metrics(one)["test"])

    def test_an_error_leaves_no_threads_either(self, data, tmp_path):
        settings = {"training.learning_rate": 1e30}
        finished = by_two_processes(train_arguments(data, tmp_path / "run", settings), tmp_path)
        assert finished.code == 1
        assert "the loss is not finite in epoch 1" in finished.err
        assert "AssertionError" not in finished.err


@pytest.mark.parametrize("encoder", ["highway", "plain"])
@pytest.mark.parametrize("order", ["fertility-reordering", "reordering-fertility"])
def test_half_precision_comes_close(run, order, encoder):
    model = {"model__order": order, "model__encoder": encoder, "model__dropout": 0.0}
    dropouts = {"model__recurrent_dropout": 0.0, "model__layer_dropout": 0.0}
    folders = []
    for precision in ("bf16", "no"):
        AcceleratorState._reset_state()  # accelerate allows one precision in a process
        folders.append(run(precision, training__precision=precision, **model, **dropouts))
    half, whole = folders
    for found, wanted in zip(log(half), log(whole), strict=True):
        assert found["dev_loss"] == pytest.approx(wanted["dev_loss"], rel=0.05)
        assert found["dev_loss"] != wanted["dev_loss"]


@pytest.mark.skipif(torch.accelerator.is_available(), reason="there is a GPU")
def test_fp16_needs_a_gpu(data, tmp_path):
    finished = run_here(*train_arguments(data, tmp_path / "run", {"training.precision": "fp16"}))
    assert finished.code == 2
    assert "fp16 needs a GPU" in finished.err


class TestRecords:
    def test_the_log_has_a_line_for_every_epoch(self, trained):
        lines = [json.loads(line) for line in (trained / "log.jsonl").read_text().splitlines()]
        assert [line["epoch"] for line in lines] == [1, 2]
        assert set(lines[0]) == {
            *("epoch", "tokens", "length", "alignment", "dev_loss", "dev_exact_match", "dev_length_error"),
            *("seconds", "examples_per_second"),
        }
        assert lines[1]["tokens"] + lines[1]["length"] < lines[0]["tokens"] + lines[0]["length"]

    def test_tensorboard_gets_the_same_numbers(self, run):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        folder = run("run", training__trackers=["tensorboard"])
        events = EventAccumulator(str(folder / "transducer"))
        events.Reload()
        found = [(event.step, event.value) for event in events.Scalars("dev_loss")]
        assert found == [(line["epoch"], pytest.approx(line["dev_loss"])) for line in log(folder)]

    @pytest.mark.parametrize("tracker", ["tensorbord", "wandb"])
    def test_a_tracker_that_is_not_there_is_refused_at_once(self, data, tmp_path, monkeypatch, tracker):
        monkeypatch.setattr("ftor.training.run.get_available_trackers", lambda: ["tensorboard"])
        finished = run_here(*train_arguments(data, tmp_path / "run", {"training.trackers": [tracker]}))
        assert finished.code == 2
        assert f"training.trackers: {tracker} is not installed; installed are: tensorboard" in finished.err
        assert not (tmp_path / "run").exists()

    def test_the_ledger_grows_by_a_line(self, data, tmp_path):
        for seed in (0, 1):
            arguments = train_arguments(data, tmp_path / str(seed), {"training.epochs": 1})
            assert (
                run_here(*arguments, "--seed", seed, "--ledger", tmp_path / "new" / "results.jsonl").code == 0
            )
        lines = [json.loads(x) for x in (tmp_path / "new" / "results.jsonl").read_text().splitlines()]
        assert [line["seed"] for line in lines] == [0, 1]
        assert lines[0]["config"] == lines[1]["config"]

    def test_the_model_card_is_filled(self, trained):
        card = (trained / "README.md").read_text()
        assert "# transducer" in card
        assert re.search(r"\| test \| 6 \| [\d.]+ % \|", card)


class TestNotFinite:
    def test_a_step_that_is_too_large(self, data, tmp_path):
        finished = run_here(*train_arguments(data, tmp_path / "run", {"training.learning_rate": 1e30}))
        assert (finished.code, finished.out) == (1, "")
        wanted = (
            rf"error: {data}/train.tsv: the loss is not finite in epoch 1, at lines? \d+(, \d+)*; a smaller"
        )
        assert re.search(wanted, finished.err)

    def test_the_last_step_of_an_epoch_is_too_large(self, data, tmp_path):
        settings = {"training.learning_rate": 1e30, "training.batch_size": 32}
        finished = run_here(*train_arguments(data, tmp_path / "run", settings))
        assert finished.code == 1
        assert "the weights are not finite after epoch 1; a smaller learning_rate may help" in finished.err

    def test_lines_are_those_of_the_examples_alone(self, trainer, monkeypatch):
        def forward(self, batch):
            losses = compute(self, batch)
            return losses._replace(
                tokens=losses.tokens.masked_fill((batch.rows == 7) | (batch.rows == 9), torch.nan)
            )

        compute = Transducer.forward
        monkeypatch.setattr(Transducer, "forward", forward)
        with pytest.raises(
            TrainingError, match=r"train.tsv: the loss is not finite .* at lines 8, 10; a smaller"
        ):
            trainer(training__batch_size=32).run()


class TestBestEpoch:
    @pytest.mark.parametrize(
        ("select_by", "exact_matches", "losses"),
        [
            ("exact_match", [0.25, 0.75, 0.5], [3.0, 2.0, 1.0]),
            ("exact_match", [0.5, 0.5, 0.5], [3.0, 1.0, 2.0]),
            ("loss", [0.25, 0.5, 0.75], [3.0, 1.0, 2.0]),
            ("accuracy", [0.25, 0.75, 0.5], [3.0, 2.0, 1.0]),
            ("BLEU-3", [0.25, 0.75, 0.5], [3.0, 2.0, 1.0]),
        ],
        ids=["exact match", "equal exact matches", "loss", "accuracy", "BLEU-3"],
    )
    def test_is_the_best_on_dev(self, trainer, trained, monkeypatch, select_by, exact_matches, losses):
        def fake(self, pairs, grammar, quick=False):
            number = len(self.state.history)
            found = evaluate(self, pairs, grammar, quick=True)
            share = exact_matches[number] if number < 3 else 0.0
            if select_by == "accuracy":
                return replace(found, exact_match=0.0, shares={"clause_accuracy": share, "well_formed": 1.0})
            if select_by == "BLEU-3":
                return replace(found, exact_match=0.0, scores={"BLEU-3": share, "CIDEr": 10 - share})
            return replace(found, exact_match=share)

        evaluate = Trainer._evaluate
        monkeypatch.setattr(Trainer, "_evaluate", fake)
        monkeypatch.setattr(Trainer, "_dev_loss", lambda self: losses[len(self.state.history)])
        task = "style" if select_by == "BLEU-3" else "pairs"
        if task == "style":
            pytest.importorskip("pycocoevalcap")
        trainer_ = trainer(training__epochs=3, training__select_by=select_by, data__task=task)
        assert trainer_.run()["best_epoch"] == 2
        weights, _ = load_tensors(trainer_.folder / "model.safetensors")
        after_two_epochs, _ = load_tensors(trained / "checkpoint.safetensors")
        assert all(weights[name].equal(after_two_epochs[f"model.{name}"]) for name in weights)


def test_a_task_finds_its_facts_in_the_chosen_data_folder(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FTOR_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = {"data.task": "geo", "training.epochs": 1}
    arguments = train_arguments(data, tmp_path / "run", settings)
    finished = run_here(*arguments, "--data-dir", tiny_geo.write(tmp_path / "facts"))
    assert finished.code == 0, finished.err
    assert set(metrics(tmp_path / "run")["test"]["shares"]) == {
        "execution_accuracy",
        "execution_accuracy_released",
    }


class TestSettings:
    def test_the_alignment_counts_in_its_epochs_alone(self, run):
        folder = run("run", training__alignment_weight=1.0, training__alignment_epochs=1)
        first, second = log(folder)
        assert first["alignment"] > 0
        assert second["alignment"] == 0

    def test_what_every_target_has_is_aligned_with_the_start(self, trainer, tmp_path):
        for split in ("train", "dev", "test"):
            (tmp_path / f"{split}.tsv").write_text("a\tx go\nb\tgo y\n")
        made = trainer(
            tmp_path, training__align_start=True, training__alignment_weight=1.0, training__alignment_epochs=1
        )
        aligned = made.train_set.batch(torch.arange(2), with_alignments=True).aligned
        assert aligned[:, 0].tolist() == [[False, True], [True, False]]

    def test_the_objective_weighs_its_terms(self, trainer):
        made = trainer(
            training__alignment_weight=0.5, training__alignment_epochs=1, training__length_weight=2.0
        )
        losses = Losses(torch.tensor([1.0]), torch.tensor([10.0]), torch.tensor([100.0]))
        assert made._objective(losses).item() == 1 + 2 * 10 + 0.5 * 100

    def test_the_scorer_has_a_learning_rate_of_its_own(self, trainer):
        made = trainer(training__scorer_learning_rate=0.0, training__epochs=1)
        before = {name: p.detach().clone() for name, p in made.model.network.named_parameters()}
        made.run()
        same = {name for name, p in made.model.network.named_parameters() if p.equal(before[name])}
        assert same == {
            f"reordering.{layer}.{kind}" for layer in ("hidden", "output") for kind in ("weight", "bias")
        }

    @pytest.mark.parametrize("encoder", ["highway", "plain"])
    @pytest.mark.parametrize(("order", "decoder", "copying"), VARIANTS)
    def test_every_variant_learns_and_predicts(self, trainer, tmp_path, order, decoder, copying, encoder):
        data = tiny.write_data(tmp_path)
        for path in data.glob("*.tsv"):  # where all is copied, translations have nothing to learn
            path.write_text(path.read_text().replace("\n", " !\n"))
        model = {"order": order, "decoder": decoder, "copying": copying, "encoder": encoder}
        once = {"training__epochs": 1, "training__batch_size": 32}
        made = trainer(data, **once, **{f"model__{key}": value for key, value in model.items()})
        before = {name: p.detach().clone() for name, p in made.model.network.named_parameters()}
        made.run()
        unmoved = [name for name, p in made.model.network.named_parameters() if p.equal(before[name])]
        assert unmoved == []
        (found,) = ftor.load(made.folder).predict(["a b c"])
        assert found.score <= 0
        assert found.structure.alignment.shape == (4, found.length)
        assert (found.structure.tree is None) == (order == "fertility")


class TestGrammar:
    def test_targets_that_it_does_not_derive_are_named(self, data, tmp_path):
        (tmp_path / "my.cfg").write_text("S : a b")
        settings = {"decoding.grammar": str(tmp_path / "my.cfg"), "training.epochs": 1}
        finished = run_here(*train_arguments(data, tmp_path / "run", settings))
        first = (data / "train.tsv").read_text().split("\n")[0].split("\t")[1]
        wanted = f"the grammar derives 0 of 25 training targets, and not {data}/train.tsv:1: {first}"
        assert (finished.code, wanted in finished.err.replace("\n", " ")) == (0, True)

    def test_an_autoregressive_decoder_has_no_use_for_it(self, data, tmp_path):
        settings = {"decoding.grammar": "geo", "training.epochs": 1, "model.decoder": "autoregressive"}
        finished = run_here(*train_arguments(data, tmp_path / "run", settings))
        assert "an autoregressive decoder takes its words, but not its rules" in finished.err

    @pytest.mark.parametrize(
        "settings",
        [{"decoding.grammar": "none.cfg"}, {"data.vectors": "none.txt"}, {"data.task": "geo"}],
        ids=["grammar", "vectors", "facts"],
    )
    def test_nothing_is_written_where_something_is_missing(self, data, tmp_path, monkeypatch, settings):
        monkeypatch.delenv("FTOR_DATA", raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        finished = run_here(*train_arguments(data, tmp_path / "run", settings))
        assert finished.code == 1
        assert not (tmp_path / "run").exists()
