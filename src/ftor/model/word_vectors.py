"""Pretrained vectors of the words that a model reads, in training and later."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import torch

from ftor.config import Config
from ftor.datasets.glove import check_words, find_vectors, require_vectors
from ftor.networks import Network, build
from ftor.ops.arrays import Array
from ftor.reporting import SILENT, Report
from ftor.text.reading import DataError
from ftor.text.vectors import VectorFile, Vectors, read_vectors
from ftor.text.vocabularies import Vocabularies
from ftor.text.vocabulary import SOURCE_SPECIALS


def build_with_vectors(
    config: Config, words: Vocabularies, data_folder: Path | None, report: Report
) -> tuple[Network, Vocabularies]:
    """Build a new network whose source words have the vectors of the file `data.vectors`.

    Args:
        config: the experiment.
        words: the words of the training pairs.
        data_folder: where the file is, if not in the usual folders.
        report: receives how many words are in the file.
    """
    assert config.data.vectors is not None
    path = require_vectors(config.data.vectors, data_folder)
    source = words.source.tokens
    vectors = read_vectors(path, source, report)
    check_words(config.data.vectors, path, source, vectors.by_word)
    excerpt = "" if path.name == Path(config.data.vectors).name else f", for {config.data.vectors}"
    report.say(f"vectors: {len(vectors.by_word)} of {len(source)} words are in {path}{excerpt}")
    network, vocabularies = build(config, words, vectors.size)
    # Positions without a word have vectors, too. A name with a space cannot be a word of a sentence.
    rows = [*(f" {special}" for special in range(SOURCE_SPECIALS)), *source]
    assert network.vectors is not None
    network.vectors.fill(torch.from_numpy(vectors.table(rows)), vectors.mean, vectors.deviation)
    return network, vocabularies


def add_words(
    network: Network,
    vocabularies: Vocabularies,
    sentences: Iterable[Sequence[str]],
    file: str,
    data_folder: Path | None,
    report: Report = SILENT,
) -> None:
    """Add the new words of sentences to the source vocabulary, with their vectors.

    A word that is not in the file, or any word if there is no such file, gets a random vector. The vector
    depends on the word only. Such words still count as unknown.

    Args:
        network: a network with pretrained vectors.
        vocabularies: the words that it has.
        sentences: the tokens of each sentence.
        file: the name of the file of vectors.
        data_folder: where the file is, if not in the usual folders.
        report: receives a warning if there is no such file.
    """
    embedding, source = network.vectors, vocabularies.source
    assert embedding is not None
    words = dict.fromkeys(vocabularies.word(token) for tokens in sentences for token in tokens)
    new = [word for word in words if word not in source]
    if not new:
        return
    path = find_vectors(file, data_folder)
    size, by_word = embedding.weight.shape[1], dict[str, Array]()
    if path is not None:
        vectors = _vector_file(path, path.stat().st_mtime_ns)
        if vectors.size != size:
            raise DataError(f"{path}: expected vectors of {size} numbers, found {vectors.size}")
        by_word = vectors.find(new)
    else:
        report.warn(f"{file}: no such file; {len(new)} words that are not in the model get random vectors")
    mean, deviation = embedding.moments.tolist()
    network.add_vectors(torch.from_numpy(Vectors(by_word, size, mean, deviation).table(new)))
    for word in new:
        source.add(word)
    vocabularies.guessed.update(word for word in new if word not in by_word)


@lru_cache(maxsize=2)
def _vector_file(path: Path, modified: int) -> VectorFile:
    """The file of vectors, which is large and read through once, until it is modified."""
    return VectorFile(path)


def forget_words(network: Network, vocabularies: Vocabularies, kept: int) -> None:
    """Forget the words of `add_words`: all but the first `kept` of the source vocabulary."""
    if network.vectors is not None:
        network.forget_vectors()
        vocabularies.source.keep(kept)
        vocabularies.guessed.clear()
