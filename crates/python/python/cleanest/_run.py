"""A run folder held in memory: what an estimator has found, and what it is pickled and saved as."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cleanest

NEEDED = ("config.toml", "input.json", "model.safetensors", "transition.json")
"""What a folder must hold to predict."""

OWN = "python.json"
"""What an estimator adds to a run folder: its parameters, and what its classes and features are called."""


class Run:
    """The files of a run folder, by name."""

    def __init__(self, files: dict[str, bytes], device: str, noise_rate: float | None = None) -> None:
        self.files = files
        self.device = device
        self._noise_rate = noise_rate
        self._predictor: _cleanest.Predictor | None = None

    @classmethod
    def trained(
        cls,
        config: dict[str, Any],
        examples: NDArray[Any],
        labels: NDArray[np.uint32],
        classes: list[str],
        progress: Callable[[int, int, float], None] | None,
    ) -> Run:
        """Trains in a folder that is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="cleanest-") as folder:
            path = Path(folder) / "run"
            rate = _cleanest.fit(json.dumps(config), examples, labels, classes, path, progress)
            return cls(_files(path), config["device"], rate)

    @classmethod
    def read(cls, path: str | os.PathLike[str], device: str) -> Run:
        """The files of a folder."""
        folder = Path(path)
        if not (folder / "config.toml").is_file():
            raise FileNotFoundError(f"`{folder}` is not a run folder: it has no `config.toml`")
        files = _files(folder)
        missing = [name for name in NEEDED if name not in files]
        if missing:
            raise ValueError(f"`{folder}` is not complete: it has no `{missing[0]}`")
        return cls(files, device)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the files into a new or empty folder; the record last, for with it the run is complete."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise FileExistsError(f"`{folder}` already holds something\nhint: name another folder")
        for name in sorted(self.files, key=lambda name: name == "about.json"):
            (folder / name).write_bytes(self.files[name])

    def json(self, name: str) -> Any:
        """What a file of JSON says."""
        return json.loads(self.files[name])

    @property
    def transition(self) -> NDArray[np.float64]:
        """The estimated noise."""
        return np.asarray(self.json("transition.json")["transition"], dtype=np.float64)

    @property
    def noise_rate(self) -> float:
        """The estimated share of wrong labels."""
        if self._noise_rate is not None:
            return self._noise_rate
        return float(self.json("about.json")["score"]["noise_rate"])

    def probabilities(self, examples: NDArray[Any]) -> NDArray[np.float64]:
        """What the network says of examples."""
        if self._predictor is None:
            config, inputs = (self.files[name].decode() for name in ("config.toml", "input.json"))
            self._predictor = _cleanest.Predictor(config, inputs, self.files["model.safetensors"], self.device)
        return self._predictor.probabilities(examples)

    def suspects(self) -> tuple[list[NDArray[np.int64]], list[NDArray[np.float64]], NDArray[np.bool_]]:
        """The list of suspects, column by column."""
        with tempfile.TemporaryDirectory(prefix="cleanest-") as folder:
            path = Path(folder) / "suspects.parquet"
            path.write_bytes(self.files["suspects.parquet"])
            return _cleanest.suspects(path)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_predictor": None}


def _files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}
