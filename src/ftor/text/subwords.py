"""Vocabularies of a pretrained model that splits texts into subwords."""

from collections.abc import Sequence
from typing import Any, Self

from ftor.text.reading import DataError
from ftor.text.vocabularies import Vocabularies


class SubwordVocabularies(Vocabularies):
    """The words of the training pairs, and a tokenizer that gives the subword ids of any text.

    Args:
        source, target: the words. They are kept for people to read.
        lowercase: whether sources are lowercased.
        tokenizer: a tokenizer of transformers that adds the special ids of the model, at least at the end.
        longest: largest number of subwords of a text.
    """

    def __init__(
        self, source: Sequence[str], target: Sequence[str], lowercase: bool, tokenizer: Any, longest: int
    ) -> None:
        super().__init__(source, target, start_token=False, lowercase=lowercase)
        self.tokenizer, self.longest = tokenizer, longest

    @classmethod
    def around(cls, words: Vocabularies, tokenizer: Any, longest: int) -> Self:
        """The words of other vocabularies, with a tokenizer."""
        return cls(words.source.tokens, words.target.tokens, words.lowercase, tokenizer, longest)

    def source_ids(self, tokens: Sequence[str]) -> list[int]:
        """The subword ids of a source, with the special ids at both ends."""
        return self._subwords([self.word(token) for token in tokens])

    def unknown(self, tokens: Sequence[str]) -> tuple[str, ...]:
        """Nothing: the subwords write any word."""
        return ()

    def target_classes(self, source: Sequence[str], target: Sequence[str]) -> list[int]:
        """The subword ids of a target, with the special ids at both ends.

        Raises a `DataError` if the tokenizer cannot write it.
        """
        subwords = self._subwords(target, is_target=True)
        unknown = self.tokenizer.unk_token_id
        if unknown is not None and unknown in subwords:
            lost = [token for token in target if unknown in self._subwords([token], is_target=True)]
            raise DataError(f"the pretrained tokenizer cannot write {', '.join(map(repr, lost or target))}")
        return subwords

    def choices(self, output: Sequence[str], source: Sequence[str]) -> list[int]:
        """The subword ids of an output without the end, which the network adds."""
        return self._subwords(output, is_target=True)[:-1]

    def pieces(self, choices: Sequence[int], output: Sequence[str]) -> tuple[str, ...]:
        """What is written by each of the choices of an output: subwords, in the tokenizer's spelling."""
        return tuple(self.tokenizer.convert_ids_to_tokens(list(choices)))

    def output(self, choices: Sequence[int], source: Sequence[str]) -> tuple[str, ...]:
        """The words of an output: its text, split at white space."""
        text: str = self.tokenizer.decode(
            choices, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return tuple(text.split())

    def _subwords(self, tokens: Sequence[str], is_target: bool = False) -> list[int]:
        text = " ".join(tokens)
        # Some models, such as Marian, have other subwords on the target side.
        subwords: list[int] = self.tokenizer(**{"text_target" if is_target else "text": text})["input_ids"]
        if len(subwords) > self.longest:
            raise DataError(
                f"expected text of at most {self.longest} subwords, found {len(subwords)}: {text}"
            )
        return subwords
