"""The training loop. It can be stopped and resumed at any step."""

import gc
import json
import math
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import torch
import torch.distributed.nn.functional  # imported later, its defaults would hold the process group
from torch import Tensor

from ftor.config import Config
from ftor.files import clear_unfinished, write_json, write_text
from ftor.metrics.judgements import JUDGEMENTS_FILE, write_judgements
from ftor.model.calibrating import fit_confidence
from ftor.model.card import model_card
from ftor.model.folder import METRICS_FILE
from ftor.model.model import OWN, Model
from ftor.model.tensors import load_tensors
from ftor.networks import Losses, Network
from ftor.reporting import Count, Report, percent
from ftor.text.batches import Batch
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.seeds import derived_seed
from ftor.training import threads
from ftor.training.averaging import averaged
from ftor.training.checkpoint import Checkpoints
from ftor.training.collapse import collapse, measure, sampled
from ftor.training.data import TrainingData, check_grammar, wanted_alignments
from ftor.training.devices import accelerator_for
from ftor.training.drawing import Draws
from ftor.training.evaluation import Evaluator, selection_key, shown_metrics
from ftor.training.memory import keep_freed_memory
from ftor.training.not_finite import TrainingError, not_finite
from ftor.training.provenance import commit, machine, pretrained_used, trained_parameters
from ftor.training.resume import Snapshots, fingerprint
from ftor.training.schedule import parameter_groups, set_learning_rates
from ftor.training.state import RunState
from ftor.training.stopping import Interrupted, StopRequest, stop_requests
from ftor.training.updating import Updates


