"""Vocabularies of a pretrained model, which splits text into subwords of its own."""

from collections.abc import Sequence
from typing import Any, Self

from ftor.text.reading import DataError
from ftor.text.vocabularies import Vocabularies


class SubwordVocabularies(Vocabularies):
    """The words of training, for people to read, and a tokenizer that numbers the subwords of any text.

    Args:
        source, target: the words.
        lowercase: whether sources are read in lower case.
        tokenizer: one of transformers', which marks the beginning and the end of each text.
        longest: how many subwords a text may have.
    """

    def __init__(
        self, source: Sequence[str], target: Sequence[str], lowercase: bool, tokenizer: Any, longest: int
    ) -> None:
        super().__init__(source, target, start_token=False, lowercase=lowercase)
        self.tokenizer, self.longest = tokenizer, longest

    @classmethod
    def around(cls, words: Vocabularies, tokenizer: Any, longest: int) -> Self:
        """The same words, with a tokenizer."""
        return cls(words.source.tokens, words.target.tokens, words.lowercase, tokenizer, longest)

    def source_ids(self, tokens: Sequence[str]) -> list[int]:
        """The subwords of a source, its beginning and end included."""
        return self._subwords([self.word(token) for token in tokens])

    def target_classes(self, source: Sequence[str], target: Sequence[str]) -> list[int]:
        """The subwords of a target, its beginning and end included."""
        return self._subwords(target)

    def output(self, choices: Sequence[int], source: Sequence[str]) -> tuple[str, ...]:
        """The words of an output, as blanks separate them."""
        text: str = self.tokenizer.decode(
            choices, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return tuple(text.split())

    def _subwords(self, tokens: Sequence[str]) -> list[int]:
        text = " ".join(tokens)
        subwords: list[int] = self.tokenizer(text)["input_ids"]
        if len(subwords) > self.longest:
            raise DataError(
                f"expected text of at most {self.longest} subwords, found {len(subwords)}: {text}"
            )
        return subwords
