"""Training: a plain loop over bucketed batches that can be stopped at any moment and gone on with exactly."""

import gc
import json
import math
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import torch.distributed.nn.functional  # imported later, its defaults would hold the process group
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, gather_object
from torch import Tensor

from ftor.config import Config, ConfigError
from ftor.datasets import judges, scorers
from ftor.errors import FtorError
from ftor.files import clear_unfinished, write_json, write_text
from ftor.metrics import Metrics
from ftor.model.card import model_card
from ftor.model.model import OWN, Model
from ftor.model.tensors import load_tensors
from ftor.networks import Losses
from ftor.networks.decoding import SPLITS_AT_ONCE
from ftor.reporting import Count, Report
from ftor.seeds import derived_seed
from ftor.text.aligning import ALIGNERS, common_token_positions, confident
from ftor.text.batches import Batch, bounded, bucketed
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair
from ftor.training.averaging import averaged
from ftor.training.checkpoint import Checkpoints
from ftor.training.data import TrainingData
from ftor.training.provenance import commit, machine
from ftor.training.schedule import parameter_groups, set_learning_rates
from ftor.training.state import State, fingerprint, from_tensors, to_tensors
from ftor.training.stopping import Interrupted, stop_requests


class TrainingError(FtorError):
    """Training that cannot go on; says why, and where in the data."""


