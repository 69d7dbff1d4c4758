"""Exponentials on vectors, against numpy in extended precision."""

import numba
import numpy as np
import pytest

from ftor.ops.simd import expm1, load, sigmoid, store, tanh


@numba.njit
def apply(x, expm1s, sigmoids, tanhs):
    for at in range(0, len(x), 8):
        lanes = load(x, at)
        store(expm1s, at, expm1(lanes))
        store(sigmoids, at, sigmoid(lanes))
        store(tanhs, at, tanh(lanes))


def results(x):
    arrays = [np.empty_like(x) for _ in range(3)]
    apply(x, *arrays)
    return arrays


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_within_two_roundings(dtype):
    normal = np.random.default_rng(0).standard_normal(4000)
    x = np.concatenate([normal * scale for scale in (1e-8, 1e-3, 0.1, 1, 10, 20)]).astype(dtype)
    wide = x.astype(np.longdouble)
    expected = np.expm1(wide), 1 / (1 + np.exp(-wide)), np.tanh(wide)
    for found, exact in zip(results(x), expected, strict=True):
        error = np.max(np.abs(found - exact) / np.abs(exact))
        assert error < 2 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes(dtype):
    tiny = np.finfo(dtype).tiny
    x = np.array([1e4, -1e4, np.inf, -np.inf, 0, -0.0, np.nan, tiny], dtype)
    expm1s, sigmoids, tanhs = results(x)
    assert np.isfinite(expm1s[0])
    assert expm1s[0] > np.sqrt(np.finfo(dtype).max)
    assert expm1s[[1, 3]].tolist() == [-1, -1]
    assert sigmoids[[0, 2, 4, 5, 7]].tolist() == [1, 1, 0.5, 0.5, 0.5]
    assert (sigmoids[[1, 3]] <= 2 * tiny).all()
    assert tanhs[:6].tolist() == [1, -1, 1, -1, 0, 0]
    assert tanhs[7] == tiny
    assert all(np.isnan(values[6]) for values in (expm1s, sigmoids, tanhs))
