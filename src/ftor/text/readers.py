"""Pretrained encoders that read sentences: one vector for each word in its context.

An encoder is frozen, so each sentence is read once. The vectors of a set of sentences are kept in a file that
is named by its content: the encoder and the sentences.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from platformdirs import user_cache_path

from ftor.errors import FtorError
from ftor.files import write_atomically
from ftor.ops.arrays import Array

AT_ONCE = 32
"""Sentences that are read at once."""
KEPT = 20_000
"""Sentences whose vectors are kept in memory."""
UNUSED = "pooler."
"""Weights that are not used, and random if the folder lacks them."""

Tokens = tuple[str, ...]


class Reader:
    """A pretrained encoder of transformers, frozen. It needs `ftor[pretrained]`.

    The vector of a word is the mean over its pieces and over all layers. The first vector of a sentence is
    that of the special token before it.

    Args:
        name: a folder in transformers' layout, or a name on the hub.
        cache: the folder of files with vectors. The default is in the user's cache.
        folder: where the encoder is, if not where `name` says.
    """

    def __init__(self, name: str, cache: Path | None = None, folder: Path | None = None) -> None:
        self.name, self._place = name, str(folder or name)
        self._cache = cache or user_cache_path("ftor", appauthor=False) / "readers"
        self._known: dict[Tokens, Array] = {}

    @cached_property
    def size(self) -> int:
        """E, the size of the vectors."""
        return int(self._described.hidden_size)

    @property
    def parameters(self) -> int:
        """How many parameters are read. None of them is trained."""
        named = self._encoder[0].named_parameters()
        return sum(parameter.numel() for name, parameter in named if not name.startswith(UNUSED))

    @property
    def sha256(self) -> str:
        """The checksum of the weights and of the tokenizer."""
        return self._fingerprint.hex()

    def prepare(self, sentences: Sequence[Sequence[str]]) -> None:
        """Read the vectors of sentences from a file, or compute them and write the file."""
        wanted = sorted({tuple(tokens) for tokens in sentences})
        digest = hashlib.sha256(self._fingerprint)
        for tokens in wanted:
            digest.update(("\n".join(tokens) + "\n\n").encode("utf-8", "surrogatepass"))
        path = self._cache / f"{digest.hexdigest()}.npy"
        rows = [len(tokens) + 1 for tokens in wanted]
        if path.is_file():
            table = np.load(path, allow_pickle=False)
            if table.shape == (sum(rows), self.size):
                parts = np.split(table, np.cumsum(rows)[:-1])
                self._known.update(zip(wanted, parts, strict=True))
                return
        self._known.update(zip(wanted, self._compute(wanted), strict=True))
        path.parent.mkdir(parents=True, exist_ok=True)
        table = np.concatenate([self._known[tokens] for tokens in wanted])
        write_atomically(path, lambda unfinished: _save(unfinished, table))

    def vectors(self, sentences: Sequence[Sequence[str]]) -> list[Array]:
        """The vectors (1 + n, E) of each sentence of n words: first that of the start."""
        wanted = [tuple(tokens) for tokens in sentences]
        new = sorted({tokens for tokens in wanted if tokens not in self._known})
        if new:
            if len(self._known) + len(new) > KEPT:
                self._known = {tokens: self._known[tokens] for tokens in wanted if tokens in self._known}
            self._known.update(zip(new, self._compute(new), strict=True))
        return [self._known[tokens] for tokens in wanted]

    def padded(self, sentences: Sequence[Sequence[str]], start: bool) -> torch.Tensor:
        """The vectors of sentences (B, n, E), 0 past their ends; with the start position if `start`."""
        rows = [torch.from_numpy(vectors[not start :]) for vectors in self.vectors(sentences)]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)

    @torch.no_grad()
    def _compute(self, sentences: Sequence[Tokens]) -> list[Array]:
        encoder, tokenizer = self._encoder
        order = sorted(range(len(sentences)), key=lambda row: len(sentences[row]))
        found: dict[int, Array] = {}
        for first in range(0, len(order), AT_ONCE):
            rows = order[first : first + AT_ONCE]
            texts = [list(sentences[row]) for row in rows]
            batch = tokenizer(
                texts, is_split_into_words=True, padding=True, truncation=True, return_tensors="pt"
            )
            layers = encoder(**batch, output_hidden_states=True).hidden_states
            states = torch.stack(layers).mean(0)
            for place, row in enumerate(rows):
                words = len(sentences[row])
                found[row] = _pooled(states[place], batch.word_ids(place), words).numpy()
        return [found[row] for row in range(len(sentences))]

    @cached_property
    def _fingerprint(self) -> bytes:
        encoder, tokenizer = self._encoder
        digest = hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode())
        for name, tensor in sorted(encoder.state_dict().items()):
            if name.startswith(UNUSED):
                continue
            digest.update(name.encode())
            digest.update(tensor.contiguous().numpy().tobytes())
        return digest.digest()

    @cached_property
    def _described(self) -> Any:
        return self._loaded("AutoConfig")

    @cached_property
    def _encoder(self) -> tuple[Any, Any]:
        encoder, tokenizer = self._loaded("AutoModel").eval(), self._loaded("AutoTokenizer")
        if not tokenizer.is_fast:
            raise FtorError(f"model.reader: {self.name}: expected a fast tokenizer")
        return encoder, tokenizer

    def _loaded(self, part: str) -> Any:
        try:
            import transformers  # here, as it is an extra and takes seconds
        except ImportError:
            raise FtorError("transformers is not installed: pip install 'ftor[pretrained]'") from None
        transformers.utils.logging.disable_progress_bar()
        verbosity = transformers.utils.logging.get_verbosity()
        transformers.utils.logging.set_verbosity_error()  # it tells of weights that are not used here
        try:
            return getattr(transformers, part).from_pretrained(self._place)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:200]
            raise FtorError(
                f"model.reader: {self.name}: not a pretrained encoder: {reason}; a folder of this name in a "
                "data folder would be read instead"
            ) from None
        finally:
            transformers.utils.logging.set_verbosity(verbosity)


def _save(path: Path, table: Array) -> None:
    with path.open("wb") as file:  # numpy would add a suffix to the name
        np.save(file, table)


def _pooled(states: torch.Tensor, word_of: Sequence[int | None], words: int) -> torch.Tensor:
    """The mean state (1 + words, E) of the pieces of each word, after the state of the first piece.

    A word without pieces, such as one that the encoder is too short for, has the state of the first piece.
    """
    start = states[0]
    sums, counts = torch.zeros(words, states.shape[1]), torch.zeros(words)
    for state, word in zip(states, word_of, strict=True):
        if word is not None:
            sums[word] += state
            counts[word] += 1
    means = torch.where(counts[:, None] > 0, sums / counts.clamp(min=1)[:, None], start)
    return torch.cat([start[None], means])
