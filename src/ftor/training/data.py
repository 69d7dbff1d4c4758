"""The pairs that a run trains and selects epochs on, after checks against its network and the free memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from ftor.config import Config, DataConfig, NetworkConfig
from ftor.datasets import DATASETS
from ftor.datasets.splits import hold_out, load_splits
from ftor.grammar import Grammar
from ftor.model.model import Model
from ftor.model.programs import INFER, NONE, reads_dialects
from ftor.reporting import Report, counted
from ftor.text.aligning import ALIGNERS, common_token_positions, confident
from ftor.text.comparing import looks_swapped, same_pairs
from ftor.text.copying import Copying
from ftor.text.lengths import length_bound, longer_side
from ftor.text.programs import UnitSettings
from ftor.text.programs.grammars import left_out
from ftor.text.programs.pairs import TargetUnits, encode_pairs, learn_programs
from ftor.text.programs.rules import GRAMMAR, RuleUnits
from ftor.text.reading import PROBLEMS_SHOWN, DataError, Pair
from ftor.text.recombining import recombined

BYTES_PER_CUBE = 12
"""Memory that training a reordering takes for each l³ of each row, measured at l = 100 and 200."""


@dataclass(frozen=True)
class TrainingData:
    """The pairs of a run.

    Attributes:
        train: pairs to train on.
        dev: pairs that select the best epoch.
        test: pairs that are evaluated once, at the end.
        reachable_dev: the dev pairs whose target can be written, with a length of a probability above 0.
        train_name: name of the training file, for messages.
        data_folder: the data folder that the user named, if any.
        programs: how targets are written in units, if they are.
        left_out: how many lines and pairs of each file are left out, for a message at the end.
        made: how many of the training pairs are put together from parts of the others.
    """

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    reachable_dev: list[Pair]
    train_name: str
    data_folder: Path | None = None
    programs: TargetUnits | None = None
    left_out: tuple[str, ...] = ()
    made: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many training pairs there are, how many more were made, and how many dev pairs are among them.

        The latter only if most of them are: their results are no estimate then.
        """
        known = {(pair.source, pair.target) for pair in self.train}
        seen = sum((pair.source, pair.target) in known for pair in self.dev)
        made = {"made": self.made} if self.made else {}
        dev = {"dev_pairs": seen} if 2 * seen > len(self.dev) else {}
        return {"count": len(self.train) - self.made, **made, **dev}


def load_training_data(
    config: Config, data_folder: Path | None, run_folder: Path, report: Report
) -> TrainingData:
    """Load the pairs of an experiment and check that its network can be trained on them.

    Bad lines of own files, and training pairs that are too long, are left out. If there is no dev file, some
    training pairs are held out.

    Args:
        config: the experiment.
        data_folder: the data folder, if the user named one.
        run_folder: the folder of the run, where missing pairs are generated.
        report: receives where the pairs come from and which are left out.
    """
    splits = load_splits(config, data_folder, run_folder, report)
    train_path = splits.paths["train"]
    programs, unwritable = None, set[int]()
    if config.data.programs != "none":
        data = config.data
        files = {"train": _with_forms(splits.train, data), "dev": splits.dev or [], "test": splits.test}
        settings = UnitSettings(data.unit_share, data.unit_child_share, data.unit_count)
        grammar = _grammar_of_units(config)
        how = grammar, data.arity_of, reads_dialects(config)
        learned = learn_programs(data.programs, files, settings, config.model.copies, *how)
        learned.tell(report, splits.paths)
        programs, unwritable = learned.units, set(learned.unwritable.get("dev", ()))
    if programs is not None:
        splits = replace(
            splits,
            train=encode_pairs(programs, splits.train),
            dev=None if splits.dev is None else encode_pairs(programs, splits.dev),
            test=encode_pairs(programs, splits.test),
        )
    part = "token" if programs is None else "unit"
    reachable = _reachable(splits.train, config, train_path, part, report)
    if not reachable:
        raise DataError(f"{train_path}: all targets are too long for model.max_fertility")
    bound = config.data.max_length
    if bound is None and config.data.task not in DATASETS:
        bound = length_bound(reachable)
    train = _affordable(reachable, config, bound, train_path, part, report)
    too_long = len(splits.train) - len(train)
    dev = splits.dev
    if dev is None:
        train, dev = hold_out(train, report)
    else:
        _check_dev(dev, splits.train, splits.paths["dev"], train_path, report)
    own = len(train)
    train = _with_recombined(train, config, programs, report)
    made = len(train) - own
    _check_memory(train, config, train_path)
    dev_path = splits.paths.get("dev", train_path)
    writable_dev = [pair for pair in dev if pair.line not in unwritable]
    if not writable_dev:
        raise DataError(f"{dev_path}: no target is written in the notation of {train_path}")
    affordable_dev = [pair for pair in writable_dev if not _excess(pair, config, bound, part)]
    reachable_dev = [pair for pair in affordable_dev if _can_reach(pair, config)]
    if not reachable_dev:
        raise DataError(f"{dev_path}: all dev targets are too long for model.max_fertility or for training")
    if len(reachable_dev) < len(writable_dev):
        limit = "model.max_fertility" if len(affordable_dev) == len(writable_dev) else "training"
        known = {pair.line for pair in reachable_dev}
        first = next(pair.line for pair in writable_dev if pair.line not in known)
        count = f"{len(writable_dev) - len(reachable_dev)} of {len(dev)}"
        report.warn(
            f"{dev_path}:{first}: {count} dev targets are too long for {limit}; the dev loss leaves them out"
        )
    long = [f"{train_path}: {counted(too_long, 'pair')} too long"] if too_long else []
    left_out, folder = (*splits.left_out, *long), data_folder
    name = str(train_path)
    return TrainingData(train, dev, splits.test, reachable_dev, name, folder, programs, left_out, made)


