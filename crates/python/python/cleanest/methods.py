"""The methods, for a model of your own: a loss and its gradient from logits and noisy labels.

There is a class for each method of ``cleanest methods``::

    tvd = cleanest.methods.Tvd(classes=10)
    loss, gradient = tvd.loss(logits, labels)      # then: backward from the logits with this gradient
    tvd.transition_matrix
"""

from __future__ import annotations

import inspect
import json
import keyword
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _cleanest

STEPS = 2000
"""The steps of a stage where nothing is said: those of the paper on MNIST."""


class Method(_cleanest.Method):
    """One way to learn from noisy labels. What is learnt about the noise is learnt in ``loss``."""

    NAME: ClassVar[str]
    """The name of the method elsewhere, such as in ``NoisyLabelClassifier(method=...)``."""

    _arguments: tuple[int, int, int, dict[str, Any]]

    def __new__(cls, classes: int, *, steps: int = STEPS, seed: int = 0, **settings: Any) -> Method:
        if cls is Method:
            raise TypeError("`Method` is none by itself: take one of its kinds, such as `Tvd`, or `methods.named`")
        known = {_ours(name): value for name, value in settings.items()}
        made = super().__new__(cls, cls.NAME, classes, steps, seed, json.dumps(known))
        made._arguments = (classes, steps, seed, settings)
        return made

    def loss(
        self,
        logits: ArrayLike,
        labels: ArrayLike,
        *,
        learn: bool = True,
        total: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
    ) -> tuple[float, NDArray[np.float64]]:
        """The mean loss of a batch, and its gradient with respect to the logits.

        ``learn=False`` is for a batch that nothing is to be learnt from, as in validation. Processes that train one
        model together give ``total``, which replaces numbers by their sums over all processes.
        """
        return self._loss(_arrays.matrix(logits, "logits"), _arrays.integers(labels), learn, total)

    def begin(
        self, stage: int, probabilities: ArrayLike | None = None, labels: ArrayLike | None = None
    ) -> None:
        """Begins a stage, with what the model of the stage before says of the training set and the labels there.

        A method with two ``stages`` estimates T from a first model, and corrects the loss of a second one by it.
        """
        seen = None if probabilities is None else _arrays.matrix(probabilities, "probabilities")
        self._begin(stage, seen, None if labels is None else _arrays.integers(labels))

    def __reduce__(self) -> tuple[Any, ...]:
        classes, steps, seed, settings = self._arguments
        return (_remade, (type(self).NAME, classes, steps, seed, settings, bytes(self)))

    def __repr__(self) -> str:
        classes, _, _, settings = self._arguments
        given = "".join(f", {name}={value!r}" for name, value in settings.items())
        return f"{type(self).__name__}(classes={classes}{given})"


def named(name: str, classes: int, *, steps: int = STEPS, seed: int = 0, **settings: Any) -> Method:
    """The method of this name."""
    kind = _KINDS.get(name)
    if kind is None:
        # The compiled half knows the nearest name, and raises with it.
        _cleanest.Method(name, classes, steps, seed, "{}")
        raise ValueError(name)
    return kind(classes, steps=steps, seed=seed, **settings)


def _remade(name: str, classes: int, steps: int, seed: int, settings: dict[str, Any], state: bytes) -> Method:
    method = named(name, classes, steps=steps, seed=seed, **settings)
    method.restore(state)
    return method


def _pythons(setting: str) -> str:
    """The name of a setting where Python has another use for the word."""
    return setting + "_" if keyword.iskeyword(setting) else setting


def _ours(setting: str) -> str:
    return setting[:-1] if setting.endswith("_") and keyword.iskeyword(setting[:-1]) else setting


def _kind(name: str, title: str, about: str, fields: list[tuple[str, str, str]]) -> type[Method]:
    """The class of a method, with its settings in its signature and its documentation."""
    only_by_name = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("classes", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=int)]
    parameters += [
        inspect.Parameter("steps", only_by_name, default=STEPS, annotation=int),
        inspect.Parameter("seed", only_by_name, default=0, annotation=int),
    ]
    lines = [f"{about[0].upper()}{about[1:]}.", "", "Parameters", "----------"]
    lines += ["classes", "    The number of classes.", "steps", "    Training steps of one stage."]
    lines += ["seed", "    The seed of what is drawn."]
    for field, meaning, default in fields:
        parameters.append(inspect.Parameter(_pythons(field), only_by_name, default=json.loads(default)))
        lines += [_pythons(field), f"    {meaning}"]
    kind = type(title, (Method,), {"NAME": name, "__doc__": "\n".join(lines), "__module__": __name__})
    kind.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return kind


_KINDS = {name: _kind(name, title, about, fields) for name, title, about, fields in _cleanest.methods()}
globals().update({kind.__name__: kind for kind in _KINDS.values()})

NAMES = tuple(_KINDS)
"""The names of all methods."""

__all__ = ["Method", "NAMES", "named", *(kind.__name__ for kind in _KINDS.values())]
