"""A BART without anything learned, and a tokenizer of a few subwords: what a hub would have, in a folder."""

from collections.abc import Iterable
from pathlib import Path

import torch

SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def write(folder: Path, texts: Iterable[str]) -> Path:
    """Write such a model for some texts, as transformers saves its own."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast

    subwords = Tokenizer(models.BPE())
    subwords.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    subwords.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=list(SPECIALS), show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())  # fmt: skip
    subwords.train_from_iterator(texts, trainer)
    ends = [(token, subwords.token_to_id(token)) for token in ("<s>", "</s>")]
    subwords.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=ends)
    names = dict(zip(("bos", "pad", "eos", "unk", "mask"), SPECIALS, strict=True))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=subwords, **{f"{name}_token": token for name, token in names.items()}
    )
    tokenizer.save_pretrained(folder)
    sizes = {f"{side}_{name}": size for side in ("encoder", "decoder") for name, size in
             {"layers": 1, "attention_heads": 2, "ffn_dim": 16}.items()}  # fmt: skip
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=len(tokenizer), d_model=16, max_position_embeddings=64, init_std=0.3, **sizes
    )
    BartForConditionalGeneration(config).save_pretrained(folder)
    return folder
