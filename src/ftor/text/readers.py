"""Pretrained encoders that read sentences: one vector for each word in its context.

Layers that are frozen read each sentence once. If all of them are, the vectors of a set of sentences are kept
in a file that is named by its content: the encoder and the sentences.
"""

import copy
import hashlib
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from platformdirs import user_cache_path
from torch import nn

from ftor.errors import FtorError
from ftor.files import write_atomically
from ftor.nn.top_layers import NO_POSITION, PADDING, TopLayers, cut, no_stack
from ftor.ops.arrays import Array

AT_ONCE = 32
"""Sentences that are read at once."""
KEPT = 20_000
"""Sentences whose vectors are kept in memory."""
UNUSED = "pooler."
"""Weights that are not used, and random if the folder lacks them."""

Tokens = tuple[str, ...]
WordOf = Sequence[int | None]
"""The word of each piece of a sentence, None for special pieces."""


class Vectors(NamedTuple):
    """What a network reads of a batch of sentences.

    Attributes:
        values: (B, n, E) of words; or of pieces (B, P, 2·E), if layers are trained.
        positions: (B, P), where the word of each piece is; None for words.
    """

    values: torch.Tensor
    positions: torch.Tensor | None = None


class Reader:
    """A pretrained encoder of transformers. It needs `ftor[pretrained]`.

    The vector of a word is the mean over its pieces and over all layers. The first vector of a sentence is
    that of the special token before it.

    Args:
        name: a folder in transformers' layout, or a name on the hub.
        cache: the folder of files with vectors. The default is in the user's cache.
        folder: where the encoder is, if not where `name` says.

    Attributes:
        trained: how many of its layers are trained, from the last.
    """

    trained = 0

    def __init__(self, name: str, cache: Path | None = None, folder: Path | None = None) -> None:
        self.name, self._place = name, str(folder or name)
        self._cache = cache or user_cache_path("ftor", appauthor=False) / "readers"
        self._known: dict[Tokens, Array] = {}

    @cached_property
    def size(self) -> int:
        """E, the size of the vectors."""
        return int(self._described.hidden_size)

    def check(self) -> None:
        """Raise if there is no such encoder. Its weights are not read."""
        _ = self._described

    @property
    def parameters(self) -> int:
        """How many parameters are read."""
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

    def batch(self, sentences: Sequence[Sequence[str]], start: bool) -> Vectors:
        """What a network reads of sentences, with the start position if `start`."""
        rows = [torch.from_numpy(vectors[not start :]) for vectors in self.vectors(sentences)]
        return Vectors(torch.nn.utils.rnn.pad_sequence(rows, batch_first=True))

    def top_weights(self) -> dict[str, torch.Tensor] | None:
        """The pretrained weights of the layers that are trained, if any are."""
        return None

    def _compute(self, sentences: Sequence[Tokens]) -> list[Array]:
        found: dict[int, Array] = {}
        for row, layers, word_of in self._layers(sentences):
            found[row] = _pooled(layers.mean(0), word_of, len(sentences[row])).numpy()
        return [found[row] for row in range(len(sentences))]

    @torch.no_grad()
    def _layers(self, sentences: Sequence[Tokens]) -> Iterator[tuple[int, torch.Tensor, WordOf]]:
        """The number of each sentence, the states (N + 1, P, E) of its pieces, and the words of these."""
        encoder, tokenizer = self._encoder
        for rows in self._read_together(sentences):
            texts = [list(sentences[row]) for row in rows]
            batch = tokenizer(
                texts, is_split_into_words=True, padding=True, truncation=True, return_tensors="pt"
            )
            layers = torch.stack(encoder(**batch, output_hidden_states=True).hidden_states, 1)
            for place, row in enumerate(rows):
                pieces = int(batch["attention_mask"][place].sum())
                yield row, layers[place, :, :pieces], batch.word_ids(place)[:pieces]

    def _read_together(self, sentences: Sequence[Tokens]) -> Iterator[Sequence[int]]:
        """The numbers of sentences, at most `AT_ONCE` together. Each group is padded to its longest."""
        return _parts(sorted(range(len(sentences)), key=lambda row: len(sentences[row])))

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
            if Path(self._place).is_dir():
                reason = textwrap.shorten(str(error), 200, placeholder=" …")
                raise FtorError(f"model.reader: {self.name}: not a pretrained encoder: {reason}") from None
            raise FtorError(
                f"model.reader: {self.name}: there is no such folder, and the hub does not give it; a folder "
                "of this name in a data folder would be read (--data-dir, ftor data fetch)"
            ) from None
        finally:
            transformers.utils.logging.set_verbosity(verbosity)


