"""The two layers on a sentence like the paper's first figure, in the terminal or as a picture.

    python docs/paper_example.py [--picture docs/paper_example.svg]

`Seattle` is the fourth token and its copies the sixth and seventh intermediate tokens; what `flights`
contributes is discontinuous in the output and intertwined with the rest, as the paper says of its figure.
"""

import argparse
from pathlib import Path

import torch
from torch import Tensor

import ftor

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


def distributions(confidence: float) -> tuple[ftor.Fertility, ftor.SeparablePermutation, Tensor]:
    """Fertility, reordering and length that prefer the example's choices by `confidence` nats each."""
    logits = torch.zeros(1, len(SENTENCE), 5)
    logits[0, torch.arange(len(SENTENCE)), torch.tensor(FERTILITIES)] = confidence
    length = torch.tensor([sum(FERTILITIES)])
    scores = torch.zeros(1, *(3 * [int(length) + 1]), 2)
    for i, j, k, inverted in ftor.PermutationTree.parse(TREE)[0].nodes:
        scores[0, i, j, k, inverted] = confidence
    return ftor.Fertility(logits), ftor.SeparablePermutation(scores, length), length


def describe(fertility: ftor.Fertility, reordering: ftor.SeparablePermutation, length: Tensor) -> str:
    """The two layers step by step, as text."""
    best = fertility.argmax(length)[0].tolist()
    tree, leaves = reordering.argmax.trees[0], ftor.PermutationTree.parse(TREE)[1]
    likely = fertility.top_lengths(3)
    lengths = zip(likely.lengths[0].tolist(), likely.log_probs[0].exp().tolist(), strict=True)
    return "\n".join(
        [
            f"input          {' '.join(SENTENCE)}",
            f"length         {', '.join(f'P({n}) = {p:.2f}' for n, p in lengths)}",
            f"fertilities    {' '.join(f'{word}:{f}' for word, f in zip(SENTENCE, best, strict=True))}",
            f"copies         {' '.join(leaves)}",
            f"best tree      {tree.format(leaves)}",
            f"reordered      {' '.join(tree.apply(leaves))}",
            f"translated     {' '.join(TRANSLATION[leaf] for leaf in tree.apply(leaves))}",
            "",
            "alignment F̃R̃ (rows: input tokens, columns: output positions)",
            *_table(SENTENCE, fertility.marginals(length)[0].sum(-1) @ reordering.marginals[0]),
        ]
    )


def _table(names: list[str], values: Tensor) -> list[str]:
    return [
        f"{name:>14} " + " ".join(f"{value:5.2f}" for value in row)
        for name, row in zip(names, values.tolist(), strict=True)
    ]


def draw(
    fertility: ftor.Fertility, reordering: ftor.SeparablePermutation, length: Tensor, path: Path
) -> None:
    """Save F̃ and R̃ side by side."""
    from matplotlib import pyplot, rcParams

    rcParams["svg.hashsalt"] = "ftor"  # the same picture, to the byte, every time
    leaves = ftor.PermutationTree.parse(TREE)[1]
    output = [TRANSLATION[leaf] for leaf in reordering.argmax.trees[0].apply(leaves)]
    panels = (
        ("F̃: which token is copied where", fertility.marginals(length)[0].sum(-1), SENTENCE, leaves),
        ("R̃: where each copy moves", reordering.marginals[0], leaves, output),
    )
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for axis, (title, values, rows, columns) in zip(axes, panels, strict=True):
        image = axis.imshow(values, cmap="Blues", vmin=0, vmax=1)
        axis.set_title(title)
        axis.set_xticks(range(len(columns)), columns, rotation=45, ha="right")
        axis.set_yticks(range(len(rows)), rows)
    figure.colorbar(image, ax=axes, shrink=0.8, label="probability")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    """Print the example, or draw it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--picture", type=Path, help="save F̃ and R̃ to this file instead of printing")
    picture = parser.parse_args().picture
    example = distributions(confidence=3.0)
    if picture:
        draw(*example, picture)
    else:
        print(describe(*example))


if __name__ == "__main__":
    main()