def _with_forms(pairs: list[Pair], data: DataConfig) -> list[Pair]:
    """Pairs whose sources also have the forms in which their words are copied."""
    if not data.copy_forms or data.programs == GRAMMAR:
        return pairs
    copies = Copying.of(data).copies
    return [replace(pair, source=(*pair.source, *copies(pair.source))) for pair in pairs]


def _grammar_of_units(config: Config) -> Grammar | None:
    """The user's grammar, if its rules make the units of targets."""
    if config.data.programs != GRAMMAR:
        return None
    name = config.decoding.grammar
    if name is None or name in (INFER, NONE):
        found = name or NONE
        raise DataError(
            f'data.programs = "{GRAMMAR}": expected a grammar in decoding.grammar, found {found!r}'
        )
    return Grammar.read(name)


def _with_recombined(
    train: list[Pair], config: Config, programs: TargetUnits | None, report: Report
) -> list[Pair]:
    """The training pairs and those that are put together from their parts, if any are wanted."""
    settings = config.training
    count = settings.recombine_pool * round(settings.recombine * len(train))
    if not count:
        return train
    pairs = train
    if isinstance(programs, RuleUnits) and config.data.lowercase and config.data.copy_case == "any":
        pairs = [replace(pair, source=tuple(word.lower() for word in pair.source)) for pair in pairs]
    made = recombined(
        pairs, programs, count, settings.seed, settings.alignment_iterations, settings.recombine_lists
    )
    usable = [pair for pair in made if _can_reach(pair, config)]
    report.say(f"{len(usable)} pairs are put together from parts of {len(train)} training pairs")
    return [*train, *usable]


def wanted_alignments(config: Config, pairs: Sequence[Pair]) -> list[list[tuple[int, int]]] | None:
    """For each pair, the (source position, target position) that the alignment warm-up trains.

    None if the experiment has no alignment warm-up.
    """
    settings, start_token = config.training, config.data.start_token
    if not settings.alignment_epochs:
        return None
    posteriors = ALIGNERS[settings.aligner](pairs, settings.alignment_iterations, start_token)
    wanted = list(confident(posteriors, settings.alignment_threshold))
    if not (settings.align_start and start_token):
        return wanted
    with_start = common_token_positions([pair.target for pair in pairs])
    return [sure + [(0, j) for j in places] for sure, places in zip(wanted, with_start, strict=True)]


def check_grammar(model: Model, data: TrainingData, report: Report) -> None:
    """Warn if a grammar cannot be inferred, lacks alternatives, is not used, or does not derive a target."""
    if model.grammar is None:
        if model.config.decoding.grammar == INFER:
            report.warn(
                "decoding.grammar: a grammar is only inferred from programs, and the targets are plain "
                "tokens, so there is none"
            )
        return
    if lost := left_out(model.grammar):
        more = f", and {len(lost) - PROBLEMS_SHOWN} more" if len(lost) > PROBLEMS_SHOWN else ""
        shown = "; ".join(lost[:PROBLEMS_SHOWN])
        report.warn(f"{model.grammar.name}: left out, because training has no such programs: {shown}{more}")
    if not model.uses_grammar:
        report.warn(
            "decoding.grammar: an autoregressive decoder uses the words of the grammar, not its rules"
        )
    underived = [pair for pair in data.train if not model.derives(pair.target, pair.source)]
    if underived:
        first, count = underived[0], len(data.train)
        report.warn(
            f"the grammar derives {count - len(underived)} of {count} training targets; the first that it "
            f"does not derive is {data.train_name}:{first.line}: {' '.join(first.target)}"
        )


