"""What a module loads when it is imported: start-up should not wait for libraries that are not used."""

import json
import subprocess
import sys

from support import tiny

UNNEEDED = {  # one process runs these one after another, so what is loaded once may be named no more
    "import ftor": {"torch", "numba", "rich", "matplotlib", "transformers", "pydantic"},
    "ftor.programs.Programs.learn(['(f a)'])": {"torch", "numba"},
    "import ftor.cli.main": {"torch", "numba", "matplotlib", "pydantic"},
    "import ftor.show.results.formats": {"torch", "numba", "matplotlib"},
    "from ftor.grammar import Grammar; Grammar.read('geo').accepts(['answer'])": {"torch", "numba"},
    "from ftor.datasets import geo, groupings, judges; judges('atis', None), groupings('okapi')": {
        "torch",
        "numba",
    },
    "import ftor.distributions": {"numba", "transformers"},
    "import ftor.model.model, ftor.training.run": {"numba", "transformers"},
}


def test_only_what_is_needed_is_imported():
    code = f"import json, sys\nfor statement in {list(UNNEEDED)}:\n    exec(statement)\n"
    code += "    print(json.dumps([statement, list(sys.modules)]))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=tiny.environment(), check=True, capture_output=True, text=True
    )
    loaded = dict(map(json.loads, done.stdout.splitlines()))
    assert {statement: UNNEEDED[statement] & set(loaded[statement]) for statement in UNNEEDED} == {
        statement: set() for statement in UNNEEDED
    }
