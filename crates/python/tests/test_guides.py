"""Every block of the guides for Python runs, one after the other, in an empty folder."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
NEEDED = {
    "docs/guides/python.md": ["sklearn", "pandas", "torch"],
    "docs/guides/scale.md": ["pyarrow", "polars", "duckdb", "pyspark"],
}


@pytest.mark.parametrize("guide", NEEDED)
def test_the_blocks_of_a_guide_run(guide, tmp_path):
    for module in NEEDED[guide]:
        pytest.importorskip(module)
    if "pyspark" in NEEDED[guide] and shutil.which("java") is None:
        pytest.skip("Spark needs java")
    text = (ROOT / guide).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    (tmp_path / "guide.py").write_text("\n\n".join(blocks))
    # Workers that the guide starts find the package where this process found it.
    path = os.pathsep.join([*(place for place in sys.path if place), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    ran = subprocess.run([sys.executable, "guide.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
