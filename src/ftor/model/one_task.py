"""Whether models that are to answer together are models of one task."""

import re
from collections.abc import Sequence

from ftor.errors import FtorError
from ftor.model.model import Model
from ftor.text.programs import Programs

LEAST_SHARED = 0.1
"""Models of one task share at least so many of the words that they write, as a share of the fewer ones."""
_WORD = re.compile(r"[^\W\d_]\w*")


def require_one_task(models: Sequence[Model]) -> None:
    """Raise if a model writes hardly any word that the first one writes."""
    first, *others = models
    for other in others:
        mine, its = _words(first), _words(other)
        shared, fewer = len(mine & its), min(len(mine), len(its))
        if shared < LEAST_SHARED * fewer:
            raise FtorError(
                f"committee: {other.folder} writes {shared} of the {len(mine)} words that {first.folder} "
                "writes; expected models of one task"
            )


def _words(model: Model) -> set[str]:
    """The words in the outputs of a model, whatever its notation and its units. Numbers tell no task."""
    tokens, units = model.vocabularies.target.tokens, model.programs
    if isinstance(units, Programs):
        texts = [part.text for name in tokens for part in units.unit(name) if not isinstance(part, str)]
    else:
        texts = list(tokens) if units is None else units.spell(tokens)
    return {word.lower() for text in texts for word in _WORD.findall(text)}
