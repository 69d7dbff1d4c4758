"""What the rest of the program asks about a network before it exists."""

from typing import ClassVar, Literal

from ftor.config.sections import Section

Side = Literal["source", "target"]


class NetworkConfig(Section):
    """The network: `[model]`. Each architecture has a subclass with its own keys.

    The class variables and methods are what the rest of the program asks about a network before it exists.
    The defaults are those of a network that writes its outputs from left to right.

    Attributes:
        architecture: which of the subclasses it is.
        unused_keys: keys of other sections that mean nothing to the network.
        structured: whether the network has fertilities and reorderings, and so predicts output lengths.
        subwords: whether the network splits text into subwords with a pretrained tokenizer.
        wants_gpu: whether a run on a cluster asks for a GPU.
    """

    unused_keys: ClassVar[tuple[str, ...]] = ()
    structured: ClassVar[bool] = False
    subwords: ClassVar[bool] = False
    wants_gpu: ClassVar[bool] = False

    architecture: str

    @property
    def pretrained_reader(self) -> str | None:
        """The pretrained encoder whose vectors the network reads, if any."""
        return None

    @property
    def trained_reader_layers(self) -> int:
        """How many layers of this encoder are trained, from the last."""
        return 0

    @property
    def description(self) -> str:
        """What the network is, for the model card."""
        raise NotImplementedError

    @property
    def network(self) -> str:
        """The name of the network in `ftor.networks.registry`."""
        return self.architecture

    @property
    def variant(self) -> str:
        """The name under which the paper publishes search spaces for the network."""
        return self.architecture

    @property
    def batch_by(self) -> Side:
        """The side whose lengths are similar within a batch."""
        return "target"

    @property
    def copies(self) -> bool:
        """Whether output tokens may be copies of source tokens."""
        return False

    @property
    def accepts_new_vectors(self) -> bool:
        """Whether words that are not in the training data get their pretrained vectors."""
        return True

    @property
    def accepts_grammar(self) -> bool:
        """Whether the search for outputs can follow a grammar."""
        return True

    @property
    def may_skip_parameters(self) -> bool:
        """Whether some parameters take no part in the loss of some batches."""
        return False

    def longest_target(self, positions: int) -> int | None:
        """The most tokens that a target of a source with so many positions can have; None: any number."""
        return None

    def reordered(self, source: int, target: int) -> int:
        """How many positions are reordered, given the lengths of source and target."""
        return 0

    def prediction_batch_size(self, size: int, grammar: bool) -> int:
        """How many sentences are predicted at once, if `size` is configured."""
        return size
