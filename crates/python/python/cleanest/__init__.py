"""Learning from data whose labels are partly wrong.

- ``find_label_issues(labels, pred_probs)`` and ``Audit``: which labels are wrong, from the probabilities of any model;
- ``NoisyLabelClassifier``: a scikit-learn estimator that learns the true classes and the noise from noisy labels alone;
- ``methods`` and ``torch.NoisyLoss``: the losses, for a model of your own;
- ``noise``: transition matrices, and labels corrupted by them.

numpy is all that is needed; scikit-learn, torch and tqdm are used where they are installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import methods, noise
from ._cleanest import __version__
from .audit import Audit, find_label_issues

if TYPE_CHECKING:
    from .classifier import NoisyLabelClassifier

__all__ = ["Audit", "NoisyLabelClassifier", "__version__", "find_label_issues", "methods", "noise"]


def __getattr__(name: str) -> Any:
    # scikit-learn and torch take seconds to import, which those who only audit need not wait for.
    if name == "NoisyLabelClassifier":
        from .classifier import NoisyLabelClassifier

        return NoisyLabelClassifier
    if name == "torch":
        return importlib.import_module(".torch", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "NoisyLabelClassifier", "torch"})
