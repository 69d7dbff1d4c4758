"""Pretrained encoder-decoders of transformers, fine-tuned: BART, T5, Marian … (`ftor[pretrained]`)."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ftor.config import Config, FineTunedConfig
from ftor.errors import FtorError
from ftor.networks.network import Constraint, Losses, Output, TokenScores
from ftor.networks.seq2seq import BeamSearched, as_golds, only_tokens, token_scores
from ftor.nn.padding import inside
from ftor.text.batches import Batch, SourceBatch
from ftor.text.subwords import SubwordVocabularies
from ftor.text.vocabularies import Vocabularies

try:
    import transformers
except ImportError:
    raise FtorError("transformers is not installed: pip install 'ftor[pretrained]'") from None

UNLIMITED = 512
"""The most subwords of a text if the network itself has no limit, as T5's relative positions."""
DESCRIPTION = "pretrained"
"""The folder, in a model folder, with the tokenizer and the description of the network."""


class Pretrained(BeamSearched):
    """An encoder-decoder with its own loss and search. Ids and classes of batches are subwords.

    Args:
        config: how it is trained and searched.
        seq2seq: transformers' module.
        tokenizer: transformers' tokenizer for it.
    """

    config: FineTunedConfig

    def __init__(
        self, config: FineTunedConfig, seq2seq: transformers.PreTrainedModel, tokenizer: Any
    ) -> None:
        super().__init__()
        self.config, self.seq2seq, self.tokenizer = config, seq2seq, tokenizer
        self.classes: int = seq2seq.config.vocab_size
        # Released models come with settings for summaries, which forbid the repetition that programs need.
        seq2seq.generation_config = transformers.GenerationConfig()
        names = {id(p): name for name, p in self.named_parameters()}
        every = self.named_parameters(remove_duplicate=False)
        self._tied = {name: names[id(p)] for name, p in every if names[id(p)] != name}
        self.register_state_dict_post_hook(_drop_tied)  # type: ignore[no-untyped-call]
        self.register_load_state_dict_pre_hook(_add_tied)  # type: ignore[no-untyped-call]
        tie = self.register_load_state_dict_post_hook
        tie(lambda module, _: module.seq2seq.tie_weights())  # type: ignore[no-untyped-call]

    @classmethod
    def build(
        cls, config: Config, words: Vocabularies, vector_size: int | None = None, folder: Path | None = None
    ) -> tuple[Self, Vocabularies]:
        """See `Network.build`. With a folder, the weights are not the pretrained ones, but random."""
        assert isinstance(config.model, FineTunedConfig)
        parts = _pretrained(config.model.pretrained) if folder is None else _described(folder / DESCRIPTION)
        network = cls(config.model, *parts)
        return network, SubwordVocabularies.around(words, network.tokenizer, network.longest)

    @property
    def longest(self) -> int:
        """How many subwords the network can read or write."""
        return int(getattr(self.seq2seq.config, "max_position_embeddings", None) or UNLIMITED)

    def forward(self, batch: Batch) -> Losses:
        """−log P(y|x), the mean over subwords, with smoothed labels in training."""
        smoothing = self.config.label_smoothing if self.training else 0.0
        sums = self._losses(batch, smoothing).sum(1)
        # In training the mean over all subwords of the batch, as released; else that of each example.
        lengths = batch.target_lengths.to(sums.dtype)
        return only_tokens(sums / (lengths.mean() if self.training else lengths))

    def _losses(self, batch: Batch, smoothing: float = 0.0) -> Tensor:
        """−log P of each gold subword, (B, L), 0 past the end."""
        start = self.seq2seq.config.decoder_start_token_id
        before = F.pad(batch.target[:, :-1], (1, 0), value=start)
        logits = self.seq2seq(
            input_ids=batch.source,
            attention_mask=inside(batch.source_lengths, batch.source.shape[1]),
            decoder_input_ids=before,
            use_cache=False,
        ).logits.float()
        losses = F.cross_entropy(logits.mT, batch.target, reduction="none", label_smoothing=smoothing)
        return losses * inside(batch.target_lengths, batch.target.shape[1])

    @torch.no_grad()
    def score(
        self, batch: SourceBatch, outputs: Sequence[Sequence[int]], constrained: bool = False
    ) -> list[TokenScores]:
        """See `Network.score`."""
        end = int(self.seq2seq.config.eos_token_id)
        losses = self._losses(as_golds(batch, [[*output, end] for output in outputs]))
        return token_scores(losses, outputs)

    @torch.no_grad()
    def beam(self, batch: SourceBatch, constraint: Constraint, n: int) -> list[list[Output]]:
        """See `BeamSearched.beam`."""
        config, description, accepts = self.config, self.seq2seq.config, constraint.accepts
        beam = max(config.beam_size(accepts is not None), n)
        kept = n if accepts is None else beam
        generated = self.seq2seq.generate(
            input_ids=batch.source,
            attention_mask=inside(batch.source_lengths, batch.source.shape[1]),
            generation_config=transformers.GenerationConfig(
                num_beams=beam,
                num_return_sequences=kept,
                max_new_tokens=min(config.max_steps, self.longest - 1),
                length_penalty=0.0,
                decoder_start_token_id=description.decoder_start_token_id,
                eos_token_id=description.eos_token_id,
                pad_token_id=description.pad_token_id,
                return_dict_in_generate=True,
                output_scores=True,
            ),
        )
        rows = [
            Output(self._without_end(tokens), score)
            for tokens, score in zip(
                generated.sequences.tolist(), generated.sequences_scores.tolist(), strict=True
            )
        ]
        found = []
        for row in range(len(batch.source)):
            beam_of_row = rows[row * kept : (row + 1) * kept]
            accepted = (one for one in beam_of_row if accepts is None or accepts(row, one.choices))
            found.append(list(islice(accepted, n)) or beam_of_row[:n])
        return found

    def _without_end(self, tokens: list[int]) -> list[int]:
        """The tokens of an output, without the start before them and without the end."""
        end, output = self.seq2seq.config.eos_token_id, tokens[1:]
        return output[: output.index(end)] if end in output else output

    def save_description(self, folder: Path) -> None:
        """Write the tokenizer and the description of the network, which training does not change."""
        self.seq2seq.config.save_pretrained(folder / DESCRIPTION)
        self.tokenizer.save_pretrained(folder / DESCRIPTION)


