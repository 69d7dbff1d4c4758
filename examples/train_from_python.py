"""Train on pairs from a TSV file, then evaluate on longer sentences than any in training.

python examples/train_from_python.py [FOLDER]
"""

import json
import sys
from pathlib import Path

import ftor
from ftor.config import Config
from ftor.show.progress import TerminalReport
from ftor.text.reading import read_pairs
from ftor.training.run import Run

HOME = Path(__file__).parent / "home"
SETTINGS = {
    "name": "home",
    "data.train": str(HOME / "train.tsv"),
    "data.dev": str(HOME / "dev.tsv"),
    "training.epochs": 8,
    "training.aligner": "poisson",  # the first epochs learn from a word alignment
    "training.alignment_weight": 3.0,
    "training.alignment_epochs": 5,
}


def main() -> None:
    """Train and evaluate."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    config = Config.load("transducer", [f"{key}={json.dumps(value)}" for key, value in SETTINGS.items()])
    run = Run.new(config, folder)
    run.train(None, TerminalReport(), None)

    model = ftor.load(run.folder)
    metrics = model.evaluate(read_pairs(HOME / "test.tsv"))
    print(f"{metrics.exact_match:.1%} of {metrics.count} longer sentences are right")


if __name__ == "__main__":
    main()
