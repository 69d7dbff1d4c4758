"""BART, pretrained and fine-tuned, by way of transformers (`ftor[pretrained]`)."""

from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from ftor.config.baselines import BartConfig
from ftor.errors import FtorError
from ftor.networks.beam import Accepts, Hypothesis
from ftor.networks.seq2seq import Seq2Seq, only_tokens
from ftor.networks.transducer import Losses
from ftor.nn.padding import inside
from ftor.text.batches import Batch, SourceBatch

try:
    import transformers
except ImportError:
    raise FtorError(
        "architecture bart: expected transformers, found none; pip install 'ftor[pretrained]'"
    ) from None


class Bart(Seq2Seq):
    """BART with a loss and a search of ours. Batches have subwords for ids and for classes.

    Args:
        config: how it is trained and searched.
        bart: transformers' module.
    """

    def __init__(self, config: BartConfig, bart: transformers.BartForConditionalGeneration) -> None:
        super().__init__()
        self.config, self.bart = config, bart
        self.classes: int = bart.config.vocab_size
        # Released ones come with settings for summaries, which forbid what programs are full of: repetition.
        bart.generation_config = transformers.GenerationConfig()
        names = {id(p): name for name, p in self.named_parameters()}
        every = self.named_parameters(remove_duplicate=False)
        self._tied = {name: names[id(p)] for name, p in every if names[id(p)] != name}
        self.register_state_dict_post_hook(_drop_tied)  # type: ignore[no-untyped-call]
        self.register_load_state_dict_pre_hook(_add_tied)  # type: ignore[no-untyped-call]
        tie = self.register_load_state_dict_post_hook
        tie(lambda module, _: module.bart.tie_weights())  # type: ignore[no-untyped-call]

    @property
    def longest(self) -> int:
        """How many subwords it can read or write."""
        return int(self.bart.config.max_position_embeddings)

    def forward(self, batch: Batch) -> Losses:
        """−log P(y|x), a mean over subwords; with labels smoothed in training."""
        start = self.bart.config.decoder_start_token_id
        before = F.pad(batch.target[:, :-1], (1, 0), value=start)
        logits = self.bart(
            input_ids=batch.source,
            attention_mask=inside(batch.source_lengths, batch.source.shape[1]),
            decoder_input_ids=before,
            use_cache=False,
        ).logits.float()
        smoothing = self.config.label_smoothing if self.training else 0.0
        losses = F.cross_entropy(logits.mT, batch.target, reduction="none", label_smoothing=smoothing)
        sums = (losses * inside(batch.target_lengths, batch.target.shape[1])).sum(1)
        # In training the mean over all subwords of the batch, as released; else each example's own.
        lengths = batch.target_lengths.to(sums.dtype)
        return only_tokens(sums / (lengths.mean() if self.training else lengths))

    @torch.no_grad()
    def decode(self, batch: SourceBatch, accepts: Accepts | None = None) -> list[Hypothesis]:
        """The best output in the beam, by the sum of log-probabilities; a larger beam if some are refused."""
        config, description = self.config, self.bart.config
        beam = config.beam_if(accepts is not None)
        kept = 1 if accepts is None else beam
        found = self.bart.generate(
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
            Hypothesis(self._written(tokens), score)
            for tokens, score in zip(found.sequences.tolist(), found.sequences_scores.tolist(), strict=True)
        ]
        best = []
        for row in range(len(batch.source)):
            mine = rows[row * kept : (row + 1) * kept]
            right = (one for one in mine if accepts is None or accepts(row, one.tokens))
            best.append(next(right, mine[0]))
        return best

    def _written(self, tokens: list[int]) -> list[int]:
        """An output without what stands before it, and without its end and what comes after."""
        end = self.bart.config.eos_token_id
        written = tokens[1:]
        return written[: written.index(end)] if end in written else written

    def save_description(self, folder: Path, tokenizer: Any) -> None:
        """Write what `described` needs, which training does not change."""
        self.bart.config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def pretrained(config: BartConfig) -> tuple[Bart, Any]:
    """The pretrained model that a configuration names, and its tokenizer."""
    name = config.pretrained
    if name.startswith(("/", ".", "~")) and not Path(name).expanduser().is_dir():
        raise FtorError(f"model.pretrained: expected the folder of a BART, found no folder {name}")
    try:
        bart = transformers.BartForConditionalGeneration.from_pretrained(name, dtype=torch.float32)
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        raise FtorError(
            f"model.pretrained: expected the folder of a BART, or its name on the Hugging Face hub, found "
            f"{name!r}: {str(error).splitlines()[0]} Where there is no network, fetch it elsewhere, and give "
            "its folder."
        ) from None
    return Bart(config, bart), tokenizer


def described(config: BartConfig, folder: Path) -> tuple[Bart, Any]:
    """A model without its weights, and its tokenizer, from what `save_description` wrote."""
    try:
        description = transformers.BartConfig.from_pretrained(folder, local_files_only=True)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise FtorError(f"{folder}: expected a tokenizer and a model's description: {reason}") from None
    return Bart(config, transformers.BartForConditionalGeneration(description)), tokenizer


def _drop_tied(module: nn.Module, state: dict[str, Any], prefix: str, _: Any) -> None:
    """Leave out what is another parameter's, too: a file has every tensor once."""
    assert isinstance(module, Bart)
    for name in module._tied:
        del state[prefix + name]


def _add_tied(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    """Put back what `_drop_tied` left out."""
    assert isinstance(module, Bart)
    for name, kept in module._tied.items():
        if prefix + kept in state:
            state[prefix + name] = state[prefix + kept]
