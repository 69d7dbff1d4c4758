"""Training on pairs of one's own: look at them, race candidates, and train the winner on all of them."""

import json
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ftor.config import Config, shipped
from ftor.errors import FtorError
from ftor.files import read_json, write_text
from ftor.grammar import Grammar
from ftor.jobs import run_jobs
from ftor.jobs.loop import Board, LineBoard
from ftor.jobs.processes import Processes, cores
from ftor.model.folder import reader_of
from ftor.model.programs import INFER, NONE, reads_dialects
from ftor.reporting import SILENT, Report, counted
from ftor.text.programs import UnitSettings
from ftor.text.programs.pairs import AUTO, TargetUnits, encode_pairs, learn_programs
from ftor.text.reading import Pair, PairsFile
from ftor.text.recombining import recombined
from ftor.training.run import free_folder
from ftor.tuning.look import Look, lines_left_out, look
from ftor.tuning.race.candidates import Candidate, configuration, has_short_programs
from ftor.tuning.race.choice import Choice
from ftor.tuning.race.costs import Costs, default_minutes, least_epochs
from ftor.tuning.race.finishing import finish
from ftor.tuning.race.held_out import LEAST_PAIRS, hold_out, longer_pairs
from ftor.tuning.race.plan import MADE, RESULTS_FILE, Plan, allowed, write_held_out
from ftor.tuning.race.race import Race

RACE_FOLDER = "race"
OTHER_SEED = 1000
"""Pairs to choose by are drawn with another seed than those that are trained on."""
RESCORED_PART = 0.5
"""The best transducer gets an LSTM beside it if runs still have this part of the epochs that they want."""
CORES = 2
"""That the time is planned for. A machine with more is done earlier, and makes the same choice."""


