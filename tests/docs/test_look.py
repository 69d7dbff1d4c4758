"""The page that explains the findings of `ftor data look`."""

import re
from typing import get_args

from ftor.tuning.look.findings import Kind
from support.pages import PAGES


def test_every_finding_has_a_section():
    page = PAGES["docs/how-to/when-it-does-not-work.md"].read_text("utf-8")
    assert sorted(re.findall(r"^### (.+)$", page, re.MULTILINE)) == sorted(get_args(Kind))
