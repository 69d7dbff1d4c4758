"""Train one experiment, without a race, then evaluate on longer sentences than any in training.

python examples/train_from_python.py [FOLDER]
"""

import sys
from pathlib import Path

import ftor

HOME = Path(__file__).parent / "home"
SETTINGS = {
    "training.epochs": 8,
    "training.aligner": "poisson",  # the first epochs learn from a word alignment
    "training.alignment_weight": 3.0,
    "training.alignment_epochs": 5,
}


def main() -> None:
    """Train and evaluate."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    model = ftor.train(
        "transducer", train=HOME / "train.tsv", dev=HOME / "dev.tsv", out=folder, settings=SETTINGS
    )
    metrics = model.evaluate(HOME / "test.tsv")
    print(f"{metrics.exact_match:.1%} of {metrics.count} longer sentences are right")


if __name__ == "__main__":
    main()
