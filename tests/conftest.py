"""What every test starts from: fixed seeds, and uninitialised memory that shows when somebody reads it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import settings
from torch import Tensor

from ftor.ops import implementation
from ftor.show import progress
from support import tiny, workers

settings.register_profile("ftor", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("ftor")

workers.lock_kernel_cache()
torch.set_num_threads(1)  # on tensors this small, threads wait for each other longer than they work


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have the kernels compiled before slow tests start processes that would each compile them."""
    for item in items:
        if item.get_closest_marker("slow") and isinstance(item, pytest.Function):
            item.fixturenames.insert(0, "trained")


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _no_note_on_a_slow_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let stderr not depend on how busy the machine is, and on whether kernels have to be compiled."""
    monkeypatch.setattr(progress, "SLOW_START", 3600.0)


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """Give a function that fills a folder once for all workers: `once("name", fill)`. Read only."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return lambda name, fill: workers.make_once(shared / name, fill)


@pytest.fixture(params=["kernels", "torch"])
def both(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the test in both implementations of `ftor.ops`; gives the name of the one that runs."""
    with implementation("auto" if request.param == "kernels" else "torch"):
        yield request.param


@pytest.fixture(scope="session")
def data(once: Callable[..., Path]) -> Path:
    """Give a folder with train.tsv, dev.tsv and test.tsv: a few mirror pairs. Read only."""
    return once("mirror-pairs", tiny.write_data)


@pytest.fixture(scope="session")
def trained(data: Path, once: Callable[..., Path]) -> Path:
    """Give the folder of a finished run on `data` with the tiny settings. Read only."""

    def train(folder: Path) -> None:
        finished = tiny.run_here(*tiny.train_arguments(data, folder / "run"))
        assert finished.code == 0, finished.err

    return once("trained", train) / "run"


@pytest.fixture
def run(data: Path, tmp_path: Path) -> Callable[..., Path]:
    """Train in this process with some settings; gives the folder."""

    def train(name: str, **settings: object) -> Path:
        overrides = {key.replace("__", "."): value for key, value in settings.items()}
        finished = tiny.run_here(*tiny.train_arguments(data, tmp_path / name, overrides))
        assert finished.code == 0, finished.err
        return tmp_path / name

    return train


@pytest.fixture(autouse=True)
def _poisoned_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fill new uninitialised tensors with NaN, or the largest integer, so that nothing can rely on them."""
    with monkeypatch.context() as patch:
        patch.setattr(torch, "empty", _poisoned(torch.empty))
        patch.setattr(torch, "empty_like", _poisoned(torch.empty_like))
        patch.setattr(Tensor, "new_empty", _poisoned(Tensor.new_empty))
        yield


def _poisoned(allocate: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def allocate_poisoned(*args: Any, **kwargs: Any) -> Tensor:
        tensor = allocate(*args, **kwargs)
        with torch.no_grad():
            return tensor.fill_(_poison(tensor.dtype))

    return allocate_poisoned


def _poison(dtype: torch.dtype) -> float | int:
    if dtype.is_floating_point or dtype.is_complex:
        return float("nan")
    return 1 if dtype == torch.bool else torch.iinfo(dtype).max
