"""How labels come to be wrong. Written by `python -m cleanest._stubs`."""

import os
from typing import Any

from numpy.typing import ArrayLike, NDArray

from . import _cleanest

__all__ = [
    "Transition",
    "parse",
    "clean",
    "symmetric",
    "symmetric_inclusive",
    "pair",
    "pair2",
    "tridiagonal",
    "random",
]

class Transition(_cleanest.Transition):
    def __new__(cls, matrix: ArrayLike) -> Transition: ...
    def then(self, next: Transition) -> Transition: ...
    def corrupt(self, labels: ArrayLike, *, seed: int = 0) -> NDArray[Any]: ...
    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Transition: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def parse(text: str, classes: int, *, seed: int = 0) -> Transition: ...
def clean(classes: int, *, seed: int = 0) -> Transition:
    """Every label is right."""
def symmetric(classes: int, rate: float, *, seed: int = 0) -> Transition:
    """A wrong label is any other class, each equally likely."""
def symmetric_inclusive(classes: int, rate: float, *, seed: int = 0) -> Transition:
    """A share of the labels is redrawn among all classes, the true one included."""
def pair(classes: int, rate: float, *, seed: int = 0) -> Transition:
    """A wrong label is the next class."""
def pair2(classes: int, first: float, second: float, *, seed: int = 0) -> Transition:
    """Pair noise applied twice."""
def tridiagonal(classes: int, rate: float, *, seed: int = 0) -> Transition:
    """Pair noise forth and then back: a wrong label is a neighbor."""
def random(classes: int, rate: float, concentration: float | None = None, *, seed: int = 0) -> Transition:
    """Rows drawn at random, mixed with the identity to the rate."""
