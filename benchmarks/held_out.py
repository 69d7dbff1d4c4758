"""Write the pairs by which Geoquery's settings were chosen, held out of its training and dev pairs.

    python benchmarks/held_out.py data held-out
    ftor train geo-template --train held-out/pairs_train.tsv --dev held-out/pairs_dev.tsv \
        --test held-out/pairs_test.tsv --set training.alignment_epochs=5

What came out is in results/ablation/geo-held-out.jsonl, with what was `set`.
"""

import json
import sys
from pathlib import Path

CHOSEN = Path(__file__).parents[1] / "results/ablation/geo-held-out.json"


def main() -> None:
    data, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    for name, chosen in json.loads(CHOSEN.read_text()).items():
        pairs = "".join((data / file).read_text() for file in chosen["files"]).splitlines(keepends=True)
        for split in ("train", "dev", "test"):
            text = "".join(pairs[number] for number in chosen[split])
            (out / f"{name.replace(' ', '-')}_{split}.tsv").write_text(text)


if __name__ == "__main__":
    main()