def _pretrained(name: str) -> tuple[transformers.PreTrainedModel, Any]:
    """The model with a name, and its tokenizer: of a folder, else of the cache, else of the hub."""
    if name.startswith(("/", ".", "~")) and not Path(name).expanduser().is_dir():
        raise FtorError(f"model.pretrained: there is no folder {name}")
    try:
        return _load(name, local_files_only=True)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
    if not Path(name).is_dir():
        reason = _why_not_from_hub(name) or ""
        try:
            if not reason:
                return _load(name, local_files_only=False)
        except (OSError, ValueError) as error:
            reason = str(error).splitlines()[0]
    raise FtorError(
        "model.pretrained: expected the folder of an encoder-decoder, or its name on the Hugging Face hub, "
        f"found {name!r}: {reason}"
    )


def _load(name: str, local_files_only: bool) -> tuple[transformers.PreTrainedModel, Any]:
    """Read safetensors, or else a pickle of nothing but tensors. No code of the model is run."""
    try:
        seq2seq = transformers.AutoModelForSeq2SeqLM.from_pretrained(
            name,
            dtype=torch.float32,
            local_files_only=local_files_only,
            weights_only=True,
            trust_remote_code=False,
        )
    except UnpicklingError:
        raise FtorError(
            f"model.pretrained: the weights of {name!r} are a pickle of more than tensors, which could run "
            "code; expected safetensors, or a pickle of tensors"
        ) from None
    return seq2seq, transformers.AutoTokenizer.from_pretrained(name, local_files_only=local_files_only)


def _why_not_from_hub(name: str) -> str | None:
    """Why a model cannot be downloaded, if so. One question: transformers would ask for minutes."""
    import huggingface_hub.errors  # which transformers needs, too

    errors: Any = huggingface_hub.errors  # it does not say that it exports HTTPError
    constants = huggingface_hub.constants
    try:
        huggingface_hub.model_info(name, timeout=10)
    except errors.RepositoryNotFoundError:
        return f"{constants.ENDPOINT} has no such model"
    except errors.OfflineModeIsEnabled:
        why = "HF_HUB_OFFLINE is set"
    except (OSError, errors.HTTPError):
        why = f"{constants.ENDPOINT} cannot be reached"
    except ValueError as error:  # a name that no hub takes
        return " ".join(str(error).split())
    else:
        return None
    return (
        f"it is not in the cache ({constants.HF_HUB_CACHE}), and {why}. Where there is a network, run: "
        f"hf download {name} --local-dir weights; then set model.pretrained=./weights"
    )


def _described(folder: Path) -> tuple[transformers.PreTrainedModel, Any]:
    """A network with random weights, and its tokenizer, from what `save_description` wrote."""
    try:
        description = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise FtorError(
            f"{folder}: expected a tokenizer and the description of an encoder-decoder: {reason}"
        ) from None
    return transformers.AutoModelForSeq2SeqLM.from_config(description), tokenizer


def _drop_tied(module: nn.Module, state: dict[str, Any], prefix: str, _: Any) -> None:
    """Leave out parameters that share their tensor with another: a file holds every tensor once."""
    assert isinstance(module, Pretrained)
    for name in module._tied:
        del state[prefix + name]


def _add_tied(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    """Put back what `_drop_tied` left out. Version 0.1 had no other network than `bart`."""
    assert isinstance(module, Pretrained)
    for name in [name for name in state if name.startswith(f"{prefix}bart.")]:
        state[f"{prefix}seq2seq.{name.removeprefix(f'{prefix}bart.')}"] = state.pop(name)
    for name, kept in module._tied.items():
        if prefix + kept in state:
            state[prefix + name] = state[prefix + kept]
