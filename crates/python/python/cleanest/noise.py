"""How labels come to be wrong: transition matrices, and labels corrupted by them.

There is a function for each kind of noise of ``cleanest noise``, which makes a ``Transition``::

    cleanest.noise.pair(10, 0.4).corrupt(labels, seed=1)
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _cleanest


class Transition(_cleanest.Transition):
    """T[i][j]: the probability that an example of true class i is given label j. Rows sum to 1."""

    def __new__(cls, matrix: ArrayLike) -> Transition:
        return super().__new__(cls, _arrays.matrix(matrix, "matrix"))

    def then(self, next: Transition) -> Transition:
        """This noise, and then another on top of it."""
        return type(self)(self._then(next))

    def corrupt(self, labels: ArrayLike, *, seed: int = 0) -> NDArray[Any]:
        """A noisy label for each clean one, of the same kind; what is drawn follows from the seed and the place alone.

        Labels are 0 to K - 1, or K names, which stand for the classes in their order.
        """
        given = np.asarray(labels)
        if given.dtype.kind in "iub":
            return self._corrupt(_arrays.integers(given), seed).astype(given.dtype)
        names, clean = np.unique(given, return_inverse=True)
        if len(names) != self.classes:
            raise ValueError(f"there are {len(names)} different names for {self.classes} classes")
        return names[self._corrupt(clean.astype(np.int64), seed)]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Transition:
        """Reads a ``.json``, ``.csv`` or ``.npy`` file."""
        return cls(cls._load(path))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.matrix if dtype is None else self.matrix.astype(dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Transition) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash(self.matrix.tobytes())

    def __reduce__(self) -> tuple[Any, tuple[NDArray[np.float64]]]:
        return (type(self), (self.matrix,))

    def __repr__(self) -> str:
        return f"Transition({np.array2string(self.matrix, precision=3, separator=', ')})"


def parse(text: str, classes: int, *, seed: int = 0) -> Transition:
    """The noise that ``cleanest`` writes like ``pair:0.4``, or ``file:transition.json``."""
    return Transition(_cleanest.parse_noise(text, classes, seed))


def _maker(name: str, form: str, about: str) -> Callable[..., Transition]:
    """A function for a kind of noise; the names of its numbers are those of its form."""
    _, _, numbers = form.partition(":")
    required = [number.lower() for number in re.split("[,]", re.sub(r"\[.*\]", "", numbers)) if number]
    optional = [number.lower() for number in re.findall(r"\[,(\w+)\]", numbers)]

    def make(classes: int, *given: float, seed: int = 0, **named: float) -> Transition:
        bound = signature.bind(classes, *given, seed=seed, **named).arguments
        values = [bound[number] for number in required + optional if bound.get(number) is not None]
        text = name + (":" + ",".join(repr(float(value)) for value in values) if values else "")
        return parse(text, classes, seed=seed)

    plain, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("classes", plain, annotation=int)]
    parameters += [inspect.Parameter(number, plain, annotation=float) for number in required]
    parameters += [
        inspect.Parameter(number, plain, default=None, annotation="float | None") for number in optional
    ]
    parameters.append(inspect.Parameter("seed", keyword, default=0, annotation=int))
    signature = inspect.Signature(parameters, return_annotation=Transition)
    make.__name__ = make.__qualname__ = name.replace("-", "_")
    make.__doc__ = f"{about[0].upper()}{about[1:]}."
    make.__signature__ = signature  # type: ignore[attr-defined]
    return make


for _name, _form, _about in _cleanest.noise_kinds():
    globals()[_name.replace("-", "_")] = _maker(_name, _form, _about)

__all__ = ["Transition", "parse"] + [_name.replace("-", "_") for _name, _, _ in _cleanest.noise_kinds()]
