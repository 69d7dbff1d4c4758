"""The pages about the distributions and the layers: their code runs and prints what they show."""

import contextlib
import functools
import io
import re

import pytest
import torch

import ftor
from support.pages import PAGES, blocks

LAYERS = "docs/concepts/layers-in-your-model.md"
DISTRIBUTIONS = "docs/concepts/distributions.md"


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # torch.compile reads it
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch.func.hessian calls it
def test_the_script_prints_what_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    # Traced and differentiated as ever, but without the minute that generating code takes.
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="aot_eager"))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n".join(blocks(LAYERS, "python")), LAYERS, "exec"), {})
    assert printed.getvalue() == "".join(blocks(LAYERS, ""))


def test_the_training_loop_stays_short() -> None:
    loop = blocks(LAYERS, "python")[1]
    assert len(loop.splitlines()) <= 30


def test_every_name_of_the_distributions_exists() -> None:
    names = {
        "ftor": ftor,
        "logits": torch.randn(2, 3, 3),
        "source_lengths": torch.tensor([3, 2]),
        "lengths": torch.tensor([4, 2]),
        "scores": torch.randn(2, 5, 5, 5, 2),
    }
    page = PAGES[DISTRIBUTIONS].read_text("utf-8")
    for block in blocks(DISTRIBUTIONS, "python"):
        exec(block, names)
    used = re.findall(r"`(fertility|given|reordering|SeparablePermutation)\.(\w+)", page)
    assert {variable for variable, _ in used} == {"fertility", "given", "reordering", "SeparablePermutation"}
    names["SeparablePermutation"] = ftor.SeparablePermutation
    for variable, attribute in used:
        assert hasattr(names[variable], attribute), f"{variable}.{attribute}"
