"""The two layers on a sentence like the paper's first figure, in the terminal or as a picture.

    python examples/paper_example.py [--picture docs/figures/paper_example.svg]

`Seattle` is the fourth token and its copies the sixth and seventh intermediate tokens; what `flights`
contributes is discontinuous in the output and intertwined with the rest, as the paper says of its figure.
"""

import argparse
from pathlib import Path

import torch
from rich import print

import ftor
from ftor.model.prediction import Prediction, Step, Structure
from ftor.show.explain import picture, view

SENTENCE = ["show", "flights", "to", "Seattle"]
FERTILITIES = (1, 3, 1, 2)
TREE = "(∧ show (∧ flights₁ (∧ flights₂ (△ flights₃ (∧ to (∧ Seattle₁ Seattle₂))))))"
TRANSLATION = {
    "show": "answer",
    "flights₁": "intersection(",
    "flights₂": "_flight",
    "flights₃": ")",
    "to": "_to",
    "Seattle₁": "city_name",
    "Seattle₂": "seattle",
}


def prediction(confidence: float) -> Prediction:
    """What layers that prefer the example's choices by `confidence` nats each would answer."""
    logits = torch.zeros(1, len(SENTENCE), 5)
    logits[0, torch.arange(len(SENTENCE)), torch.tensor(FERTILITIES)] = confidence
    length = torch.tensor([sum(FERTILITIES)])
    tree, copies = ftor.PermutationTree.parse(TREE)
    scores = torch.zeros(1, *(3 * [int(length) + 1]), 2)
    for i, j, k, inverted in tree.nodes:
        scores[0, i, j, k, inverted] = confidence
    fertility, reordering = ftor.Fertility(logits), ftor.SeparablePermutation(scores, length)

    best = reordering.argmax.trees[0]
    output = tuple(TRANSLATION[copy] for copy in best.apply(copies))
    given = fertility.given(length)
    marginals = given.marginals[0].sum(-1).numpy(), reordering.marginals[0].numpy()
    steps = Step("fertility", marginals[0], tuple(copies)), Step("reordering", marginals[1], output)
    fertilities = tuple(given.argmax[0].tolist())
    score = fertility.log_prob_length(length).item()  # the translation is certain
    structure = Structure(steps, marginals[0] @ marginals[1], fertilities, best)
    return Prediction(tuple(SENTENCE), output, score, score, structure)


def main() -> None:
    """Print the example, or draw it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--picture", type=Path, help="draw the example into this file instead of printing it")
    path = parser.parse_args().picture
    example = prediction(confidence=3.0)
    if path:
        picture(example, path)
    else:
        print(view(example))


if __name__ == "__main__":
    main()
