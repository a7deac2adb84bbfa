"""A classifier for the true classes, from labels that are partly wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _progress, _sklearn
from ._run import OWN, Run

OF_FILES = {"data", "noise", "read", "test", "test_share"}
"""Keys of a configuration that say where examples come from, and what is done to them on the way."""


class NoisyLabelClassifier(_sklearn.ClassifierMixin, _sklearn.BaseEstimator):  # type: ignore[misc]
    """Learns the true classes and the noise from noisy labels alone, and says which labels are wrong.

    What is not said follows from the data, as in ``cleanest fit``: the same run, the same results.

    Parameters
    ----------
    method : str
        How to learn, one of ``cleanest.methods.NAMES``.
    model : str
        The network: ``"auto"``, or one of ``cleanest models``.
    steps : int, optional
        Training steps of each stage of the method.
    batch : int, optional
        Examples of a batch.
    hidden : list of int, optional
        Sizes of the hidden layers of an ``mlp``.
    folds : int, optional
        Parts in which the data are cut so that each is judged by a network that was not trained on it; 0 for none.
    audit : bool
        Whether the labels are audited: without, there are no folds, no issues and no page.
    device : str
        ``"auto"``, ``"cpu"`` or ``"cuda:N"``.
    settings : dict, optional
        Any other key of a configuration of ``cleanest fit``, such as ``{"tvd": {"gamma": 0.2}}``.
    random_state : int, RandomState or None
        The seed of all that is drawn.
    verbose : bool
        Whether progress is shown, by tqdm if it is installed.

    Attributes
    ----------
    classes_ : array of the classes, in the order of the columns of ``predict_proba``
    transition_matrix_ : array (K, K), P(given label | true class) with a row for each true class
    noise_rate_ : float, the estimated share of wrong labels
    n_features_in_ : int
    """

    def __init__(
        self,
        method: str = "tvd",
        model: str = "auto",
        *,
        steps: int | None = None,
        batch: int | None = None,
        hidden: list[int] | None = None,
        folds: int | None = None,
        audit: bool = True,
        device: str = "auto",
        settings: dict[str, Any] | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.method = method
        self.model = model
        self.steps = steps
        self.batch = batch
        self.hidden = hidden
        self.folds = folds
        self.audit = audit
        self.device = device
        self.settings = settings
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike) -> NoisyLabelClassifier:
        """Trains on examples (N, D), or images (N, H, W) or (N, H, W, C) of uint8, and their labels of any kind."""
        examples, labels = self._training_set(X, y)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("there must be at least two classes: all labels are of one class")
        bar = _progress.Bar() if self.verbose else None
        try:
            self._run = Run.trained(self._config(), examples, numbers.astype(np.uint32), self._names(), bar)
        finally:
            if bar is not None:
                bar.close()
        self._describe()
        self._run.probabilities(examples[:1])
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """P(true class | x), a column for each of ``classes_``."""
        _sklearn.check_is_fitted(self)
        return self._run.probabilities(self._examples(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable true class of each example."""
        most_probable = self.predict_proba(X).argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[most_probable]
        return predicted

    @property
    def transition_matrix_(self) -> NDArray[np.float64]:
        """P(given label | true class), a row for each true class."""
        _sklearn.check_is_fitted(self)
        return self._run.transition

    @property
    def noise_rate_(self) -> float:
        """The estimated share of wrong labels."""
        _sklearn.check_is_fitted(self)
        return self._run.noise_rate

    def find_label_issues(self, *, as_frame: bool = False) -> Any:
        """The training examples whose labels are suspicious, the most suspicious first.

        A structured array, or with ``as_frame`` a pandas DataFrame: ``index`` of the example, ``given`` and ``suggested``
        label, ``p_wrong`` and ``p_suggested``, ``margin`` between the two most probable classes, ``self_confidence``,
        ``normalized_margin``, and ``abstains`` where two classes are too close to decide between.
        """
        self._check_audited("suspects.parquet")
        (index, given, suggested), floats, abstains = self._run.suspects()
        names = ("p_wrong", "p_suggested", "margin", "self_confidence", "normalized_margin")
        columns: dict[str, NDArray[Any]] = {
            "index": index,
            "given": self.classes_[given],
            "suggested": self.classes_[suggested],
            **dict(zip(names, floats, strict=True)),
            "abstains": abstains,
        }
        if as_frame:
            import pandas

            return pandas.DataFrame(columns)
        issues = np.empty(len(index), [(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            issues[name] = column
        return issues

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the page of the run: the verdict, the noise, the classes, the suspects. It loads nothing from elsewhere."""
        self._check_audited("report.html")
        page = Path(path)
        page.write_bytes(self._run.files["report.html"])
        return page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a run folder, which ``load`` and the command ``cleanest`` read. Nothing in it is a pickle."""
        _sklearn.check_is_fitted(self)
        self._run.write(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, device: str = "auto") -> NoisyLabelClassifier:
        """Reads a run folder: one that ``save`` wrote, or one of ``cleanest fit``."""
        run = Run.read(path, device)
        own = run.json(OWN) if OWN in run.files else {}
        estimator = cls(**{**own.get("parameters", {}), "device": device})
        names = own.get("classes") or run.json("input.json")["classes"]
        classes = np.asarray(names)
        if "kind" not in own and all(name.isdecimal() for name in names):
            classes = classes.astype(np.int64)
        estimator.classes_ = classes.astype(np.dtype(own["kind"])) if "kind" in own else classes
        estimator.n_features_in_ = own.get("features", int(np.prod(run.json("input.json")["shape"])))
        if own.get("feature_names"):
            estimator.feature_names_in_ = np.asarray(own["feature_names"], dtype=object)
        estimator._run = run
        return estimator

    def _training_set(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        if _sklearn.is_images(X):
            labels = np.asarray(y)
            if labels.shape != (len(X),):
                raise ValueError(f"there must be a label for each of {len(X)} images: `y` is of {labels.shape}")
            _sklearn.check_classification_targets(labels)
            self.n_features_in_ = int(np.prod(X.shape[1:]))
            return np.ascontiguousarray(X), labels
        rows, labels = _sklearn.validate_data(self, X, y, dtype=[np.float32, np.float64])
        _sklearn.check_classification_targets(labels)
        return _sklearn.narrowed(rows), labels

    def _examples(self, X: Any) -> NDArray[Any]:
        if _sklearn.is_images(X):
            return np.ascontiguousarray(X)
        return _sklearn.narrowed(_sklearn.validate_data(self, X, reset=False, dtype=[np.float32, np.float64]))

    def _config(self) -> dict[str, Any]:
        """The configuration of a run; what is not said is left open."""
        elsewhere = sorted(OF_FILES.intersection(self.settings or {}))
        if elsewhere:
            raise ValueError(f"`{elsewhere[0]}` is about files: it says nothing to arrays")
        asked = {
            "data": "array",
            "method": self.method,
            "model": self.model,
            "steps": self.steps,
            "batch": self.batch,
            "hidden": None if self.hidden is None else list(self.hidden),
            "folds": self.folds,
            "audit": bool(self.audit),
            "device": self.device,
            "seed": _sklearn.seed_of(self.random_state),
            **(self.settings or {}),
        }
        return {key: value for key, value in asked.items() if value is not None}

    def _names(self) -> list[str]:
        """What the classes are called in the run; texts that are the same twice become numbers."""
        names = [str(name) for name in self.classes_.tolist()]
        return names if len(set(names)) == len(names) else [str(number) for number in range(len(names))]

    def _describe(self) -> None:
        """Adds to the run what only Python knows of it."""
        parameters = self.get_params(deep=False)
        plain = {name: value for name, value in parameters.items() if _is_plain(value)}
        names = getattr(self, "feature_names_in_", None)
        own = {
            "parameters": plain,
            "classes": self.classes_.tolist(),
            "kind": self.classes_.dtype.str if self.classes_.dtype != object else "O",
            "features": self.n_features_in_,
            "feature_names": None if names is None else [str(name) for name in names],
        }
        if _is_plain(own):
            self._run.files[OWN] = json.dumps(own, indent=2).encode()

    def _check_audited(self, name: str) -> None:
        _sklearn.check_is_fitted(self)
        if name not in self._run.files:
            raise ValueError("the labels were not audited: fit with `audit=True`")


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except TypeError:
        return False
    return True
