"""What scikit-learn offers to estimators where it is installed, and the least of it where it is not."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "check_classification_targets",
    "check_is_fitted",
    "is_images",
    "narrowed",
    "seed_of",
    "validate_data",
]

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters by name."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The parameters of this estimator."""
            names = [name for name in inspect.signature(type(self).__init__).parameters if name != "self"]
            return {name: getattr(self, name) for name in names}

        def set_params(self, **params: Any) -> Any:
            """Sets parameters by name."""
            for name, value in params.items():
                if name not in self.get_params():
                    raise ValueError(f"no parameter is called `{name}`")
                setattr(self, name, value)
            return self

    class ClassifierMixin:  # type: ignore[no-redef]
        """The score of a classifier."""

        def score(self, X: Any, y: Any) -> float:
            """The share of the examples whose class is the predicted one."""
            return float(np.mean(self.predict(X) == np.asarray(y)))  # type: ignore[attr-defined]

    def check_classification_targets(y: Any) -> None:
        """Whether labels are classes."""

    def check_is_fitted(estimator: Any, attributes: Any = None) -> None:
        """Raises if an estimator has not been fitted."""
        if not hasattr(estimator, "classes_"):
            raise AttributeError("this estimator has not been fitted: call `fit` first")

    def validate_data(estimator: Any, X: Any, y: Any = None, *, reset: bool = True, **_: Any) -> Any:
        """Rows of finite numbers, and as many labels."""
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError(f"`X` must be numbers of shape (examples, features): this is of {rows.shape}")
        if not np.isfinite(rows).all():
            raise ValueError("`X` contains NaN or infinity")
        if reset:
            estimator.n_features_in_ = rows.shape[1]
        elif rows.shape[1] != estimator.n_features_in_:
            raise ValueError(f"`X` has {rows.shape[1]} features, {estimator.n_features_in_} were fitted")
        if y is None:
            return rows
        labels = np.asarray(y)
        if labels.ndim != 1 or len(labels) != len(rows):
            raise ValueError(f"there must be a label for each of {len(rows)} rows: `y` is of {labels.shape}")
        return rows, labels


def seed_of(random_state: Any) -> int:
    """A seed from what scikit-learn calls a random state."""
    if random_state is None:
        return int(np.random.mtrand._rand.randint(0, 2**31 - 1))
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise ValueError(f"`random_state` must not be negative: {random_state}")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**31 - 1))
    return int(random_state.randint(0, 2**31 - 1))


def is_images(X: Any) -> bool:
    """Whether these are images of bytes: (N, H, W) or (N, H, W, C)."""
    return isinstance(X, np.ndarray) and X.dtype == np.uint8 and X.ndim in (3, 4)


def narrowed(rows: Any) -> NDArray[np.float32]:
    """Rows as the network takes them."""
    with np.errstate(over="ignore"):
        return np.require(rows, np.float32, ["C", "A"])
