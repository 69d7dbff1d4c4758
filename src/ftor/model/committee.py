"""Several models that answer together: `ftor.load([…])`, and folders of committees."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import torch

from ftor.errors import FtorError
from ftor.files import write_text
from ftor.metrics import accuracy_name
from ftor.model.confidence import Calibration
from ftor.model.evaluation import read_golds
from ftor.model.folder import COMMITTEE_FILE
from ftor.model.hub import is_remote
from ftor.model.model import Model
from ftor.model.one_task import require_one_task
from ftor.model.prediction import Alternative, Prediction
from ftor.model.tensors import CheckpointError
from ftor.networks.committee import Committee as CommitteeNetwork
from ftor.networks.committee import Mean
from ftor.networks.lstm import LSTMSeq2Seq
from ftor.networks.lstm_members import LSTMMembers
from ftor.networks.network import Network
from ftor.networks.rescored import Rescored, RescoredCommittee, Rescoring
from ftor.networks.transducer import Transducer
from ftor.ops.arrays import Array
from ftor.reporting import SILENT, Report
from ftor.text.reading import Pair

How = Literal["log", "arithmetic", "soup"]
KINDS = ("independent", "autoregressive", "lstm", "rescored")
"""Models that can be averaged, by their decoders. Those of the first kind that there is lead a committee."""
N = TypeVar("N", bound=Network)
CANDIDATES = 20
"""Outputs of the transducers that other models score."""
UNWRITABLE = -100.0
"""The score of an output that a member can never write."""
SHARES = [step / 20 for step in range(20)]
"""The weights that are tried for a member that scores."""

Sentences = Sequence[str | Sequence[str]]
Candidates = Sequence[tuple[int, Alternative]]
"""The number of a sentence, and an output that was found for it."""


class Committee(Model):
    """Models that answer together. `ftor.load([a, b, c])` returns one.

    The first model of the first of `KINDS` that there is leads. It is averaged with those of its kind that
    read and write the same words. All other models score the outputs that these find, and the weighted mean
    of scores chooses.

    Attributes:
        members: all models.
        mean: "log" or "arithmetic", of the averaged transducers; by default as the leader says.
        scorers: the members that score outputs.
        weights: of the averaged models together, then of each scorer. They sum to 1.
    """

    def __init__(
        self,
        members: Sequence[Model],
        mean: Mean | None = None,
        weights: Sequence[float] | None = None,
        folder: Path | None = None,
    ) -> None:
        leader = min((one for one in members if _kind(one) is not None), key=_kind_number, default=None)
        if leader is None:
            raise FtorError(
                "committee: expected an LSTM, or a transducer that does not have both a rescorer and trained "
                "layers of a reader; found none"
            )
        mean = mean or leader.config.decoding.committee
        averaged = [one for one in members if _kind(one) == _kind(leader) and _same_words(one, leader)]
        super().__init__(
            leader.config,
            leader.vocabularies,
            _averaged(averaged, mean).eval(),
            leader.grammar,
            leader._data_folder,
            folder,
            leader.programs,
        )
        self.members, self.mean = tuple(members), mean
        self.scorers = tuple(member for member in members if member not in averaged)
        self.weights = self._equal_weights if weights is None else tuple(weights)
        if len(self.weights) != 1 + len(self.scorers):
            where = "committee" if folder is None else folder / COMMITTEE_FILE
            raise FtorError(
                f"{where}: expected {1 + len(self.scorers)} weights, found {len(self.weights)}, perhaps of "
                "an older version; calibrate the members anew with ftor calibrate … --out DIR"
            )

    @property
    def _equal_weights(self) -> tuple[float, ...]:
        """Those with which each member counts the same. A model of two members counts as two."""
        counts = [_size(self.network), *(_size(scorer.network) for scorer in self.scorers)]
        return tuple(count / sum(counts) for count in counts)

    def save(self, folder: str | Path) -> None:
        """Write a folder that `ftor.load` reads, with the folders of all members in it."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for member, name in zip(self.members, self._names, strict=True):
            member.save(folder / name)
        self.save_fitted(folder)

    def save_fitted(self, folder: Path) -> None:
        """Write the weights and the calibration, not the members."""
        super().save_fitted(folder)
        description = {"members": self._names, "mean": self.mean, "weights": list(self.weights)}
        write_text(folder / COMMITTEE_FILE, json.dumps(description, indent=2) + "\n")

    @property
    def _names(self) -> list[str]:
        """The folders of the members in the folder of the committee."""
        return [f"member-{number}" for number in range(1, len(self.members) + 1)]

    def push_to_hub(self, repo: str, *, private: bool | None = None, message: str = "Add a model") -> str:
        """A committee is several models. Each can be sent."""
        raise FtorError("push_to_hub: a committee cannot be sent; send its members")

    def calibrate(self, pairs: Sequence[Pair] | str | Path, report: Report = SILENT) -> Calibration:
        """Fit the weights of the scorers, then the confidence of predictions."""
        if self.scorers:
            self.fit_weights(pairs, report)
        return super().calibrate(pairs, report)

    def fit_weights(self, pairs: Sequence[Pair] | str | Path, report: Report = SILENT) -> None:
        """Choose the weights that make the most answers right.

        The share of one scorer at a time is changed, from equal shares. Of equally good ones, the share
        nearest to the one before is kept.

        Args:
            pairs: pairs that the members were not trained on, or a TSV file of them.
            report: receives the progress.
        """
        golds, _ = read_golds(self, pairs, report)
        sentences, emphasis = [pair.source for pair in golds], [pair.emphasis for pair in golds]
        self.weights = (1.0, *[0.0] * len(self.scorers))
        found = self.predict(
            sentences, emphasis=emphasis, structure=False, n_best=CANDIDATES, confidence=False, report=report
        )
        rows = [(row, one) for row, prediction in enumerate(found) for one in _candidates(prediction)]
        pairs_of_rows, outputs = [golds[row] for row, _ in rows], [one.tokens for _, one in rows]
        verdicts = self.judge(pairs_of_rows, outputs, quick=True).right
        right = verdicts[accuracy_name(verdicts)]
        scores = self._member_scores(sentences, emphasis, rows)
        of_row: dict[int, list[int]] = {}
        for place, (row, _) in enumerate(rows):
            of_row.setdefault(row, []).append(place)

        def count(weights: Sequence[float]) -> int:
            totals = scores @ np.array(weights)
            return sum(bool(right[places[totals[places].argmax()]]) for places in of_row.values())

        weights = list(self._equal_weights)
        for number in range(1, len(weights)):
            tried = [_with_share(weights, number, share) for share in SHARES]
            weights = max(tried, key=lambda some: (count(some), -abs(some[number] - weights[number])))
        self.weights = tuple(weights)
        report.say(f"weights: {', '.join(f'{weight:.2f}' for weight in weights)}")

    def _searched(self, n_best: int, calibrated: bool) -> int:
        searched = super()._searched(n_best, calibrated)
        return max(searched, CANDIDATES) if self.scorers else searched

    def _ranked(
        self, predictions: list[Prediction], sentences: Sentences, emphasis: Sequence[str | None] | None
    ) -> list[Prediction]:
        """Predictions whose answers and alternatives are ordered by the scores of all members."""
        rows = [(row, one) for row, found in enumerate(predictions) for one in _candidates(found)]
        if not rows or not any(self.weights[1:]):
            return predictions
        totals = self._member_scores(sentences, emphasis, rows) @ np.array(self.weights)
        by_row: dict[int, list[Alternative]] = {}
        for (row, one), total in zip(rows, totals.tolist(), strict=True):
            by_row.setdefault(row, []).append(replace(one, score=total))
        ranked = [
            _reordered(found, by_row[row]) if row in by_row else found
            for row, found in enumerate(predictions)
        ]
        foreign = self.vocabularies.foreign
        return [replace(one, foreign=foreign(one.words, one.tokens)) for one in ranked]

    def _member_scores(
        self, sentences: Sentences, emphasis: Sequence[str | None] | None, rows: Candidates
    ) -> Array:
        """The scores (rows, 1 + scorers): of the transducers together, then of each scorer."""
        columns = [[one.score for _, one in rows]]
        for scorer in self.scorers:
            same = scorer.config.data.source_tokenizer == self.config.data.source_tokenizer
            sources = [
                sentence if same or isinstance(sentence, str) else " ".join(sentence)
                for sentence in (sentences[row] for row, _ in rows)
            ]
            words = None if emphasis is None else [emphasis[row] for row, _ in rows]
            scores = scorer.score(sources, [one.text for _, one in rows], emphasis=words, grammar=None)
            columns.append([max(score.score, UNWRITABLE) for score in scores])
        return np.array(columns).T