class Request(BaseModel):
    """What the user asked for. It is kept in the folder, so that a stopped race can be continued.

    Attributes:
        train, dev, test: TSV files.
        overrides: `section.key=value`.
        seed: of the first runs.
        minutes: how long the race may take; None: by the number of pairs.
        quick: whether there is no race.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    train: Path
    dev: Path | None = None
    test: Path | None = None
    overrides: tuple[str, ...] = ()
    seed: int = 0
    minutes: float | None = None
    quick: bool = False

    @property
    def files(self) -> dict[str, Path]:
        """The files that there are."""
        files = {"train": self.train, "dev": self.dev, "test": self.test}
        return {split: path for split, path in files.items() if path is not None}

    @classmethod
    def new(
        cls,
        train: Path,
        dev: Path | None = None,
        test: Path | None = None,
        overrides: Sequence[str] = (),
        seed: int | None = None,
        minutes: float | None = None,
        quick: bool = False,
    ) -> "Request":
        """A request whose files are named by their full paths."""
        dev, test = (None if path is None else path.absolute() for path in (dev, test))
        return cls(
            train=train.absolute(), dev=dev, test=test, overrides=tuple(overrides), seed=seed or 0,
            minutes=minutes, quick=quick,
        )  # fmt: skip

    @classmethod
    def unfinished(cls, folder: Path) -> "Request | None":
        """The request of a race in a model folder that has not come to its end."""
        path = folder / RACE_FOLDER / "request.json"
        if not path.exists() or (folder / "metrics.json").exists():
            return None
        return cls.model_validate_json(path.read_text("utf-8"))


def is_pairs_file(name: str | Path) -> bool:
    """Whether `ftor train` gets pairs, not an experiment."""
    path = Path(name)
    return path.suffix == ".tsv" or (str(name) not in shipped() and path.suffix != ".toml" and path.is_file())


def folder_for(request: Request, folder: Path | None) -> Path:
    """The folder of the model: a new or empty one, or that of the same request if its race was stopped."""
    if folder is not None and Request.unfinished(folder) == request:
        return folder
    return free_folder(request.train.stem, request.seed, folder)


def plan_race(request: Request, folder: Path, report: Report, data_folder: Path | None = None) -> Plan:
    """Look at the pairs, hold some out, and decide what is raced for how long.

    Args:
        request: what the user asked for.
        folder: of the model.
        report: receives findings.
        data_folder: where an encoder and vectors are, if not in the usual folders.
    """
    config = _configuration(request)
    _check_files(config, data_folder)
    pairs = {split: file.pairs for split, file in _read(request, report).items()}
    train, dev, test = pairs["train"], pairs.get("dev", []), pairs.get("test", [])
    race = folder / RACE_FOLDER
    race.mkdir(parents=True, exist_ok=True)
    arities, dialects = config.data.arity_of, reads_dialects(config)
    found = look(train, dev, test, data_folder, arities, dialects)
    found = _with_first_pretrained(found, race / "pretrained.json")
    some = allowed(found, request.overrides)
    costs, wanted = _costs(request, found, list(some.values())), _wanted_epochs(found, request)
    write_text(race / "request.json", request.model_dump_json(indent=2) + "\n")
    programs = _units(found, train, arities, dialects)
    encoded = list(train) if programs is None else encode_pairs(programs, train)
    usable = _short_enough(encoded, found)
    train, encoded = [train[i] for i in usable], [encoded[i] for i in usable]
    size = len if programs is None else programs.size
    copying = bool(found.settings.get("model.copying"))
    parts = hold_out(encoded, request.seed, not dev, size, copying)
    left = [encoded[i] for i in parts.train]
    iterations = config.training.alignment_iterations
    made = recombined(left, programs, len(left), request.seed + OTHER_SEED, iterations)
    longer = longer_pairs(encoded, made, size)
    counts = len(parts.random), len(parts.harder), len(longer), len(dev)
    held_out = dict(zip(("random", "harder", MADE, "dev"), counts, strict=True))
    if not longer:
        del held_out[MADE]
    if request.quick:
        some = dict([next(iter(some.items()))])
    plan = Plan(
        name=request.train.stem,
        files=request.files,
        look=found,
        candidates=some,
        recombines=len(made) > len(left) / 4,
        held_out=held_out,
        rescores=costs.rescores,
        overrides=tuple(text for text in request.overrides if not _sets_epochs(text)),
        seed=request.seed,
        epochs=wanted,
        wanted=wanted,
        may_take_longer=request.minutes is None,
        pair_seconds=costs.pair_seconds,
        folder=race,
    )
    write_held_out(race, train, parts, dev, longer)
    if plan.races:
        plan = replace(plan, epochs=_affordable(request, costs, report))
    for finding in found.findings:
        (report.warn if finding.warning else report.say)(finding.message(request.files))
    if len(train) == 1:
        report.warn(
            f"{request.train}:{train[0].line}: this is the only training pair, so the model learns no other "
            f"target; give more pairs, for a race at least {LEAST_PAIRS}"
        )
    if plan.races:
        _tell_time(plan, costs, report)
    else:
        report.say(f"no race: {_why_no_race(request, plan)}")
    return plan


def _short_enough(pairs: Sequence[Pair], found: Look) -> list[int]:
    """The places of pairs that training does not leave out. One very long pair would cost all memory."""
    bound = found.settings.get("data.max_length")
    most = math.inf if bound is None else float(bound)
    return [i for i, pair in enumerate(pairs) if max(len(pair.source), len(pair.target)) <= most]


def _why_no_race(request: Request, plan: Plan) -> str:
    count = plan.look.pairs["train"]
    if request.quick:
        return "--quick"
    if len(plan.candidates) == 1:
        return "your settings leave one candidate"
    if count < LEAST_PAIRS:
        return f"{counted(count, 'pair')} found, at least {LEAST_PAIRS} are needed to hold some out"
    return (
        f"none of the {count} pairs can be held out: each has a source that occurs several times, or a word "
        "that no other pair has"
    )


def _configuration(request: Request) -> Config:
    """What the user has set, before the look. Targets may be programs."""
    return configuration("own", [{"data.programs": AUTO}], request.overrides)


def _check_files(config: Config, data_folder: Path | None) -> None:
    """Raise if the grammar or the reader that the user has set cannot be read, before anything is trained."""
    if config.decoding.grammar not in (None, INFER, NONE):
        Grammar.read(config.decoding.grammar)
    reader = reader_of(config, data_folder)
    if reader is not None:
        reader.check()


def _with_first_pretrained(found: Look, path: Path) -> Look:
    """The look with the files that the race began with: they may come and go before it is resumed."""
    if not path.exists():
        if (path.parent / RESULTS_FILE).exists():
            raise FtorError(f"{path.parent}: another version began this race; start it anew")
        write_text(path, json.dumps({"vectors": found.vectors, "reader": found.reader}) + "\n")
    return found.model_copy(update=read_json(path))


def _read(request: Request, report: Report) -> dict[str, PairsFile]:
    """Read the files with the tokenizers that the user has set."""
    data = _configuration(request).data
    settings = data.source_tokenizer, data.target_tokenizer, data.emphasis
    return {split: PairsFile.read(path, *settings, report=report) for split, path in request.files.items()}


def _sets_epochs(override: str) -> bool:
    return override.partition("=")[0].strip() in ("epochs", "training.epochs")


def _wanted_epochs(found: Look, request: Request) -> int:
    """The epochs that the user has set, or that the data would like."""
    if any(map(_sets_epochs, request.overrides)):
        return _configuration(request).training.epochs
    return int(found.settings["training.epochs"])


def _units(
    found: Look, pairs: Sequence[Pair], arities: Mapping[str, int] | None, dialects: bool
) -> TargetUnits | None:
    """The units of targets that are programs."""
    notation = str(found.settings["data.programs"])
    if notation == "none":
        return None
    copying = bool(found.settings.get("model.copying"))
    splits = {"train": pairs}
    return learn_programs(notation, splits, UnitSettings(), copying, None, arities, dialects).units


def _costs(request: Request, found: Look, some: Sequence[Candidate]) -> Costs:
    """What a race takes. With an LSTM beside the best transducer, runs would often be too short to learn."""
    costs = Costs(found, some, has_short_programs(found), CORES)
    enough = RESCORED_PART * _wanted_epochs(found, request)
    if costs.affordable_epochs(_minutes(request, found)) < enough:
        return replace(costs, rescores=False)
    return costs


def _minutes(request: Request, found: Look) -> float:
    return default_minutes(found.pairs["train"]) if request.minutes is None else request.minutes


def _affordable(request: Request, costs: Costs, report: Report) -> int:
    """The epochs of the longest runs, within the time and what the data needs.

    Says first of all if that takes longer than the user wants.
    """
    found = costs.look
    minutes = _minutes(request, found)
    least, wanted = least_epochs(found), _wanted_epochs(found, request)
    epochs = min(wanted, max(costs.affordable_epochs(minutes), least))
    needed = costs.minutes(epochs)
    if epochs == least and needed > 1.2 * minutes:
        limit = "" if request.minutes is None else f", longer than --minutes {minutes:g}"
        report.say(
            f"the race takes about {needed:.1f} minutes{limit}: {least} epochs are the least that tell "
            "anything; --quick trains one candidate without a race"
        )
    return epochs


def _tell_time(plan: Plan, costs: Costs, report: Report) -> None:
    """Say what is raced for how long."""
    counts = ", ".join(f"{count} {kind}" for kind, count in plan.held_out.items() if count)
    minutes = costs.minutes(plan.epochs)
    report.say(
        f"race: {len(plan.candidates)} candidates, at most {plan.epochs} epochs, held out: {counts} pairs; "
        f"at most about {minutes:.1f} minutes on {CORES} idle cores"
        + (", longer if all are often wrong" if plan.longer(plan.epochs) else "")
    )
    if plan.epochs < plan.wanted:
        # With so much time, the best transducer gets an LSTM beside it.
        more = replace(costs, rescores=has_short_programs(plan.look)).minutes(plan.wanted)
        report.say(f"the data would like {plan.wanted} epochs: --minutes {math.ceil(more)}")


def warn_of_left_out(request: Request, found: Look, report: Report) -> None:
    """Warn of the lines that were no pairs, and of pairs that were too long."""
    left_out = lines_left_out(_read(request, SILENT), found)
    if left_out:
        report.warn(f"left out: {left_out}")


def train_on_pairs(
    request: Request,
    folder: Path,
    report: Report,
    data_folder: Path | None = None,
    board: Callable[[Race], Board] | None = None,
    resume_options: Sequence[str] = (),
    explains: bool = False,
) -> Choice | None:
    """Look at pairs, race candidates, and put the model of the winner into `folder`.

    Args:
        request: what the user asked for.
        folder: from `folder_for`.
        report: receives messages.
        data_folder: where an encoder and vectors are, if not in the usual folders.
        board: makes the board that shows the race. By default lines say how its runs end.
        resume_options: of the command that resumes the race, which is shown if it is stopped.
        explains: whether the caller shows the reason of the choice.

    Returns:
        What was chosen, or None if Ctrl-C stopped the race. The same call continues it.
    """
    race = Race(plan_race(request, folder, report, data_folder), report, data_folder)
    choice = None
    if run_jobs(race, Processes(cores()), LineBoard(report) if board is None else board(race)):
        with suppress(KeyboardInterrupt):  # two models that are joined are evaluated, which may take a while
            choice = finish(race, folder, data_folder)
    if choice is None:
        command = shlex.join(["ftor", "train", "--resume", str(folder), *resume_options])
        report.say(f"stopped; to resume: {command}")
        return None
    if not (choice.kept and explains):
        (report.say if choice.kept else report.warn)(choice.reason)
    report.say(f"model in {folder}")
    warn_of_left_out(request, race.plan.look, report)
    return choice
