"""Data that several tests share."""

from __future__ import annotations

import numpy as np
import pytest

K = 5


def example(rows: int, classes: int = K, seed: int = 0, dtype: type = np.float32):
    """Labels, a tenth of them wrong, and the probabilities of a model that is mostly right; some rows are equal."""
    draw = np.random.default_rng(seed)
    true = draw.integers(0, classes, rows)
    logits = np.round(draw.normal(0, 1, (rows, classes)), 1)
    logits[np.arange(rows), true] += 3
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    labels = np.where(draw.random(rows) < 0.1, (true + 1) % classes, true)
    return labels, p.astype(dtype)


@pytest.fixture(scope="session")
def table():
    return example(3000)


@pytest.fixture(scope="session")
def digits():
    """The digits with clean and with noisy labels."""
    datasets = pytest.importorskip("sklearn.datasets")
    import cleanest

    x, clean = datasets.load_digits(return_X_y=True)
    return x, clean, cleanest.noise.symmetric(10, 0.3).corrupt(clean, seed=0)
