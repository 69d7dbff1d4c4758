"""Use a trained model, without a grammar and with one.

    python examples/train_from_python.py runs/home
    python examples/predict_with_a_grammar.py runs/home

Nothing in training says that a lamp cannot be opened. The grammar does.
"""

import sys
from math import exp
from pathlib import Path

import ftor
from ftor.grammar import Grammar

SENTENCES = ["open the attic window after you close the hall door", "open the attic lamp"]


def main() -> None:
    """Print both predictions of each sentence, and how the model came to the first."""
    model = ftor.load(sys.argv[1])
    grammar = Grammar.read(Path(__file__).parent / "home" / "home.cfg")
    free, constrained = (model.predict(SENTENCES, grammar=choice) for choice in (None, grammar))
    for sentence, left, right in zip(SENTENCES, free, constrained, strict=True):
        print(sentence)
        print(f"  without the grammar: {left.text} ({exp(left.score):.5f})")
        print(f"  with the grammar:    {right.text} ({exp(right.score):.5f})")
    structure = free[0].structure
    assert structure is not None
    print(f"fertilities: {structure.fertilities}")
    print(f"reordering:  {structure.tree}")


if __name__ == "__main__":
    main()