class Trainer:
    """Trains a model and evaluates it.

    Args:
        config: the experiment.
        data: its pairs.
        folder: where the model, checkpoints and logs are written.
        report: receives messages and progress.
    """

    def __init__(self, config: Config, data: TrainingData, folder: Path, report: Report) -> None:
        self.config, self.data, self.folder, self.report = config, data, folder, report
        settings = config.training
        keep_freed_memory()
        self._shown = shown_metrics(config, data.data_folder, report)
        self.accelerator = accelerator_for(config, folder)
        torch.manual_seed(settings.seed)
        checkpoints = Checkpoints(folder)
        started = folder if checkpoints.newest.exists() else None
        self.model = Model.new(config, data.train, data.data_folder, report, started, data.programs)
        self.model.add_words(pair.source for pair in data.dev)
        check_grammar(self.model, data, report)
        wanted = wanted_alignments(config, data.train)
        self.train_set = EncodedPairs(data.train, self.model.vocabularies, wanted, settings.align_fertilities)
        self.dev_set = EncodedPairs(data.reachable_dev, self.model.vocabularies)
        groups = parameter_groups(self.model.network, settings)
        optimizer = torch.optim.Adam(groups, lr=settings.learning_rate, fused=True)
        self.network, self.optimizer = self.accelerator.prepare(self.model.network, optimizer)
        self.updates = Updates(self.accelerator, self.network, self.optimizer, settings.clip_norm)
        self.draws = Draws(len(data.train) - data.made, data.made, settings)
        self.steps_per_epoch = math.ceil(self.draws.count(0) / settings.batch_size)
        steps = settings.average_epochs * self.steps_per_epoch
        self.average = averaged(self.model.network, steps) if steps else None
        self.evaluator = Evaluator(self.model, self.accelerator)
        scaler = getattr(self.accelerator, "scaler", None)
        pairs = fingerprint([*data.train, *data.dev])
        self.snapshots = Snapshots(checkpoints, self.model, self.optimizer, self.average, scaler, pairs)
        self.state = RunState()
        self._watched = sampled(self.train_set)
        # Now, because the source tree and the data folder may change during training.
        self._provenance = {"commit": commit(), **pretrained_used(self.model, data.data_folder)}

    def run(self, most_threads: int | None = None) -> dict[str, Any]:
        """Train to the end, from the newest checkpoint if there is one.

        Args:
            most_threads: choose the number of CPU threads up to this one. None: it is set already.

        Returns the metrics of the best epoch. Raises `Interrupted` after Ctrl-C or SIGTERM.
        """
        try:
            self._resume()
            if most_threads is not None:
                self._choose_threads(most_threads)
            self.state.threads = torch.get_num_threads()
            if self.accelerator.is_main_process:
                clear_unfinished(self.folder)
                self.model.save_description(self.folder)
            if self.config.training.trackers:
                self.accelerator.init_trackers(self.config.name, {"config": self.config.to_toml()})
            total = self.draws.total(self.config.training.epochs)
            with stop_requests() as stop, self.report.counting(total, self._examples_done()) as count:
                while self.state.epoch < self.config.training.epochs:
                    self._epoch(stop, count)
            return self._finish()
        finally:
            self._leave_process_group()

    def _resume(self) -> None:
        """Restore the newest checkpoint, if there is one."""
        state = self.snapshots.restore(self.report.warn)
        if state is None:
            return
        self.state = state
        self._write_log()
        if state.epoch < self.config.training.epochs:
            self.report.say(f"resuming {self.folder} at epoch {state.epoch + 1}, step {state.step + 1}")
        else:
            self.report.say(f"all {state.epoch} epochs of {self.folder} are done")

    def _choose_threads(self, most: int) -> None:
        """Keep the threads of a run that is resumed. Measure for a new one how many train fastest."""
        state, accelerator = self.state, self.accelerator
        if state.epoch or state.step:
            torch.set_num_threads(state.threads or 1)
            return
        alone = accelerator.num_processes == 1 and accelerator.device.type == "cpu"
        batches = self.batches(0)

        def passes(number: int) -> None:  # every step has its own seed, so this changes no result
            batch = self.train_set.batch(batches[number % len(batches)])
            self.updates.gradients(self._objective(self._losses(batch)).mean())

        self.network.train()
        steps = self.config.training.epochs * self.steps_per_epoch
        choice = threads.fastest(passes, steps, most if alone else 1)
        if choice.gain is not None:
            self.report.say(str(choice))

    def _leave_process_group(self) -> None:
        """Let go of the process group and of everything that holds it.

        A thread of the group that still runs when the interpreter ends can abort it. The threads end with the
        last holder of the group. This must not be DistributedDataParallel: it waits for the threads while it
        holds the interpreter's lock, which they may need.
        """
        if self.accelerator.num_processes > 1:
            del self.network, self.updates
            self.accelerator.free_memory()
            gc.collect()  # free_memory collects before it drops its models
        self.accelerator.end_training()

    def _epoch(self, stop: StopRequest, count: Count) -> None:
        """Train on the rest of an epoch, then evaluate."""
        state, settings = self.state, self.config.training
        batches = self.batches(state.epoch)
        begun, saved, first = time.monotonic(), time.monotonic(), count.done
        seconds_before = state.seconds
        self.network.train()
        while state.step < len(batches):
            rows = batches[state.step]
            losses = self.step(rows)
            state.add_losses(losses)
            state.seconds = seconds_before + time.monotonic() - begun
            count.advance(len(rows), state.shown(losses, len(rows)))
            if self._any_process(stop.asked):
                self._save_checkpoint()
                raise Interrupted
            if time.monotonic() - saved > 60 * settings.checkpoint_minutes:
                self._save_checkpoint()
                saved = time.monotonic()
        speed = (count.done - first) / max(time.monotonic() - begun, 1e-9)
        with self._averaged_weights():
            is_best = self._evaluate_epoch(speed)
            if is_best and self.accelerator.is_main_process:
                self.model.save_weights(self.folder)
        self._end_epoch(is_best)

    def batches(self, epoch: int) -> list[Tensor]:
        """The rows of each batch of an epoch."""
        return self.draws.batches(epoch, self.train_set.lengths(self.config.model.batch_by))

    def step(self, rows: Tensor) -> list[float]:
        """One update with the examples `rows`. Returns the sums of their loss terms over all processes."""
        state, settings, accelerator = self.state, self.config.training, self.accelerator
        # Seeds depend on the place in the run only: a resumed run needs no state of a generator.
        self.updates.seed(derived_seed((settings.seed, state.epoch, state.step, accelerator.process_index)))
        own = rows[accelerator.process_index :: accelerator.num_processes]
        # A process without examples computes one of another process with weight 0.
        weight = float(len(own) > 0)
        warming_up = state.epoch < settings.alignment_epochs
        batch = self.train_set.batch(own if len(own) else rows[:1], warming_up)
        batch = batch.with_unknown_words(settings.word_dropout).to(accelerator.device)
        losses = self._losses(batch)
        objective = self._objective(losses)
        # Gradients are averaged over processes. This makes the average the mean over the whole batch.
        loss = weight * objective.sum() * accelerator.num_processes / len(rows)
        sums = self.updates.total(torch.stack([weight * term.detach().sum() for term in losses]))
        norm = self.updates.gradients(loss)
        if not math.isfinite(sum(sums)) or (settings.precision != "fp16" and not bool(torch.isfinite(norm))):
            raise TrainingError(self._problem(batch, objective))
        step = state.epoch * self.steps_per_epoch + state.step
        set_learning_rates(self.optimizer, settings, step, self.steps_per_epoch)
        self.updates.step()
        if self.average is not None:
            self.average.update_parameters(self.model.network)
        return sums

    def _losses(self, batch: Batch) -> Losses:
        try:
            losses: Losses = self.network(batch)
        except ValueError as error:  # the distributions refuse numbers that are not finite
            if not self.config.model.structured:
                raise
            traceback.clear_frames(error.__traceback__)  # DistributedDataParallel's hold the process group
            raise TrainingError(f"{self._problem(batch, None)} ({error})") from error
        return losses

    def _problem(self, batch: Batch, objective: Tensor | None) -> str:
        return not_finite(batch, objective, self.train_set.pairs, self.data.train_name, self.state.epoch + 1)

    def _objective(self, losses: Losses) -> Tensor:
        """−log P(y|x,l) − λ₁ log P(l|x) − λ₂ Σ log P(wanted alignment) of each example, (B,)."""
        settings = self.config.training  # the last term is 0 without wanted alignments
        weighted = settings.length_weight * losses.length + settings.alignment_weight * losses.alignment
        return losses.tokens + weighted

    @contextmanager
    def _averaged_weights(self) -> Iterator[None]:
        """Let the model use the averaged weights, if there are any."""
        network = self.model.network
        if self.average is not None:
            self.model.network = cast(Network, self.average.module)
        try:
            yield
        finally:
            self.model.network = network

    def _evaluate_epoch(self, speed: float) -> bool:
        """Evaluate on dev. Returns whether this is the best epoch so far."""
        state, begun = self.state, time.monotonic()
        dev_loss = self.evaluator.loss(self.dev_set)
        if not math.isfinite(dev_loss):
            raise TrainingError(
                f"{self.data.train_name}: the weights are not finite after epoch {state.epoch + 1}; "
                "a smaller learning_rate may help"
            )
        metrics = self.evaluator.metrics(self.data.dev, grammar=None, quick=True)
        state.dev_seconds += time.monotonic() - begun
        record = {
            "epoch": state.epoch + 1,
            **state.mean_losses(self.draws.count(state.epoch)),
            "dev_loss": dev_loss,
            "dev_exact_match": metrics.exact_match,
            **{f"dev_{name}": value for name, value in (metrics.shares | metrics.scores).items()},
            "dev_length_error": metrics.length_error,
            **measure(self.model.network, self.train_set, self._watched),
            "seconds": state.seconds,
            "examples_per_second": speed,
        }
        return state.add_record(record, selection_key(self.config.training.select_by, metrics, dev_loss))

    def _end_epoch(self, is_best: bool) -> None:
        """Write a checkpoint at the start of the next epoch, and report the results of this one."""
        state, record = self.state, self.state.history[-1]
        state.start_next_epoch()
        self._save_checkpoint()
        self._write_log()
        if self.config.training.trackers:
            self.accelerator.log({k: v for k, v in record.items() if k != "epoch"}, step=state.epoch)
        self.report.epoch(record)
        collapsed = collapse(state.history)
        if collapsed and not collapse(state.history[:-1]):
            self.report.warn(
                f"epoch {state.epoch}: the model may have collapsed: {collapsed}, and targets stay unlikely; "
                "another seed or a smaller training.scorer_learning_rate may help"
            )
        shares = [(name, record[f"dev_{name}"]) for name in self._shown]
        self.report.say(
            f"epoch {state.epoch}/{self.config.training.epochs}: tokens {record['tokens']:.4f}, "
            + (f"length {record['length']:.4f}, " if self.config.model.structured else "")
            + f"dev loss {record['dev_loss']:.4f}, "
            + "".join(f"dev {name.replace('_', ' ')} {percent(value)}, " for name, value in shares)
            + f"{record['examples_per_second']:.0f} examples/s"
            + (" (best so far)" if is_best else "")
        )

    def _finish(self) -> dict[str, Any]:
        """Evaluate the best epoch on dev and test. Write the metrics and the model card."""
        state = self.state
        self.accelerator.wait_for_everyone()
        weights, _ = load_tensors(self.folder / "model.safetensors")
        self.model.network.load_state_dict(weights)
        fitted = self.model.network.fit_to_dev(self._dev_exact_match)
        if fitted and self.accelerator.is_main_process:
            self.model.save_weights(self.folder)
        results, judgements = self.evaluator.results({"dev": self.data.dev, "test": self.data.test})
        metrics = {
            "experiment": self.config.name,
            "seed": self.config.training.seed,
            "best_epoch": state.best_epoch,
            "epochs": state.epoch,
            "train": self.data.counts,
            **results,
            "seconds": round(state.seconds, 1),
            "dev_seconds": round(state.dev_seconds, 1),
            "processes": self.accelerator.num_processes,
            "threads": torch.get_num_threads(),
            "parameters": trained_parameters(self.model.network),
            **self._provenance,
            **machine(),
        }
        if self.accelerator.is_main_process:
            wanted = self.config.training.confidence
            calibration = fit_confidence(self.model, self.data.dev) if wanted else None
            if calibration is not None:
                calibration.write(self.folder)
            write_judgements(self.folder / JUDGEMENTS_FILE, judgements)
            write_json(self.folder / METRICS_FILE, metrics)
            write_text(self.folder / "README.md", model_card(self.model, metrics, self.data.dev[0]))
        return metrics

    def _dev_exact_match(self) -> float:
        grammar = OWN if self.model.uses_grammar else None
        return self.evaluator.metrics(self.data.dev, grammar, quick=True).exact_match

    def _save_checkpoint(self) -> None:
        if self.accelerator.is_main_process:
            self.snapshots.save(self.state)

    def _write_log(self) -> None:
        if self.accelerator.is_main_process:
            lines = "".join(json.dumps(record) + "\n" for record in self.state.history)
            write_text(self.folder / "log.jsonl", lines)

    def _any_process(self, asked: bool) -> bool:
        if self.accelerator.num_processes == 1:
            return asked
        return bool(self.accelerator.reduce(torch.tensor(float(asked), device=self.accelerator.device)) > 0)

    def _examples_done(self) -> int:
        done = sum(len(rows) for rows in self.batches(self.state.epoch)[: self.state.step])
        return self.draws.total(self.state.epoch) + done
