"""What a module loads when it is imported: start-up should not wait for libraries that are not used."""

import subprocess
import sys

import pytest

from support import tiny

PROGRAMS = {
    "import ftor": {"torch", "numba", "rich", "matplotlib", "transformers"},
    "import ftor; ftor.programs.Programs.learn(['(f a)'])": {"torch", "numba"},
    "import ftor.cli.main": {"torch", "numba", "matplotlib", "pydantic"},
    "import ftor.show.results.formats": {"torch", "matplotlib"},
    "from ftor.grammar import Grammar; Grammar.read('geo').accepts(['answer'])": {"torch", "numba"},
    "from ftor.datasets import geo, grouping, judges; judges('atis', None), grouping('okapi')": {
        "torch",
        "numba",
    },
    "import ftor.distributions": {"numba"},
    "import ftor.model.model, ftor.training.run": {"transformers"},
}


@pytest.mark.parametrize(("program", "unneeded"), PROGRAMS.items())
def test_only_what_is_needed_is_imported(program, unneeded):
    code = f"import sys; {program}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=tiny.environment(), check=True, capture_output=True, text=True
    )
    assert unneeded & set(done.stdout.split()) == set()