def load_models(
    folders: str | Path | Sequence[str | Path],
    how: How | None = None,
    device: str | torch.device = "cpu",
    data_folder: Path | None = None,
) -> Model:
    """Read a model, a committee, or several models that become one. See `ftor.load`."""
    names = [folders] if isinstance(folders, str | Path) else list(folders)
    if not names:
        raise FtorError("ftor.load: expected a model folder, found an empty list")
    models = [_load(name, device, data_folder) for name in names]
    if len(models) == 1:
        return models[0]
    if any(isinstance(model, Committee) for model in models):
        raise FtorError("committee: its members are models, not committees")
    require_one_task(models)
    return _soup(models) if how == "soup" else Committee(models, how)


def _load(name: str | Path, device: str | torch.device, data_folder: Path | None) -> Model:
    if is_remote(name) or not (Path(name) / COMMITTEE_FILE).is_file():
        return Model.load(name, device, data_folder)
    folder = Path(name)
    try:
        read = json.loads((folder / COMMITTEE_FILE).read_text("utf-8"))
        members, mean, weights = list(read["members"]), read["mean"], list(map(float, read["weights"]))
        if mean not in ("log", "arithmetic") or not all(isinstance(member, str) for member in members):
            raise ValueError(f"mean {mean!r} of {members}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{folder / COMMITTEE_FILE}: not a committee: {error!r}") from None
    models = [Model.load(folder / member, device, data_folder) for member in members]
    committee = Committee(models, mean, weights, folder)
    committee.calibration = Calibration.read(folder)
    return committee


