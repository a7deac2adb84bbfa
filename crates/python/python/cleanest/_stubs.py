"""Writes the stubs of what follows from the lists of methods and of noise: ``python -m cleanest._stubs``."""

from __future__ import annotations

import inspect
import pathlib
from typing import Any

from . import methods, noise

_METHODS = '''"""The methods, for a model of your own. Written by `python -m cleanest._stubs`."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _cleanest

__all__ = {names}

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
'''

_NOISE = '''"""How labels come to be wrong. Written by `python -m cleanest._stubs`."""

import os
from typing import Any

from numpy.typing import ArrayLike, NDArray

from . import _cleanest

__all__ = {names}

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
'''


def _kind_of(parameter: inspect.Parameter) -> str:
    """The type of a setting, by its default."""
    default = parameter.default
    if default is inspect.Parameter.empty or default is None:
        return "Any"
    return type(default).__name__


def methods_stub() -> str:
    """The text of ``methods.pyi``."""
    text = _METHODS.replace("{names}", _listed(methods.__all__))
    for name in methods.__all__:
        kind: Any = getattr(methods, name)
        if not inspect.isclass(kind) or kind is methods.Method:
            continue
        given = [one for one in inspect.signature(kind).parameters.values() if one.name != "classes"]
        settings = "".join(f"        {one.name}: {_kind_of(one)} = ...,\n" for one in given)
        doc = str(kind.__doc__).split("\n", 1)[0]
        text += (
            f'\nclass {name}(Method):\n    """{doc}"""\n    def __new__(\n        cls,\n        classes: int,\n        *,\n'
            f"{settings}    ) -> {name}: ...\n"
        )
    return text


def noise_stub() -> str:
    """The text of ``noise.pyi``."""
    text = _NOISE.replace("{names}", _listed(noise.__all__))
    for name in noise.__all__:
        make: Any = getattr(noise, name)
        if inspect.isclass(make) or name == "parse":
            continue
        parts = []
        for one in inspect.signature(make).parameters.values():
            if one.kind is one.KEYWORD_ONLY:
                parts.append(f"*, {one.name}: int = 0")
            elif one.default is None:
                parts.append(f"{one.name}: float | None = None")
            else:
                parts.append(f"{one.name}: {'int' if one.name == 'classes' else 'float'}")
        text += f"def {name}({', '.join(parts)}) -> Transition:\n    \"\"\"{make.__doc__}\"\"\"\n"
    return text


def _listed(names: list[str]) -> str:
    return "[\n" + "".join(f'    "{name}",\n' for name in names) + "]"


STUBS = {"methods.pyi": methods_stub, "noise.pyi": noise_stub}
"""The stubs, and what writes each."""


def main() -> None:
    """Writes them beside this file."""
    for name, stub in STUBS.items():
        (pathlib.Path(__file__).parent / name).write_text(stub())


if __name__ == "__main__":
    main()