def _can_reach(pair: Pair, config: Config) -> bool:
    longest = config.model.longest_target(len(pair.source) + config.data.start_token)
    return longest is None or len(pair.target) <= longest


def _reachable(pairs: Sequence[Pair], config: Config, path: Path, part: str, report: Report) -> list[Pair]:
    """The pairs whose target is not too long for the network. The first others are listed."""
    too_long = [pair for pair in pairs if not _can_reach(pair, config)]
    if too_long:
        listed = [
            f"  {path}:{pair.line}: {counted(len(pair.target), f'target {part}')} from "
            f"{counted(len(pair.source), 'source token')}"
            for pair in too_long[:PROBLEMS_SHOWN]
        ]
        more = len(too_long) - len(listed)
        listed += [f"  and {counted(more, 'pair')} more"] if more else []
        report.warn(
            f"left out {len(too_long)} of {len(pairs)} training pairs: their targets are longer than "
            f"{config.model.longest_target(1)} copies of each source token "
            "(model.max_fertility):\n" + "\n".join(listed)
        )
    return [pair for pair in pairs if _can_reach(pair, config)]


def _affordable(
    pairs: Sequence[Pair], config: Config, bound: int | None, path: Path, part: str, report: Report
) -> list[Pair]:
    """The pairs that are not too long to be trained on. The first others are named."""
    kept, left_out = [], list[str]()
    for pair in pairs:
        excess = _excess(pair, config, bound, part)
        if excess:
            left_out.append(f"{path}:{pair.line}: {excess}; left out of training")
        else:
            kept.append(pair)
    if not kept:
        first = pairs[0]
        raise DataError(f"{path}:{first.line}: {_excess(first, config, bound, part)}; so are all other pairs")
    for message in left_out[:PROBLEMS_SHOWN]:
        report.warn(message)
    if len(left_out) > PROBLEMS_SHOWN:
        more = counted(len(left_out) - PROBLEMS_SHOWN, "pair")
        report.warn(f"{path}: {more} more too long to be trained on, of {len(pairs)} in all; left out")
    return kept


def _excess(pair: Pair, config: Config, bound: int | None, part: str) -> str:
    """Why a pair, whose target consists of `part`s, is too long to be trained on. Empty if it is not."""
    if bound is not None and longer_side(pair) > bound:
        far = "" if config.data.max_length else ", which nearly all others are far below"
        source, target = len(pair.source), len(pair.target)
        sizes = f"{counted(source, 'source token')} and {counted(target, f'target {part}')}"
        return f"{sizes} are more than data.max_length = {bound}{far}"
    needed, free = _bytes(pair, config.model), psutil.virtual_memory().available
    if needed > free:
        return (
            f"a target of {counted(len(pair.target), part)} needs about {needed / 1e9:.0f} GB of memory for "
            f"its reorderings, and {free / 1e9:.0f} GB are free"
        )
    return ""


def _check_dev(
    dev: Sequence[Pair], train: Sequence[Pair], path: Path, train_path: Path, report: Report
) -> None:
    """Warn if dev pairs are the training pairs, or if the columns of one file are swapped."""
    if len(same_pairs(dev, train)) == len(dev):
        report.warn(f"{path}: all dev pairs are training pairs of {train_path}; they do not show overfitting")
    elif looks_swapped(dev, train):
        report.warn(f"{path}: its sources look like targets of {train_path}: are the columns swapped?")


def _check_memory(pairs: Sequence[Pair], config: Config, path: Path) -> None:
    """Raise if a batch of the longest pairs does not fit into memory. Training may reach it late."""
    model = config.model
    needed, pair = max(((_bytes(pair, model), pair) for pair in pairs), key=lambda item: item[0])
    # The longest pairs are in the same batch.
    largest = sorted((_bytes(pair, model) for pair in pairs), reverse=True)
    of_batch = needed * sum(size > 0.5 * needed for size in largest[: config.training.batch_size])
    free = psutil.virtual_memory().available
    if of_batch > free:
        raise DataError(
            f"{path}:{pair.line}: a target of {len(pair.target)} tokens needs about {of_batch / 1e9:.0f} GB "
            f"of memory for its reorderings, and {free / 1e9:.0f} GB are free; shorten it, or set a smaller "
            'training.batch_size or model.order = "fertility"'
        )


def _bytes(pair: Pair, config: NetworkConfig) -> int:
    return BYTES_PER_CUBE * config.reordered(len(pair.source), len(pair.target)) ** 3
