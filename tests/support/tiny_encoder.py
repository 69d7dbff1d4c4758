"""An encoder without anything learned, and a tokenizer of a few pieces, as a hub would have them."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from support.tiny import run_here, train_arguments

PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijk", *(f"##{letter}" for letter in "abcdefghijkz"))

NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
KINDS: dict[str, dict[str, object]] = {
    "Bert": {},
    "MPNet": {"max_position_embeddings": 34},  # it counts them from 2 on
    "ModernBert": {f"{name}_token_id": 0 for name in ("pad", "bos", "eos", "cls", "sep")},
    "DistilBert": {"hidden_dim": 16, "dropout": 0.0, "attention_dropout": 0.0},
    "Electra": {"embedding_size": 8},
}
"""Kinds of encoders, with settings that only they need."""


def write(folder: Path, seed: int = 0, kind: str = "Bert") -> Path:
    """Write such an encoder, as transformers saves its own. It reads words of the letters a to k."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    numbers = {piece: number for number, piece in enumerate(PIECES)}
    pieces = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(piece, numbers[piece]) for piece in ("[CLS]", "[SEP]")]
    pieces.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=pieces, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=32, model_input_names=["input_ids", "attention_mask"],
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    sizes = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    settings = {"max_position_embeddings": 32, "initializer_range": 0.5, **NO_DROPOUT, **KINDS[kind]}
    config = getattr(transformers, f"{kind}Config")(vocab_size=len(PIECES), **sizes, **settings)
    pooling = {"add_pooling_layer": False} if kind in ("Bert", "MPNet") else {}
    getattr(transformers, f"{kind}Model")(config, **pooling).save_pretrained(folder)
    return folder


def training(
    encoder: Path, data: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, layers: int = 0
) -> Callable[..., Path]:
    """Give a function that trains with such a reader and some settings. It gives the folder of the run."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    reader = {"model.reader": str(encoder), "model.reader_layers": layers}

    def train(name: str = "run", **settings: object) -> Path:
        values = {key.replace("__", "."): value for key, value in settings.items()}
        finished = run_here(*train_arguments(data, folder / name, reader | values))
        assert finished.code == 0, finished.err
        assert f"{'million' if layers else 'none'} of them trained" in finished.err
        return folder / name

    return train
