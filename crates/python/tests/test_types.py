"""The package is typed: its stubs say what it holds, and mypy has nothing to say."""

from __future__ import annotations

import importlib.resources
import pathlib
import subprocess
import sys

import pytest

from cleanest import _stubs

PACKAGE = pathlib.Path(str(importlib.resources.files("cleanest")))
SETTINGS = pathlib.Path(__file__).resolve().parents[1] / "pyproject.toml"


@pytest.mark.parametrize("name", _stubs.STUBS)
def test_the_stubs_follow_from_the_lists(name):
    assert (PACKAGE / name).read_text() == _stubs.STUBS[name](), "write them again: python -m cleanest._stubs"


def test_the_package_is_marked_as_typed():
    assert (PACKAGE / "py.typed").exists()


def test_mypy_finds_nothing(tmp_path):
    pytest.importorskip("mypy")
    use = tmp_path / "use.py"
    use.write_text(
        "import numpy as np\n"
        "import cleanest\n"
        "tvd: cleanest.methods.Tvd = cleanest.methods.Tvd(classes=3, gamma=0.2)\n"
        "loss: float = tvd.loss(np.zeros((2, 3)), [0, 1])[0]\n"
        "rate: float = cleanest.noise.pair(3, 0.4).noise_rate\n"
        "model = cleanest.NoisyLabelClassifier(steps=3)\n"
        "state: bytes = bytes(cleanest.Audit(classes=3))\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", SETTINGS, "--cache-dir", tmp_path / "cache", PACKAGE, use]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_compiled_half_is_what_its_stub_says(tmp_path):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "cleanest._cleanest", "--ignore-disjoint-bases"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
