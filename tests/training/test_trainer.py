"""The training loop: the same seed gives the same run, every setting counts, and errors are named."""

import re
from functools import partial

import pytest
import torch

import ftor
from ftor.files import read_json_lines
from ftor.model.tensors import load_tensors
from ftor.networks import Losses
from ftor.networks.transducer import Transducer
from ftor.training.trainer import TrainingError
from support import tiny
from support.tiny import (
    assert_half_precision_is_close,
    assert_same_run,
    end,
    log,
    metrics,
    run_here,
    start,
    train_arguments,
)

VARIANTS = [
    pytest.param(order, decoder, copying, id=f"{order}-{decoder}{'-copying' * copying}")
    for order in ("fertility-reordering", "reordering-fertility", "fertility")
    for decoder in ("independent", "autoregressive")
    for copying in (False, True)
]


@pytest.mark.slow
class TestRepeatability:
    def test_the_same_seed_gives_the_same_run(self, run, trained):
        assert_same_run(run("again"), trained)

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


FTOR_THAT_CHECKS_ITS_THREADS = """
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

    It checks that no thread of the process group is left at the end. Such a thread can abort the process.
    """
    program = folder / "program.py"
    program.write_text(FTOR_THAT_CHECKS_ITS_THREADS)
    choices = {"num_processes": "2", "num_machines": "1", "mixed_precision": "no", "dynamo_backend": "no"}
    launch = ["--multi_gpu", *(part for name, value in choices.items() for part in (f"--{name}", value))]
    launch += ["--main_process_port", "0", program]
    return end(start(*launch, *arguments, module="accelerate.commands.launch", cwd=folder))


@pytest.mark.slow
class TestTwoProcesses:
    @pytest.mark.parametrize("decoder", ["independent", "autoregressive"])
    def test_their_losses_are_those_of_one_process(self, data, tmp_path, run, decoder):
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

    def test_an_error_leaves_no_threads(self, data, tmp_path):
        settings = {"training.learning_rate": 1e30}
        finished = by_two_processes(train_arguments(data, tmp_path / "run", settings), tmp_path)
        assert finished.code == 1
        assert "the loss is not finite in epoch 1" in finished.err
        assert "AssertionError" not in finished.err


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ["highway", "plain"])
@pytest.mark.parametrize("order", ["fertility-reordering", "reordering-fertility"])
def test_half_precision_gives_similar_losses(run, order, encoder):
    model = {"model__order": order, "model__encoder": encoder, "model__dropout": 0.0}
    dropouts = {"model__recurrent_dropout": 0.0, "model__layer_dropout": 0.0}
    assert_half_precision_is_close(partial(run, **model, **dropouts))


@pytest.mark.slow
def test_gradients_are_clipped_unless_the_norm_is_0(run):
    """Adam's steps do not depend on the gradient's scale, but on how it changes from step to step."""
    unclipped, large, small = (
        load_tensors(run(f"norm-{norm}", training__clip_norm=norm) / "model.safetensors")[0]
        for norm in (0.0, 1e9, 0.01)
    )
    assert all(unclipped[name].equal(large[name]) for name in large)
    assert not all(unclipped[name].equal(small[name]) for name in small)


@pytest.mark.skipif(torch.accelerator.is_available(), reason="there is a GPU")
def test_fp16_needs_a_gpu(data, tmp_path):
    finished = run_here(*train_arguments(data, tmp_path / "run", {"training.precision": "fp16"}))
    assert finished.code == 2
    assert "fp16 needs a GPU" in finished.err


class TestRecords:
    def test_the_log_has_a_line_for_every_epoch(self, trained):
        lines = read_json_lines(trained / "log.jsonl")
        assert [line["epoch"] for line in lines] == [1, 2]
        assert set(lines[0]) == {
            *("epoch", "tokens", "length", "alignment", "dev_loss", "dev_exact_match", "dev_length_error"),
            *("sample_tokens", "fertility_bound", "reordering_entropy", "identity"),
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


class TestNotFinite:
    def test_too_large_a_learning_rate(self, data, tmp_path):
        finished = run_here(*train_arguments(data, tmp_path / "run", {"training.learning_rate": 1e30}))
        assert (finished.code, finished.out) == (1, "")
        wanted = (
            rf"error: {data}/train.tsv: the loss is not finite in epoch 1, at lines? \d+(, \d+)*; a smaller"
        )
        assert re.search(wanted, finished.err)

    def test_too_large_a_last_step_of_an_epoch(self, data, tmp_path):
        settings = {"training.learning_rate": 1e30, "training.batch_size": 32}
        finished = run_here(*train_arguments(data, tmp_path / "run", settings))
        assert finished.code == 1
        assert "the weights are not finite after epoch 1; a smaller learning_rate may help" in finished.err

    def test_only_the_lines_of_bad_examples_are_named(self, trainer, monkeypatch):
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


class TestSettings:
    def test_the_alignment_loss_counts_in_the_first_epochs_only(self, run):
        folder = run("run", training__alignment_weight=1.0, training__alignment_epochs=1)
        first, second = log(folder)
        assert first["alignment"] > 0
        assert second["alignment"] == 0

    def test_tokens_of_all_targets_are_aligned_with_the_start(self, trainer, tmp_path):
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
        for path in data.glob("*.tsv"):  # if all tokens are copied, the translations have nothing to learn
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
    def test_the_first_target_that_it_does_not_derive_is_named(self, data, tmp_path):
        (tmp_path / "my.cfg").write_text("S : a b")
        settings = {"decoding.grammar": str(tmp_path / "my.cfg"), "training.epochs": 1}
        finished = run_here(*train_arguments(data, tmp_path / "run", settings))
        first = (data / "train.tsv").read_text().split("\n")[0].split("\t")[1]
        wanted = "the grammar derives 0 of 25 training targets; the first that it does not derive is "
        wanted += f"{data}/train.tsv:1: {first}"
        assert (finished.code, wanted in finished.err.replace("\n", " ")) == (0, True)

    def test_none_is_inferred_from_plain_tokens_and_a_warning_says_so(self, data, tmp_path):
        settings = {"decoding.grammar": "infer", "training.epochs": 1}
        finished = run_here(*train_arguments(data, tmp_path / "run", settings))
        wanted = (
            "decoding.grammar: a grammar is only inferred from programs, and the targets are plain tokens"
        )
        assert (finished.code, wanted in " ".join(finished.err.split())) == (0, True)

    def test_an_autoregressive_decoder_does_not_use_its_rules(self, data, tmp_path):
        settings = {"decoding.grammar": "geo", "training.epochs": 1, "model.decoder": "autoregressive"}
        finished = run_here(*train_arguments(data, tmp_path / "run", settings))
        assert "an autoregressive decoder uses the words of the grammar, not its rules" in finished.err
