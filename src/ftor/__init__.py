"""Sequence transduction that generalises: exact, fast fertility and reordering layers, and models of them."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ftor._version import __version__

if TYPE_CHECKING:
    from ftor import nn, ops
    from ftor.distributions import Fertility, FertilityGivenLength, SeparablePermutation
    from ftor.model.committee import How
    from ftor.model.model import Model
    from ftor.text import programs
    from ftor.trees import PermutationTree
    from ftor.tuning.train import train

__all__ = [
    "Fertility",
    "FertilityGivenLength",
    "PermutationTree",
    "SeparablePermutation",
    "__version__",
    "load",
    "nn",
    "ops",
    "programs",
    "train",
]

_MODULES = {
    "Fertility": "ftor.distributions",
    "FertilityGivenLength": "ftor.distributions",
    "PermutationTree": "ftor.trees",
    "SeparablePermutation": "ftor.distributions",
    "train": "ftor.tuning.train",
}
_ROOMS = {"nn": "ftor.nn", "ops": "ftor.ops", "programs": "ftor.text.programs"}


def load(
    folder: "str | Path | Sequence[str | Path]",
    device: str = "cpu",
    data_folder: str | Path | None = None,
    committee: "How | None" = None,
) -> "Model":
    """Load a trained model: `ftor.load("runs/mirror-0").predict(["a b c"])[0].text`.

    Args:
        folder: a model folder, as `ftor train` and `Model.save` write it, or a model on the Hugging Face hub:
            `hf://owner/name` or `hf://owner/name@revision`. Several become a committee.
        device: the torch device of the network.
        data_folder: where vectors of new words and the facts of a dataset are, if not in the usual folders.
        committee: what several models average: "log" for the logarithms of their probabilities, "arithmetic"
            for the probabilities, "soup" for their weights. None: as `decoding.committee` of the leader says.
    """
    from ftor.model.committee import load_models  # here for start-up time

    return load_models(folder, committee, device, None if data_folder is None else Path(data_folder))


def __getattr__(name: str) -> Any:
    """Import a name when it is used. Importing torch takes seconds, which `ftor --help` does not need."""
    if name in _ROOMS:
        return import_module(_ROOMS[name])
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'ftor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
