"""What is handed over, as the compiled half takes it: without a copy where it lies as it should."""

from __future__ import annotations

from typing import Any

import numpy as np

_NATIVE_INTEGERS = (np.dtype(np.int64), np.dtype(np.int32), np.dtype(np.uint32))


def is_arrow(given: Any) -> bool:
    """Whether something hands over columns of Arrow; pandas does so only with pyarrow beside it."""
    if isinstance(given, np.ndarray):
        return False
    if type(given).__module__.split(".")[0] == "pandas":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            return False
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")


def is_empty(given: Any) -> bool:
    """Whether something is known to hold nothing, such as the last batch of a stream."""
    try:
        return len(given) == 0
    except TypeError:
        return False


def probabilities(given: Any) -> Any:
    """Rows of probabilities: columns of Arrow as they are, anything else as an array of floats."""
    if is_arrow(given):
        return given
    array = np.asarray(given)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise ValueError(
            "`pred_probs` must be floats of shape (N, K), a row for each example and a column for each class: "
            f"this is {array.dtype} of shape {array.shape}"
        )
    narrow = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    return np.require(array, np.float32 if narrow else np.float64, ["C", "A"])


def integers(given: Any, name: str = "labels") -> Any:
    """Whole numbers: columns of Arrow as they are, anything else as an array."""
    if is_arrow(given):
        return given
    array = np.asarray(given)
    if array.size == 0 and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iub":
        hint = ""
        if array.ndim == 1 and array.dtype.kind in "OUS":
            hint = "\nhint: number the classes: `classes, labels = numpy.unique(labels, return_inverse=True)`"
        raise ValueError(
            f"`{name}` must be whole numbers in one dimension: this is {array.dtype} of shape {array.shape}{hint}"
        )
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(2**63 - 1)).astype(np.int64)
    return np.require(array, array.dtype if array.dtype in _NATIVE_INTEGERS else np.int64, ["C", "A"])


def matrix(given: Any, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A matrix of float64."""
    array = np.asarray(given)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise ValueError(f"`{name}` must be numbers in two dimensions: this is {array.dtype} of shape {array.shape}")
    return np.require(array, np.float64, ["C", "A"])
