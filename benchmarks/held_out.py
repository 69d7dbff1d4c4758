r"""Write the pairs held out of Geoquery's training and dev pairs, by which the warm-up's length was chosen.

    python benchmarks/held_out.py "$FTOR_DATA" held-out
    ftor train geo-template-rf --train held-out/pairs_train.tsv --dev held-out/pairs_dev.tsv \
        --test held-out/pairs_test.tsv --set training.alignment_epochs=8

Of `geo-template`, `-rf` and `-ar` only the settings count, which are those of all splits. What came out is in
results/ablation/geo-held-out.jsonl. The others begin with `long-programs_` and `templates_`.
"""

import argparse
import json
from pathlib import Path

CHOSEN = Path(__file__).parents[1] / "results/ablation/geo-held-out-pairs.json"


def main() -> None:
    """Write three files for each way to hold out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with geo/")
    parser.add_argument("out", type=Path, help="a folder to write to")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, chosen in json.loads(CHOSEN.read_text("utf-8")).items():
        pairs = [
            pair
            for file in chosen["files"]
            for pair in (arguments.data / file).read_text("utf-8").splitlines(keepends=True)
        ]
        for split in ("train", "dev", "test"):
            path = arguments.out / f"{name.replace(' ', '-')}_{split}.tsv"
            path.write_text("".join(pairs[number] for number in chosen[split]), "utf-8")


if __name__ == "__main__":
    main()
