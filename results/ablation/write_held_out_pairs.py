r"""Write the pairs that were held out of Geoquery's training data to choose the length of the warm-up.

    python results/ablation/write_held_out_pairs.py "$FTOR_DATA" held-out
    ftor train geo-template-rf --train held-out/pairs_train.tsv --dev held-out/pairs_dev.tsv \
        --test held-out/pairs_test.tsv --set training.alignment_epochs=8

Only the settings of `geo-template`, `-rf` and `-ar` matter. They are the same for all splits. The scores are
in geo-held-out.jsonl. The other two ways to hold out give files that begin with
`long-programs_` and `templates_`.
"""

import argparse
import json
from pathlib import Path

LINE_NUMBERS = Path(__file__).with_name("geo-held-out-pairs.json")


def main() -> None:
    """Write three files for each way to hold out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with geo/")
    parser.add_argument("out", type=Path, help="a folder to write to")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, held_out in json.loads(LINE_NUMBERS.read_text("utf-8")).items():
        pairs = [
            pair
            for file in held_out["files"]
            for pair in (arguments.data / file).read_text("utf-8").splitlines(keepends=True)
        ]
        for split in ("train", "dev", "test"):
            path = arguments.out / f"{name.replace(' ', '-')}_{split}.tsv"
            path.write_text("".join(pairs[number] for number in held_out[split]), "utf-8")


if __name__ == "__main__":
    main()