class TrainedReader(Reader):
    """A pretrained encoder whose last layers are trained as part of a network.

    What the frozen layers make of training sentences is computed once, and kept in memory. Only sentences of
    as many pieces are read together: padding would change the last bits, so that a resumed run, which meets
    sentences in other batches, would end with other weights.

    Args:
        name, folder: as of `Reader`.
        trained: how many layers are trained.
    """

    def __init__(self, name: str, trained: int, folder: Path | None = None) -> None:
        super().__init__(name, folder=folder)
        self.trained = trained
        self._known_pieces: dict[Tokens, tuple[torch.Tensor, WordOf]] = {}

    @property
    def frozen(self) -> int:
        """How many layers are frozen."""
        layers = int(self._described.num_hidden_layers)
        if self.trained > layers:
            raise FtorError(
                f"model.reader_layers: expected at most {layers}, which {self.name} has, found {self.trained}"
            )
        return layers - self.trained

    def prepare(self, sentences: Sequence[Sequence[str]]) -> None:
        """Read sentences before training, as many as are kept. No file is written."""
        wanted = sorted({tuple(tokens) for tokens in sentences})[:KEPT]
        self._known_pieces = {}
        for row, layers, word_of in self._layers(wanted):
            tokens = wanted[row]
            self._known[tokens] = _pooled(layers.mean(0), word_of, len(tokens)).numpy()
            self._known_pieces[tokens] = self._below(layers), word_of

    def batch(self, sentences: Sequence[Sequence[str]], start: bool) -> Vectors:
        """See `Reader.batch`. Vectors are those of pieces: see `TopLayers`."""
        wanted = [tuple(tokens) for tokens in sentences]
        self._read({tokens for tokens in wanted if tokens not in self._known_pieces}, wanted)
        pieces, positions = [], []
        for tokens in wanted:
            states, word_of = self._known_pieces[tokens]
            first = 0 if start else NO_POSITION
            places = [NO_POSITION if word is None else word + start for word in word_of]
            pieces.append(states)
            positions.append(torch.tensor([first, *places[1:]]))
        return Vectors(
            torch.nn.utils.rnn.pad_sequence(pieces, batch_first=True),
            torch.nn.utils.rnn.pad_sequence(positions, batch_first=True, padding_value=PADDING),
        )

    def _read(self, new: set[Tokens], wanted: Sequence[Tokens]) -> None:
        """Compute what the frozen layers make of new sentences."""
        known, sentences = self._known_pieces, sorted(new)
        if len(known) + len(new) > KEPT:
            self._known_pieces = {tokens: known[tokens] for tokens in wanted if tokens in known}
        for row, layers, word_of in self._layers(sentences):
            self._known_pieces[sentences[row]] = self._below(layers), word_of

    def _below(self, layers: torch.Tensor) -> torch.Tensor:
        """What `TopLayers` reads of the states (N + 1, P, E) of a sentence: (P, 2·E)."""
        below = layers[: self.frozen + 1]
        return torch.cat([below[-1], below.sum(0)], -1)

    def _read_together(self, sentences: Sequence[Tokens]) -> Iterator[Sequence[int]]:
        """See `Reader._read_together`. Nothing is padded."""
        tokenizer, rows_of = self._encoder[1], defaultdict[int, list[int]](list)
        for row, tokens in enumerate(sentences):
            pieces = tokenizer(list(tokens), is_split_into_words=True, truncation=True)["input_ids"]
            rows_of[len(pieces)].append(row)
        return chain.from_iterable(map(_parts, rows_of.values()))

    def top_layers(self) -> TopLayers:
        """The layers that are trained, with random weights. These are on `meta` if torch's device is."""
        encoder = self._from_description()
        cut(encoder, self.frozen, self._described.num_hidden_layers)
        return TopLayers(encoder, self.frozen + 1)

    def top_weights(self) -> dict[str, torch.Tensor]:
        """See `Reader.top_weights`."""
        encoder = copy.deepcopy(self._encoder[0])
        cut(encoder, self.frozen, self._described.num_hidden_layers)
        self._check(encoder)
        return TopLayers(encoder, self.frozen + 1).state_dict()

    @torch.no_grad()
    def _check(self, encoder: nn.Module) -> None:
        """Raise if the last layers alone do not compute what they do in the whole encoder."""
        ((_, layers, _),) = self._layers([("a", "b")])
        below, wanted = layers[self.frozen], layers[self.frozen + 1 :]
        mask = torch.ones(1, len(below), dtype=torch.long)
        try:
            output = encoder(inputs_embeds=below[None], attention_mask=mask, output_hidden_states=True)
            found = torch.cat(output.hidden_states[1:])
        except (TypeError, ValueError, RuntimeError, AttributeError, LookupError) as error:
            raise no_stack(encoder) from error
        close = 1e-3 * float(wanted.abs().max())
        if found.shape != wanted.shape or not torch.allclose(found, wanted, atol=close):
            raise no_stack(encoder)

    def _from_description(self) -> nn.Module:
        import transformers  # here, as it is an extra and takes seconds
        from accelerate import init_empty_weights

        empty = init_empty_weights() if torch.get_default_device().type == "meta" else nullcontext()
        with torch.device("cpu"), empty:  # buffers have to have values: some are not saved, such as rotations
            encoder: nn.Module = transformers.AutoModel.from_config(self._described)
        return encoder


def _parts(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    return (rows[first : first + AT_ONCE] for first in range(0, len(rows), AT_ONCE))


def _save(path: Path, table: Array) -> None:
    with path.open("wb") as file:  # numpy would add a suffix to the name
        np.save(file, table)


def _pooled(states: torch.Tensor, word_of: WordOf, words: int) -> torch.Tensor:
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
