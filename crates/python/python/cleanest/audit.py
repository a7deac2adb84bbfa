"""Which labels are wrong, from the probabilities of any model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arrays, _cleanest

ISSUES = np.dtype(
    [
        ("index", np.int64),
        ("given", np.int64),
        ("predicted", np.int64),
        ("self_confidence", np.float64),
        ("normalized_margin", np.float64),
    ]
)
"""What ``Audit.finish`` says of each example."""


def find_label_issues(
    labels: ArrayLike | Any,
    pred_probs: ArrayLike | Any,
    *,
    return_indices_ranked_by: str | None = None,
    rank_by_kwargs: dict[str, Any] | None = None,
    filter_by: str = "prune_by_noise_rate",
    frac_noise: float = 1.0,
    num_to_remove_per_class: ArrayLike | None = None,
    min_examples_per_class: int = 1,
    confident_joint: ArrayLike | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
    multi_label: bool = False,
) -> NDArray[np.bool_] | NDArray[np.int64]:
    """Finds the examples whose labels are probably wrong, by confident learning.

    The arguments are those of ``cleanlab.filter.find_label_issues``, in its order.

    Parameters
    ----------
    labels
        The label of each example, 0 to K - 1: an array, or a column of Arrow (polars, pandas, pyarrow, DuckDB).
    pred_probs
        A row of K probabilities for each example, of a model that was not trained on it: an array of floats, which may be
        mapped from a file; a column of Arrow whose values are lists of K floats; or a table of Arrow with K columns.
        Nothing is copied but a table of columns.
    return_indices_ranked_by
        ``None`` for a mask over all examples; ``"self_confidence"``, ``"normalized_margin"`` or
        ``"confidence_weighted_entropy"`` for the indices of the issues, the worst first.
    filter_by
        ``"prune_by_noise_rate"``, ``"prune_by_class"``, ``"both"``, ``"confident_learning"``,
        ``"predicted_neq_given"``, ``"low_normalized_margin"`` or ``"low_self_confidence"``.
    frac_noise
        The share of the estimated issues to find, where a joint is pruned by.
    num_to_remove_per_class
        How many to find in each class, in place of the estimate.
    min_examples_per_class
        How many examples of each class are never taken for issues.
    confident_joint
        Counts to prune by, a row for each given label, in place of those of these examples.
    n_jobs
        Threads; all processors where nothing is said.

    Returns
    -------
    A mask of bool, or indices of int64 where they are to be ranked.
    """
    if multi_label:
        raise NotImplementedError("examples with more than one label are not audited yet")
    if rank_by_kwargs:
        raise NotImplementedError(f"`rank_by_kwargs` is not known here: {rank_by_kwargs}")
    pruned = filter_by in ("prune_by_noise_rate", "prune_by_class", "both")
    if num_to_remove_per_class is not None and not pruned:
        raise ValueError(f"`num_to_remove_per_class` says nothing to the filter `{filter_by}`")
    if n_jobs is not None and n_jobs < 1:
        raise ValueError(f"`n_jobs` must be one or more: {n_jobs}")
    asked = {
        "filter_by": filter_by,
        "return_indices_ranked_by": return_indices_ranked_by,
        "frac_noise": float(frac_noise),
        "min_examples_per_class": int(min_examples_per_class),
        "num_to_remove_per_class": (
            None if num_to_remove_per_class is None else [int(count) for count in np.asarray(num_to_remove_per_class)]
        ),
        "confident_joint": None if confident_joint is None else _arrays.matrix(confident_joint, "confident_joint"),
        "n_jobs": n_jobs,
    }
    found = _cleanest.find_label_issues(_arrays.integers(labels), _arrays.probabilities(pred_probs), asked)
    if verbose:
        print(f"Number of label issues found: {found.sum() if found.dtype == bool else len(found)}")
    return found


class Audit:
    """An audit that is made in parts: batch by batch, or by many workers.

    Confident learning asks three things of all examples, so there are three passes. In each, ``update`` counts some
    examples and ``merge`` takes over what another part has counted, in any order; ``finish`` ends the pass, and the third
    time gives the issues::

        audit, issues = cleanest.Audit(classes=10), None
        while issues is None:
            for labels, pred_probs in batches():
                audit.update(labels, pred_probs)
            issues = audit.finish()

    What is found is what ``find_label_issues`` finds in all examples at once. A worker elsewhere begins with the state as
    it is after ``finish``, ``Audit.from_bytes(bytes(audit))``, and hands its own back the same way.
    """

    __slots__ = ("_state",)

    def __init__(self, classes: int, *, filter_by: str = "prune_by_noise_rate") -> None:
        self._state = _cleanest.AuditState(classes, filter_by)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self._state.classes

    @property
    def filter_by(self) -> str:
        """How the issues are chosen."""
        return self._state.filter_by

    @property
    def current_pass(self) -> int:
        """The pass it is in: 1, 2 or 3."""
        return self._state.current_pass

    @property
    def seen(self) -> int:
        """How many examples this pass has seen."""
        return self._state.seen

    def update(self, labels: ArrayLike | Any, pred_probs: ArrayLike | Any, rows: ArrayLike | Any = None) -> Audit:
        """Counts some examples, given like those of ``find_label_issues``; all of them or, if one is wrong, none.

        ``rows`` are their numbers, by which the issues are named. Parts that are merged need them in the third pass;
        without, the examples are numbered as they come.
        """
        if _arrays.is_empty(labels):
            return self
        numbers = None if rows is None else _arrays.integers(rows, "rows")
        self._state.update(_arrays.integers(labels), _arrays.probabilities(pred_probs), numbers)
        return self

    def merge(self, other: Audit) -> Audit:
        """Takes over what another part has counted in the same pass."""
        self._state.merge(other._state)
        return self

    def finish(self) -> NDArray[np.void] | None:
        """Ends a pass: ``None`` if another one is needed, else the issues, the least sure first.

        A structured array of ``index``, ``given`` label, ``predicted`` class, ``self_confidence`` and
        ``normalized_margin``. The audit then is as new. A pass that saw other examples than the first is refused.
        """
        columns = self._state.finish()
        if columns is None:
            return None
        issues = np.empty(len(columns[0]), ISSUES)
        for name, column in zip(ISSUES.names or (), columns, strict=True):
            issues[name] = column
        return issues

    def __bytes__(self) -> bytes:
        return bytes(self._state)

    @classmethod
    def from_bytes(cls, state: bytes) -> Audit:
        """An audit from its bytes; anything else is refused."""
        audit = cls.__new__(cls)
        audit._state = _cleanest.AuditState.from_bytes(bytes(state))
        return audit

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return (type(self).from_bytes, (bytes(self),))

    def __repr__(self) -> str:
        return f"Audit(classes={self.classes}, filter_by={self.filter_by!r}, pass {self.current_pass}, seen={self.seen})"