def _soup(models: Sequence[Model]) -> Model:
    """A model whose weights are the means of those of others, trained on the same pairs with other seeds."""
    first, *others = models
    weights = [model.network.state_dict() for model in models]
    shapes = [{name: tensor.shape for name, tensor in some.items()} for some in weights]
    for other, shape in zip(others, shapes[1:], strict=True):
        if not _same_words(other, first) or shape != shapes[0]:
            raise FtorError(f"soup: {other.folder} has other words or sizes than {first.folder}")
    mean = {
        name: torch.stack([some[name].double() for some in weights]).mean(0).to(tensor)
        for name, tensor in weights[0].items()
    }
    first.network.load_state_dict(mean)
    first.folder, first.calibration = None, None
    return first


def _kind(model: Model) -> str | None:
    """What a model can be averaged with: models of the same kind, one of `KINDS`."""
    network = model.network
    if isinstance(network, Rescoring):
        # Rankers read one batch together. Members that train layers of a reader have one each.
        return None if network.config.reader_layers else "rescored"
    if isinstance(network, CommitteeNetwork) or type(network) is Transducer:
        return network.config.decoder
    return "lstm" if isinstance(network, LSTMMembers | LSTMSeq2Seq) else None


def _kind_number(model: Model) -> int:
    return KINDS.index(str(_kind(model)))


def _averaged(models: Sequence[Model], mean: Mean) -> Network:
    """The network of models that can be averaged."""
    networks = [model.network for model in models]
    if _kind(models[0]) == "lstm":
        return LSTMMembers([one for network in networks for one in _members(network, LSTMSeq2Seq)])
    if _kind(models[0]) == "rescored":
        return RescoredCommittee([one for network in networks for one in _members(network, Rescored)], mean)
    return CommitteeNetwork([one for network in networks for one in _members(network, Transducer)], mean)


def _members(network: Network, kind: type[N]) -> list[N]:
    """The members of a network, or the network itself."""
    found = network.members if isinstance(network, CommitteeNetwork | LSTMMembers) else [network]
    return [one for one in found if isinstance(one, kind)]


def _size(network: Network) -> int:
    """How many members a network has."""
    return len(network.members) if isinstance(network, CommitteeNetwork | LSTMMembers) else 1


def _same_words(model: Model, other: Model) -> bool:
    """Whether two models read and write the same words in the same way."""
    mine, others = (
        (
            one.vocabularies.source.tokens,
            one.vocabularies.target.tokens,
            one.vocabularies.copying,
            one.config.data.start_token,
            one.config.data.lowercase,
            one.config.data.source_tokenizer,
            one.config.data.vectors,
            one.config.model.accepts_new_vectors,
            one.config.model.pretrained_reader,
            one.config.model.trained_reader_layers,
            getattr(one.config.model, "max_fertility", None),
            None if one.programs is None else one.programs.to_dict(),
        )
        for one in (model, other)
    )
    return mine == others


def _candidates(prediction: Prediction) -> list[Alternative]:
    """The answer and its alternatives. Empty if there is an error instead."""
    if prediction.error is not None:
        return []
    own = Alternative(prediction.text, prediction.tokens, prediction.score, prediction.share or 1.0)
    return [own, *prediction.alternatives]


def _reordered(prediction: Prediction, candidates: Sequence[Alternative]) -> Prediction:
    """A prediction with the best of its candidates as the answer. Equal ones keep their order."""
    ranked = sorted(candidates, key=lambda one: -one.score)
    shares = torch.tensor([one.score for one in ranked], dtype=torch.float64).softmax(0).tolist()
    ranked = [replace(one, share=share) for one, share in zip(ranked, shares, strict=True)]
    first = ranked[0]
    return replace(
        prediction,
        tokens=first.tokens,
        score=first.score,
        length_score=None,
        program=None if prediction.program is None else first.text,
        structure=prediction.structure if first.tokens == prediction.tokens else None,
        share=first.share,
        alternatives=tuple(ranked[1:]),
    )


def _with_share(weights: Sequence[float], number: int, share: float) -> list[float]:
    """Weights in which one has a given share and the others keep their proportions."""
    rest = math.fsum(weights) - weights[number]
    return [share if place == number else weight * (1 - share) / rest for place, weight in enumerate(weights)]
