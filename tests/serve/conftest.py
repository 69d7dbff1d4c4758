from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ftor.model.model import Model
from support.served import Served


@pytest.fixture(scope="module")
def model(trained: Path) -> Model:
    """Give the model of the finished run."""
    return Model.load(trained)


@pytest.fixture
def serve(model: Model) -> Iterator[Callable[..., Served]]:
    """Start servers of the model, which listen to this machine only; see `Served`."""
    with ExitStack() as stack:

        def start(*, model: Any = model, **options: Any) -> Served:
            return stack.enter_context(Served({"tiny": model}, **options))

        yield start


@pytest.fixture(scope="module")
def served(model: Model) -> Iterator[Served]:
    """Give a server of the model with the usual limits."""
    with Served({"tiny": model}) as server:
        yield server
