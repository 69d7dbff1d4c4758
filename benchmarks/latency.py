"""What somebody waits for: one sentence of a loaded model, a long output, and the first use on a machine."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch

import ftor
import ftor.ops
import timing
from ftor.datasets.folders import find_file
from ftor.datasets.mirror import mirror
from ftor.model.model import Model
from output_length import trained

Figures = dict[str, dict[str, float]]

WORDS, LONG = 10, 250
"""Words of the sentences for the mirror model, which writes each twice."""
MIRROR_EPOCHS, GEOQUERY_EPOCHS = 2, 3
"""After so many, mirror's lengths are right. Geoquery's are unsure, so most of its five have to be tried."""
FIRST_USE = """
import sys, time, torch, ftor
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair
model, words = ftor.load(sys.argv[1]), tuple(sys.argv[2].split())
pairs = [Pair(words, tuple(sys.argv[3].split()), 1)] * 2
begin = time.process_time()
losses = model.network.train()(EncodedPairs(pairs, model.vocabularies).batch(torch.arange(2)))
(losses.tokens + losses.length).sum().backward()
model.network.eval()
model.predict([" ".join(words)])
print(time.process_time() - begin)
"""


def refuse_other_outputs(model: Model, sentences: Sequence[str]) -> None:
    """Stop if one sentence at a time, a batch and plain torch do not give the same tokens."""
    together = [one.tokens for one in model.predict(sentences)]
    alone = [model.predict([sentence])[0].tokens for sentence in sentences]
    with ftor.ops.implementation("torch"):
        plain = [one.tokens for one in model.predict(sentences)]
    if not together == alone == plain:
        raise SystemExit("outputs differ between one sentence, a batch and plain torch; not measured")


def milliseconds(model: Model, sentences: Sequence[str], repeats: int, **options: bool) -> float:
    """The median processor time of one sentence. With one thread this is the time on an idle machine."""
    times = []
    for sentence in list(sentences) * (repeats + 1):
        begin = time.process_time()
        model.predict([sentence], **options)  # type: ignore[arg-type]
        times.append(1000 * (time.process_time() - begin))
    return statistics.median(times[len(sentences) :])  # the first of each are not counted


def sentence_times(model: Model, sentences: Sequence[str], repeats: int) -> dict[str, float]:
    """Milliseconds of one sentence by what is asked for."""
    ways = {"answer": (False, False), "with confidence": (True, False), "with structure": (False, True)}
    return {
        way: milliseconds(model, sentences, repeats, confidence=confidence, structure=structure)
        for way, (confidence, structure) in ways.items()
    }


def first_use(folder: Path, sentence: str, target: str) -> dict[str, float]:
    """Processor seconds of a first training step and prediction in a new process, by what is compiled."""
    command = [sys.executable, "-c", FIRST_USE, str(folder), sentence, target]
    found = {}
    with tempfile.TemporaryDirectory() as name:
        wheel = Path(name) / "wheel"
        cases = {
            "nothing compiled": {"NUMBA_CACHE_DIR": f"{name}/cache"},
            "compiled kernels on disk": {"NUMBA_CACHE_DIR": f"{name}/cache"},
            "kernels that a wheel brings": {"NUMBA_CACHE_DIR": f"{name}/empty", "PYTHONPATH": str(wheel)},
        }
        write_package(wheel)
        for what, environment in cases.items():
            done = subprocess.run(
                command, env={**os.environ, **environment}, check=True, stdout=subprocess.PIPE, text=True
            )
            found[what] = float(done.stdout)
    return found


def write_package(folder: Path) -> None:
    """Copy the package, and compile its kernels as for a wheel."""
    package = folder / "ftor"
    shutil.copytree(Path(ftor.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    script, code = timing.ROOT / ".ci" / "kernels.py", package / "ops" / "machine_code"
    command = [sys.executable, str(script), str(code)]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)


def sentences_of(path: Path) -> list[str]:
    """The first 20 sentences of a file of pairs."""
    return [line.split("\t")[0] for line in path.read_text("utf-8").splitlines()[:20]]


def measured(model: Model, sentences: Sequence[str], quick: bool) -> dict[str, float]:
    """Check a model, and measure its milliseconds per sentence."""
    refuse_other_outputs(model, sentences)
    return sentence_times(model, sentences, 5 if quick else 30)


def mirror_figures(quick: bool) -> Figures:
    """All times of a mirror model."""
    model = trained("mirror", MIRROR_EPOCHS)
    pairs = mirror(3, [WORDS], seed=1)
    figures = {"mirror, ms": measured(model, [source for source, _ in pairs], quick)}
    if not quick:
        long = [source for source, _ in mirror(1, [LONG], seed=2)]
        if model.predict(long, structure=False)[0].length != 2 * LONG:
            raise SystemExit(f"expected an output of {2 * LONG} tokens: train the model longer")
        seconds = milliseconds(model, long, 1, structure=False) / 1000
        figures["mirror, long output, s"] = {f"{2 * LONG} tokens": seconds}
    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        figures["first use, s"] = first_use(Path(folder), *pairs[0])
    return figures


def geoquery_figures(quick: bool) -> Figures:
    """The times of one sentence of a Geoquery model with its grammar."""
    path = find_file("geo/iid_test.tsv", None)
    if path is None:
        timing.progress("left out: no data of Geoquery")
        return {}
    model = trained("geo-iid", GEOQUERY_EPOCHS)
    return {"Geoquery with grammar, ms": measured(model, sentences_of(path), quick)}


def main() -> None:
    """Measure, print and write."""
    options = timing.arguments(
        "latency",
        __doc__ or "",
        model="the folder of a model; without it, a mirror and a Geoquery model are trained",
        file="with --model: a file with a sentence at the start of each line; 20 are used",
    )
    torch.set_num_threads(1)
    if bool(options.model) != bool(options.file):
        raise SystemExit("error: --model and --file go together")
    if options.model:
        model = ftor.load(options.model)
        figures = {f"{model.config.name}, ms": measured(model, sentences_of(options.file), options.quick)}
    else:
        figures = mirror_figures(options.quick) | geoquery_figures(options.quick)
    for title, rows in figures.items():
        timing.print_table(title, ["what", "processor time"], list(rows.items()))
    timing.write_json(options.out, figures)


if __name__ == "__main__":
    main()
