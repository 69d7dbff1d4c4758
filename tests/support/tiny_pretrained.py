"""Encoder-decoders without anything learned, and a tokenizer of a few subwords: what a hub would have."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
KINDS = ("bart", "t5", "marian")


def write(folder: Path, texts: Iterable[str], kind: str = "bart", every_byte: bool = True) -> Path:
    """Write such a model for some texts, as transformers saves its own."""
    tokenizer = _tokenizer(texts, "<s> $A </s>" if kind == "bart" else "$A </s>", every_byte)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    _network(kind, len(tokenizer)).save_pretrained(folder)
    return folder


def _tokenizer(texts: Iterable[str], template: str, every_byte: bool) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    subwords = Tokenizer(models.BPE(unk_token=None if every_byte else "<unk>"))
    subwords.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    subwords.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet() if every_byte else []
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=list(SPECIALS), show_progress=False, initial_alphabet=alphabet
    )
    subwords.train_from_iterator(texts, trainer)
    ends = [(token, subwords.token_to_id(token)) for token in ("<s>", "</s>")]
    subwords.post_processor = processors.TemplateProcessing(template, special_tokens=ends)
    names = dict(zip(("bos", "pad", "eos", "unk", "mask"), SPECIALS, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=subwords, **{f"{name}_token": token for name, token in names.items()}
    )


def _network(kind: str, vocabulary: int) -> Any:
    import transformers

    sizes = {f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in
             {"layers": 1, "attention_heads": 2, "ffn_dim": 16}.items()}  # fmt: skip
    common = {"vocab_size": vocabulary, "d_model": 16}
    pad, end = SPECIALS.index("<pad>"), SPECIALS.index("</s>")
    if kind == "t5":
        starts = {"decoder_start_token_id": pad, "pad_token_id": pad, "eos_token_id": end}
        config = transformers.T5Config(d_kv=8, d_ff=16, num_layers=1, num_heads=2, **common, **starts)
        return transformers.T5ForConditionalGeneration(config)
    if kind == "marian":
        starts = {"decoder_start_token_id": pad, "pad_token_id": pad, "eos_token_id": end}
        config = transformers.MarianConfig(
            max_position_embeddings=64, decoder_vocab_size=vocabulary, **common, **starts, **sizes
        )
        return transformers.MarianMTModel(config)
    config = transformers.BartConfig(max_position_embeddings=64, init_std=0.3, **common, **sizes)
    return transformers.BartForConditionalGeneration(config)
