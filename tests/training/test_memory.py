"""Memory that is freed and used again."""

import platform
import subprocess
import sys

import pytest

# A process of its own: what other tests have freed adds up to the 512 MB that are kept.
_TWICE_THE_SAME_TENSORS = """
import resource

import torch

from ftor.training.memory import keep_freed_memory

if {keep}:
    keep_freed_memory()


def new_pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    tensors = [torch.ones(1 << 20) for _ in range(50)]  # 200 MB
    assert len(tensors) == 50
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


new_pages()
print(new_pages())
"""


def _new_pages(keep: bool) -> int:
    script = _TWICE_THE_SAME_TENSORS.format(keep=keep)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_memory_that_is_used_again_needs_no_new_pages():
    assert _new_pages(keep=True) < _new_pages(keep=False) / 4
