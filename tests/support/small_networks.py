"""Networks so small that all their outputs can be enumerated, with weights far from uniform."""

from collections.abc import Sequence
from itertools import product

import torch

from ftor.config import LSTMConfig, TransducerConfig, TransformerConfig
from ftor.networks.lstm import LSTMSeq2Seq
from ftor.networks.transducer import Transducer
from ftor.networks.transformer import RelativeTransformer
from ftor.text.batches import Batch
from ftor.text.copying import Copying
from ftor.text.encoded_pairs import EncodedPairs
from ftor.text.reading import Pair
from ftor.text.vocabularies import Vocabularies

ORDERS = ("fertility-reordering", "reordering-fertility", "fertility")
DECODERS = ("independent", "autoregressive")
SEQ2SEQ = ("lstm", "lstm-deep", "transformer")
PAIRS = (
    Pair(("a", "b", "c"), ("b", "a", "a", "c"), 1),
    Pair(("c", "a"), ("c", "x", "a"), 2),
    Pair(("b",), ("y", "b"), 3),
    Pair(("a", "a", "b", "d"), ("a", "b"), 4),
)
SHORT_PAIRS = (*PAIRS[:2], Pair(("b",), ("b",), 3), PAIRS[3])
"""The same with one target class less."""


def transducer(
    order: str, decoder: str, copying: bool = False, **settings: object
) -> tuple[Transducer, Vocabularies]:
    """Make a transducer for `PAIRS`."""
    config = TransducerConfig(
        order=order, decoder=decoder, copying=copying, width=8, max_fertility=3, fertility_hidden=6,
        decoder_hidden=7, target_width=5, **settings,
    )  # fmt: skip
    vocabularies = Vocabularies.of(PAIRS, Copying() if copying else None, start_token=True)
    network = Transducer(config, len(vocabularies.source), len(vocabularies.target)).double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(2)
    return network.eval(), vocabularies


def seq2seq(architecture: str, **settings: object) -> tuple[LSTMSeq2Seq | RelativeTransformer, Vocabularies]:
    """Make an LSTM or a Transformer for `SHORT_PAIRS`."""
    vocabularies = Vocabularies.of(SHORT_PAIRS)
    sizes = len(vocabularies.source), len(vocabularies.target)
    network: LSTMSeq2Seq | RelativeTransformer
    if architecture == "transformer":
        small = {"width": 8, "heads": 2, "layers": 2, "hidden": 12, **settings}
        network = RelativeTransformer(TransformerConfig(architecture="transformer", **small), *sizes)
    else:
        small = {"width": 6, "hidden": 4, **settings}
        small |= {"encoder_layers": 2, "decoder_layers": 3} if architecture == "lstm-deep" else {}
        network = LSTMSeq2Seq(LSTMConfig(architecture="lstm", **small), *sizes)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.mul_(2) if "_bias" not in name else parameter.normal_()
    return network.double().eval(), vocabularies


def whole_batch(vocabularies: Vocabularies, pairs: Sequence[Pair]) -> Batch:
    """All pairs in one batch."""
    return EncodedPairs(pairs, vocabularies).batch(torch.arange(len(pairs)))


def log_probabilities(network, vocabularies, source, longest: int) -> dict[tuple[int, ...], float]:
    """Log P(y|x) of every output of up to `longest` tokens, by teacher forcing; a batch for each length."""
    scores: dict[tuple[int, ...], float] = {}
    for length in range(longest + 1):
        outputs = list(product(range(network.classes), repeat=length))
        sources = vocabularies.source_batch([source] * len(outputs))
        golds = Batch(
            sources.source, sources.source_lengths, torch.tensor(outputs, dtype=torch.int64),
            torch.full([len(outputs)], length), None, None, torch.arange(len(outputs)),
        )  # fmt: skip
        tokens = length + 1 if isinstance(network, LSTMSeq2Seq) else 1  # its loss is a mean over tokens
        scores |= zip(outputs, (-tokens * network(golds).tokens).tolist(), strict=True)
    return scores


def read(network, vocabularies, source):
    """What an LSTM or a Transformer knows of a source."""
    return network.read(vocabularies.source_batch([source]))


def beginnings(network, memory, length: int) -> dict[tuple[int, ...], float]:
    """Log-probability of every beginning of `length` tokens, from cached states and what `read` gave."""
    if isinstance(network, LSTMSeq2Seq):
        memory, begin = memory
        state = network.start(begin)
    else:
        state = tuple(part[:, None] for part in network.start(memory))
    known = {(): (0.0, state)}
    for _ in range(length):
        longer = {}
        for tokens, (score, state) in known.items():
            before = tokens[-1] if tokens else network.classes
            log_probs, after = network.step(memory, state, torch.tensor([[before]]))
            for token in range(network.classes):
                longer[*tokens, token] = (score + log_probs[0, 0, token].item(), after)
        known = longer
    return {tokens: score for tokens, (score, _) in known.items()}