class Trainer:
    """One run: a model, its data and optimiser, and the folder that it lives in.

    Args:
        config: the experiment.
        splits: its pairs.
        folder: where the model, checkpoints and logs go.
        report: where progress is shown.
    """

    def __init__(self, config: Config, splits: TrainingData, folder: Path, report: Report) -> None:
        self.config, self.splits, self.folder, self.report = config, splits, folder, report
        settings = config.training
        judged = judges(config.data.task, splits.data_folder)
        scores = [name for scorer in scorers(config.data.task, report) for name in scorer.names]
        selecting = [name for name in scores if name == settings.select_by]
        if settings.select_by == "BLEU-3" and not selecting:
            raise ConfigError(
                f'training.select_by: BLEU-3 needs data.task = "style", found {config.data.task!r}'
            )
        self._shown = ["exact_match", *(judge.name for judge in judged[:1]), *selecting]
        if settings.precision == "fp16" and not torch.accelerator.is_available():
            raise ConfigError("training.precision: fp16 needs a GPU, found none; bf16 works everywhere")
        unused = DistributedDataParallelKwargs(find_unused_parameters=config.model.may_skip_parameters)
        self.accelerator = Accelerator(
            mixed_precision=settings.precision,
            log_with=settings.trackers or None,
            project_dir=folder,
            kwargs_handlers=[unused],
        )
        torch.manual_seed(settings.seed)
        self.checkpoints = Checkpoints(folder)
        begun = folder if self.checkpoints.newest.exists() else None
        self.model = Model.new(config, splits.train, splits.data_folder, report, begun)
        self.model.know(pair.source for pair in splits.dev)
        self._check_grammar()
        self.train_set = EncodedPairs(splits.train, self.model.vocabularies, self._wanted_alignments())
        self.dev_set = EncodedPairs(splits.reachable_dev, self.model.vocabularies)
        optimizer = torch.optim.Adam(
            parameter_groups(self.model.network, settings), lr=settings.learning_rate, fused=True
        )
        self.network, self.optimizer = self.accelerator.prepare(self.model.network, optimizer)
        steps = settings.average_epochs * math.ceil(len(self.train_set) / settings.batch_size)
        self.average = averaged(self.model.network, steps) if steps else None
        self.state = State()
        self._commit = commit()  # of the code that runs now, whatever happens to its folder until the end

    def _check_grammar(self) -> None:
        """Say if the grammar will not be used, or does not fit the pairs."""
        if self.model.grammar is None:
            return
        if not self.model.constrains:
            self.report.warn("decoding.grammar: an autoregressive decoder takes its words, but not its rules")
        pairs, name = self.splits.train, self.splits.train_name
        strange = [pair for pair in pairs if not self.model.derives(pair.target, pair.source)]
        if strange:
            self.report.warn(
                f"the grammar derives {len(pairs) - len(strange)} of {len(pairs)} training targets, and not "
                f"{name}:{strange[0].line}: {' '.join(strange[0].target)}"
            )

    def run(self) -> dict[str, Any]:
        """Train from where the run is to its end, evaluate the best epoch, and return its metrics."""
        try:
            self._resume()
            if self.accelerator.is_main_process:
                clear_unfinished(self.folder)
                self.model.save_description(self.folder)
            if self.config.training.trackers:
                self.accelerator.init_trackers(self.config.name, {"config": self.config.to_toml()})
            total = len(self.train_set) * self.config.training.epochs
            with stop_requests() as asked, self.report.counting(total, self._examples_done()) as count:
                while self.state.epoch < self.config.training.epochs:
                    self._epoch(asked, count)
            return self._finish()
        finally:
            self._leave_process_group()

    def _leave_process_group(self) -> None:
        """Leave the processes that train together, with nothing left of what joins them.

        A thread of the process group that still runs when the interpreter ends can abort it. The threads end
        with the group's last holder, which must not be DistributedDataParallel: it would wait for them with
        the interpreter's lock, that they may need.
        """
        if self.accelerator.num_processes > 1:
            del self.network
            self.accelerator.free_memory()
            gc.collect()  # free_memory does before it lets go of its models
        self.accelerator.end_training()

    def _epoch(self, asked: list[bool], count: Count) -> None:
        """Train on what is left of an epoch, then evaluate."""
        state, settings = self.state, self.config.training
        batches = self._batches(state.epoch)
        begun, saved, first = time.monotonic(), time.monotonic(), count.done
        seconds_before = state.seconds
        self.network.train()
        while state.step < len(batches):
            rows = batches[state.step]
            losses = self._step(rows)
            state.sums = [before + new for before, new in zip(state.sums, losses, strict=True)]
            state.step += 1
            state.seconds = seconds_before + time.monotonic() - begun
            count.advance(len(rows), self._status(losses, len(rows)))
            if self._any_process(asked[0]):
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

    @contextmanager
    def _averaged_weights(self) -> Iterator[None]:
        """Let the model use the averaged weights, if there are any."""
        network = self.model.network
        if self.average is not None:
            self.model.network = self.average.module
        try:
            yield
        finally:
            self.model.network = network

    def _step(self, rows: Tensor) -> list[float]:
        """One update from the examples `rows`; returns the sums of their loss terms, over all processes."""
        state, settings, accelerator = self.state, self.config.training, self.accelerator
        torch.manual_seed(derived_seed((settings.seed, state.epoch, state.step, accelerator.process_index)))
        mine = rows[accelerator.process_index :: accelerator.num_processes]
        # A process without examples takes part with one that counts for nothing.
        weight = float(len(mine) > 0)
        warming_up = state.epoch < settings.alignment_epochs
        batch = self.train_set.batch(mine if len(mine) else rows[:1], warming_up)
        batch = batch.with_unknown_words(settings.word_dropout).to(accelerator.device)
        try:
            losses: Losses = self.network(batch)
        except ValueError as error:  # the distributions take no numbers that are not finite
            if not self.config.model.structured:
                raise
            traceback.clear_frames(error.__traceback__)  # DistributedDataParallel's hold the process group
            raise TrainingError(f"{self._not_finite(batch, None)} ({error})") from error
        objective = self._objective(losses)
        # Processes' gradients are averaged: this makes it the mean over the whole batch.
        loss = weight * objective.sum() * accelerator.num_processes / len(rows)
        sums = accelerator.reduce(torch.stack([weight * term.detach().sum() for term in losses])).tolist()
        self.optimizer.zero_grad()
        accelerator.backward(loss)
        norm = accelerator.clip_grad_norm_(self.network.parameters(), settings.clip_norm or math.inf)
        if not math.isfinite(sum(sums)) or (settings.precision != "fp16" and not bool(torch.isfinite(norm))):
            raise TrainingError(self._not_finite(batch, objective))
        in_epoch = math.ceil(len(self.train_set) / settings.batch_size)
        set_learning_rates(self.optimizer, settings, state.epoch * in_epoch + state.step, in_epoch)
        self.optimizer.step()
        if self.average is not None:
            self.average.update_parameters(self.model.network)
        return sums  # type: ignore[no-any-return]

    def _objective(self, losses: Losses) -> Tensor:
        """Each example's −log P(y|x,l) − λ₁ log P(l|x) − λ₂ Σ log P(wanted alignment): (B,)."""
        settings = self.config.training  # without alignments that are wanted, the last term is 0
        weighted = settings.length_weight * losses.length + settings.alignment_weight * losses.alignment
        return losses.tokens + weighted

    def _batches(self, epoch: int) -> list[Tensor]:
        settings = self.config.training
        generator = torch.Generator().manual_seed(derived_seed((settings.seed, epoch)))
        lengths = self._batch_lengths(self.train_set)
        return bucketed(lengths, settings.batch_size, settings.bucket_noise, generator)

    def _batch_lengths(self, dataset: EncodedPairs) -> Tensor:
        """The lengths that are similar within a batch: what its time and memory depend on."""
        return (dataset.source if self.config.model.batch_by == "source" else dataset.target).lengths

    def _wanted_alignments(self) -> list[list[tuple[int, int]]] | None:
        settings = self.config.training
        if not settings.alignment_epochs:
            return None
        start_token = self.config.data.start_token
        align = ALIGNERS[settings.aligner]
        posteriors = align(self.splits.train, settings.alignment_iterations, start_token)
        wanted = list(confident(posteriors, settings.alignment_threshold))
        if not (settings.align_start and start_token):
            return wanted
        from_start = common_token_positions([pair.target for pair in self.splits.train])
        return [sure + [(0, j) for j in places] for sure, places in zip(wanted, from_start, strict=True)]

    def _not_finite(self, batch: Batch, objective: Tensor | None) -> str:
        """Say where, given the examples' losses, or none if not even they could be computed."""
        bad = torch.ones_like(batch.rows, dtype=torch.bool)
        if objective is not None:
            bad = ~objective.detach().isfinite()
        rows = batch.rows[bad] if bool(bad.any()) else batch.rows
        lines = sorted(self.train_set.pairs[row].line for row in rows.tolist())
        what = "loss" if bool(bad.any()) else "gradient"
        return (
            f"{self.splits.train_name}: the {what} is not finite in epoch {self.state.epoch + 1}, at "
            f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}; a smaller learning_rate may help"
        )

    def _evaluate_epoch(self, speed: float) -> bool:
        """Evaluate on dev; whether the weights are the best so far."""
        state, begun = self.state, time.monotonic()
        dev_loss = self._dev_loss()
        if not math.isfinite(dev_loss):
            raise TrainingError(
                f"{self.splits.train_name}: the weights are not finite after epoch {state.epoch + 1}; "
                "a smaller learning_rate may help"
            )
        metrics = self._evaluate(self.splits.dev, grammar=None, quick=True)
        state.dev_seconds += time.monotonic() - begun
        record = {
            "epoch": state.epoch + 1,
            **{name: s / len(self.train_set) for name, s in zip(Losses._fields, state.sums, strict=True)},
            "dev_loss": dev_loss,
            "dev_exact_match": metrics.exact_match,
            **{f"dev_{name}": value for name, value in (metrics.shares | metrics.scores).items()},
            "dev_length_error": metrics.length_error,
            "seconds": state.seconds,
            "examples_per_second": speed,
        }
        value = {
            "loss": [-dev_loss],
            "exact_match": [metrics.exact_match, -dev_loss],
            "accuracy": [metrics.accuracy, metrics.exact_match, -dev_loss],
            **{name: [score, metrics.exact_match, -dev_loss] for name, score in metrics.scores.items()},
        }[self.config.training.select_by]
        state.history.append(record)
        is_best = state.best_epoch is None or value > state.best
        if is_best:
            state.best_epoch, state.best = state.epoch + 1, value
        return is_best

    def _end_epoch(self, is_best: bool) -> None:
        """Write a checkpoint that begins the next epoch, and say what was found."""
        state, record = self.state, self.state.history[-1]
        state.epoch, state.step, state.sums = state.epoch + 1, 0, [0.0] * len(state.sums)
        self._save_checkpoint()
        self._write_log()
        if self.config.training.trackers:
            self.accelerator.log({k: v for k, v in record.items() if k != "epoch"}, step=state.epoch)
        self.report.epoch(record)
        shares = [(name, record[f"dev_{name}"]) for name in self._shown]
        self.report.say(
            f"epoch {state.epoch}/{self.config.training.epochs}: tokens {record['tokens']:.4f}, "
            + (f"length {record['length']:.4f}, " if self.config.model.structured else "")
            + f"dev loss {record['dev_loss']:.4f}, "
            + "".join(f"dev {name.replace('_', ' ')} {100 * value:.1f} %, " for name, value in shares)
            + f"{record['examples_per_second']:.0f} examples/s"
            + (" (best so far)" if is_best else "")
        )

    @torch.no_grad()
    def _dev_loss(self) -> float:
        """Mean −log P(l|x) − log P(y|x,l), or a baseline's loss, of the dev pairs that can be reached."""
        self.model.network.eval()
        total, size = 0.0, self.config.training.evaluation_batch_size
        batches = bounded(self._batch_lengths(self.dev_set), size, SPLITS_AT_ONCE)
        for rows in batches[self.accelerator.process_index :: self.accelerator.num_processes]:
            batch = self.dev_set.batch(rows).to(self.accelerator.device)
            try:
                losses = self.model.network(batch)
            except ValueError:  # the distributions take no numbers that are not finite
                if not self.config.model.structured:
                    raise
                total = math.nan
                break
            total += float((losses.tokens + losses.length).sum())
        total = float(self.accelerator.reduce(torch.tensor(total, device=self.accelerator.device)))
        return total / len(self.dev_set)

    def _evaluate(self, pairs: Sequence[Pair], grammar: str | None, quick: bool = False) -> Metrics:
        """The metrics of the network as it is now, computed by all processes together."""
        mine = list(pairs[self.accelerator.process_index :: self.accelerator.num_processes])
        sources, words = [pair.source for pair in mine], [pair.emphasis for pair in mine]
        predictions = self.model.predict(sources, emphasis=words, grammar=grammar, structure=False)
        found = [(pair, prediction.tokens) for pair, prediction in zip(mine, predictions, strict=True)]
        all_pairs, outputs = zip(*gather_object(found), strict=True)
        return self.model.judge(all_pairs, outputs, quick=quick)

    def _finish(self) -> dict[str, Any]:
        """Evaluate the best epoch on dev and test; write metrics and the model card."""
        state = self.state
        self.accelerator.wait_for_everyone()
        weights, _ = load_tensors(self.folder / "model.safetensors")
        self.model.network.load_state_dict(weights)
        found = {}
        for split, pairs in {"dev": self.splits.dev, "test": self.splits.test}.items():
            found[split] = self._evaluate(pairs, grammar=None).as_dict() if pairs else None
            if pairs and self.model.constrains:
                found[f"{split}_grammar"] = self._evaluate(pairs, grammar=OWN).as_dict()
        metrics = {
            "experiment": self.config.name,
            "seed": self.config.training.seed,
            "best_epoch": state.best_epoch,
            "epochs": state.epoch,
            "train": {"count": len(self.splits.train)},
            **found,
            "seconds": round(state.seconds, 1),
            "dev_seconds": round(state.dev_seconds, 1),
            "processes": self.accelerator.num_processes,
            "commit": self._commit,
            **machine(),
        }
        if self.accelerator.is_main_process:
            write_json(self.folder / "metrics.json", metrics)
            write_text(self.folder / "README.md", model_card(self.config, self.model, metrics))
        return metrics

    def _save_checkpoint(self) -> None:
        if not self.accelerator.is_main_process:
            return
        tensors = to_tensors(self.model.network, self.optimizer, self.average)
        scaler = getattr(self.accelerator, "scaler", None)
        description = asdict(self.state) | {
            "data": fingerprint([*self.splits.train, *self.splits.dev]),
            "scaler": scaler.state_dict() if scaler is not None else {},
        }
        self.checkpoints.save(tensors, description)

    def _resume(self) -> None:
        """Put everything back as the newest checkpoint has it, if there is one."""
        found = self.checkpoints.load(self.report.warn)
        if found is None:
            return
        tensors, description = found
        if description.pop("data") != fingerprint([*self.splits.train, *self.splits.dev]):
            raise TrainingError(
                f"{self.folder}: expected the training and dev pairs that the run began with, found others "
                f"in {self.splits.train_name} or its dev file"
            )
        self.model.check_description(self.folder)
        scaler = description.pop("scaler")
        if scaler:
            self.accelerator.scaler.load_state_dict(scaler)
        self.state = State(**description)
        from_tensors(tensors, self.model.network, self.optimizer, self.average)
        self._write_log()
        if self.state.epoch < self.config.training.epochs:
            where = f"epoch {self.state.epoch + 1}, step {self.state.step + 1}"
            self.report.say(f"going on with {self.folder} at {where}")
        else:
            self.report.say(f"{self.folder} has had its {self.state.epoch} epochs")

    def _write_log(self) -> None:
        if self.accelerator.is_main_process:
            lines = (json.dumps(record) + "\n" for record in self.state.history)
            write_text(self.folder / "log.jsonl", "".join(lines))

    def _any_process(self, asked: bool) -> bool:
        if self.accelerator.num_processes == 1:
            return asked
        return bool(self.accelerator.reduce(torch.tensor(float(asked), device=self.accelerator.device)) > 0)

    def _examples_done(self) -> int:
        done = sum(len(rows) for rows in self._batches(self.state.epoch)[: self.state.step])
        return self.state.epoch * len(self.train_set) + done

    def _status(self, losses: Sequence[float], examples: int) -> str:
        terms = zip(Losses._fields, losses, strict=True)
        shown = [
            f"{name} {max(value / examples, 0):.3f}" for name, value in terms if name == "tokens" or value
        ]
        history = self.state.history
        dev = [f"dev {100 * history[-1]['dev_exact_match']:.1f} %"] if history else []
        return " ".join([f"epoch {self.state.epoch + 1}", *shown, *dev])
