"""Inputs to predict from, and runs over them in this process."""

import random
from functools import partial
from pathlib import Path

from ftor.jobs.corpora import Request, predict_corpus
from ftor.jobs.corpora.chunks import read_chunks
from ftor.jobs.corpora.processes import predict_here
from ftor.jobs.corpora.tally import Tally
from ftor.reporting import SILENT, Report


def write_corpus(path: Path, lines: int, seed: int = 0) -> Path:
    """Write lines of one to six letters, some of them blank and some not UTF-8."""
    rng = random.Random(seed)
    texts = [" ".join(rng.choices("abcdefghijk", k=rng.randint(1, 6))).encode() for _ in range(lines)]
    for number in range(3, lines - 1, 10):
        texts[number] = b"" if number % 20 < 10 else b"a \xfc"
    path.write_bytes(b"\n".join(texts) + b"\n")
    return path


def predict_file(
    request: Request, source: Path, out: Path, resuming: bool = False, report: Report = SILENT
) -> Tally:
    """Predict a file in this process."""
    chunks = read_chunks([source], "text", report)
    return predict_corpus(chunks, partial(predict_here, request), out, report, resuming=resuming)
