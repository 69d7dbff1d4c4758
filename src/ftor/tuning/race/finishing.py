"""The end of a race: its model leaves the race's folder, together with a second one if pairs are hard."""

import shutil
from dataclasses import replace
from pathlib import Path

from ftor.config import Config, ConfigError
from ftor.errors import FtorError
from ftor.files import write_text
from ftor.model.calibrating import fit_confidence
from ftor.model.confidence import CONFIDENCE_FILE, Calibration
from ftor.model.evaluation import read_golds
from ftor.model.folder import METRICS_FILE
from ftor.model.model import Model
from ftor.reporting import SILENT
from ftor.training.joining import can_join, join
from ftor.training.train import as_overrides
from ftor.tuning.race.candidates import MEMBERS
from ftor.tuning.race.choice import Choice
from ftor.tuning.race.plan import FROM_RUN, HELD_OUT_FILE
from ftor.tuning.race.race import Race
from ftor.tuning.race.results import is_below
from ftor.tuning.race.standings import ALL_RIGHT

JOINED = "joined"
"""The folder of the two best final runs together."""


def finish(race: Race, folder: Path, data_folder: Path | None = None) -> Choice:
    """Put the model of a race that has come to its end into `folder`, and remove all runs.

    If this is stopped, it can be done once more: the runs stay until the model is finished.
    """
    assert race.final is not None
    final = race.plan.folder / "runs" / race.final.run
    problem = race.results[race.final].problem
    if problem is not None:
        raise FtorError(f"{race.final.run}: {problem}")
    joined = _joined(race, data_folder)
    found = joined or final
    for file in found.iterdir():
        if file.name != METRICS_FILE:
            shutil.copy(file, folder)
    _name_held_out(folder, race.plan.folder.name)
    held_out = race.plan.held_out
    if any(held_out.values()) and not held_out.get("dev"):
        _fit_confidence(race, folder, data_folder)
    choice = Choice.of(race, 1 if joined is None else MEMBERS)
    choice.write(folder)
    (found / METRICS_FILE).replace(folder / METRICS_FILE)  # with it the model is finished
    shutil.rmtree(race.plan.folder / "runs")
    return choice


def _joined(race: Race, data_folder: Path | None) -> Path | None:
    """The two best models of all pairs as one, if a single one may be wrong and both are not clearly worse.

    Models with other seeds err on other sentences, so their mean is right where one of them is sure. Where
    every held-out pair was right, one model is enough, and twice as fast. So it is if the user has set the
    number of members. Held-out pairs are often training pairs of these models, so a small difference tells
    nothing.
    """
    assert race.final is not None
    could = _can_have_members(race.plan.config(race.final))
    could = could and not any(map(_sets_members, race.plan.overrides))
    entries = [entry for entry in race.finals if race.results[entry].problem is None][:MEMBERS]
    if not could or len(entries) < MEMBERS or race.promised is None or race.promised >= ALL_RIGHT:
        return None
    runs = race.plan.folder / "runs"
    folders, joined = [runs / entry.run for entry in entries], runs / JOINED
    shutil.rmtree(joined, ignore_errors=True)  # of a race that was stopped here
    if not can_join(folders):
        return None
    single, score = race.results[race.final], join(folders, joined, data_folder)
    if is_below(score, single.score, race.plan.final_pairs):
        return None
    race.results[race.final] = replace(single, score=score)
    return joined


def _can_have_members(config: Config) -> bool:
    try:
        config.with_overrides([f"model.members={MEMBERS}"])
    except ConfigError:  # not every architecture has them, and not with all settings
        return False
    return True


def _sets_members(override: str) -> bool:
    return override.partition("=")[0].strip() in ("members", "model.members")


def _fit_confidence(race: Race, folder: Path, data_folder: Path | None) -> None:
    """Fit the confidence of a final model whose dev pairs are training pairs, too.

    It is that of the winner's longest run in the race, which was not trained on the held-out pairs. If the
    final model has two members, that is the confidence of one.
    """
    (folder / CONFIDENCE_FILE).unlink(missing_ok=True)
    assert race.final is not None
    if not race.plan.config(race.final).training.confidence:
        return
    runs = [entry for entry in race.results if entry.candidate == race.final.candidate and not entry.final]
    replaced = race.standings.is_replaced
    rivals = [entry for entry in runs if not (replaced(entry) or race.results[entry].problem)]
    if rivals:
        longest = min(rivals, key=lambda entry: (-entry.epochs, entry.seed))
        found = _calibration(race.plan.folder / "runs" / longest.run, race.plan.folder, data_folder)
        if found is not None:
            found.write(folder)


def _calibration(run: Path, race: Path, data_folder: Path | None) -> Calibration | None:
    """The confidence of the model of a run, by the held-out pairs of its race. None if they are too few."""
    model = Model.load(run, data_folder=data_folder)
    return fit_confidence(model, read_golds(model, race / HELD_OUT_FILE, SILENT)[0])


def _name_held_out(folder: Path, race: str) -> None:
    """Let the configuration of a model that has left the race find the held-out pairs of the race."""
    config = Config.load(folder / "config.toml")
    if config.data.dev == (FROM_RUN / HELD_OUT_FILE).as_posix():
        config = config.with_overrides(as_overrides({"data.dev": f"{race}/{HELD_OUT_FILE}"}))
        write_text(folder / "config.toml", config.to_toml())
