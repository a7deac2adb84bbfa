"""The methods, for a model of your own. Written by `python -m cleanest._stubs`."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _cleanest

__all__ = [
    "Method",
    "NAMES",
    "named",
    "Mae",
    "Cce",
    "Gce",
    "Forward",
    "TRevision",
    "DualT",
    "Tvg",
    "Tvd",
    "VolMinNet",
    "KnownT",
]

STEPS: int
NAMES: tuple[str, ...]

class Method(_cleanest.Method):
    NAME: ClassVar[str]
    def __new__(cls, classes: int, *, steps: int = ..., seed: int = ..., **settings: Any) -> Any: ...
    def loss(
        self,
        logits: ArrayLike,
        labels: ArrayLike,
        *,
        learn: bool = True,
        total: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
    ) -> tuple[float, NDArray[np.float64]]: ...
    def begin(
        self, stage: int, probabilities: ArrayLike | None = None, labels: ArrayLike | None = None
    ) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def named(name: str, classes: int, *, steps: int = ..., seed: int = ..., **settings: Any) -> Method: ...

class Mae(Method):
    """Mean absolute error, a loss robust to symmetric noise."""
    def __new__(
        cls,
        classes: int,
        *,
        steps: int = ...,
        seed: int = ...,
        scale: float = ...,
    ) -> Mae: ...

class Cce(Method):
    """Plain cross-entropy on the noisy labels."""
    def __new__(
        cls,
        classes: int,
        *,
        steps: int = ...,
        seed: int = ...,
    ) -> Cce: ...

class Gce(Method):
    """Generalized cross-entropy, between cross-entropy and mean absolute error."""
    def __new__(
        cls,
        classes: int,
        *,
        steps: int = ...,
        seed: int = ...,
        q: float = ...,
    ) -> Gce: ...

class Forward(Method):
    """T from anchor points of a first network, a second one corrected by it."""
    def __new__(
        cls,
        classes: int,
        *,
        steps: int = ...,
        seed: int = ...,
        anchors: str = ...,
    ) -> Forward: ...

class TRevision(Method):
    """T from anchor points, revised while a second network is corrected by it."""
    def __new__(
        cls,
        classes: int,
        *,
        steps: int = ...,
        seed: int = ...,
        anchors: str = ...,
        rate: float = ...,
        warmup: int = ...,
    ) -> TRevision: ...

class DualT(Method):
    """T as a product of two easier estimates, a second network corrected by it."""
    def __new__(
        cls,
        classes: int,
        *,
        steps: int = ...,
        seed: int = ...,
        anchors: str = ...,
        order: str = ...,
    ) -> DualT: ...

class Tvg(Method):
    """Total variation regularization, T learnt by gradient."""
    def __new__(
        cls,
        classes: int,
        *,
        steps: int = ...,
        seed: int = ...,
        gamma: float = ...,
        pairs: int = ...,
        diagonal: float = ...,
        rate: float = ...,
        warmup: int = ...,
    ) -> Tvg: ...

class Tvd(Method):
    """Total variation regularization, T by Dirichlet counts: the paper's best."""
    def __new__(
        cls,
        classes: int,
        *,
        steps: int = ...,
        seed: int = ...,
        gamma: float = ...,
        pairs: int = ...,
        prior: float = ...,
        keep: float = ...,
        weight: float = ...,
        final_pass: Any = ...,
    ) -> Tvd: ...

class VolMinNet(Method):
    """T of minimal volume, learnt by gradient."""
    def __new__(
        cls,
        classes: int,
        *,
        steps: int = ...,
        seed: int = ...,
        lambda_: float = ...,
        form: str = ...,
        diagonal: float = ...,
        rate: float = ...,
    ) -> VolMinNet: ...

class KnownT(Method):
    """Correction by a transition matrix that is given."""
    def __new__(
        cls,
        classes: int,
        *,
        steps: int = ...,
        seed: int = ...,
        noise: Any = ...,
    ) -> KnownT: ...
