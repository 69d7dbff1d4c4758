"""Memory that is freed and used again."""

import platform

import pytest
import torch

from ftor.training.memory import keep_freed_memory


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_memory_that_is_used_again_needs_no_new_pages():
    import resource

    keep_freed_memory()

    def pages():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        tensors = [torch.ones(1 << 20) for _ in range(50)]  # 200 MB
        assert len(tensors) == 50
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    pages()
    assert pages() < 200 * 256 / 4  # a page has 4 KB
