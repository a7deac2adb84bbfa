"""`cleanest.find_label_issues` beside cleanlab's function of the same name, on the same arrays, in one run.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install cleanlab ./crates/python
    /tmp/peers/bin/python bench/peers/python_audit.py [TIMES]

A model that is right about the true class, and a tenth of the labels moved to the next class. Both start from arrays in memory
and take turns; medians are compared. cleanlab is asked with one process and with as many as it takes by itself.
"""

import importlib.metadata
import os
import platform
import statistics
import sys
import time

import numpy as np
from cleanlab.filter import find_label_issues as theirs

import cleanest

TIMES = int(sys.argv[1]) if len(sys.argv) > 1 else 5
SHAPES = [(1_000_000, 10), (1_000_000, 100)]


def example(rows, classes):
    """Labels, and probabilities in single precision."""
    random = np.random.default_rng(0)
    true = random.integers(0, classes, rows)
    logits = random.standard_normal((rows, classes), dtype=np.float32)
    logits[np.arange(rows), true] += 4
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=1, keepdims=True)
    return np.where(random.random(rows) < 0.1, (true + 1) % classes, true), logits


def timed(work):
    """Seconds and CPU-seconds of this process and its children, and what was found."""
    clock = lambda: sum(os.times()[:4])  # noqa: E731
    start, spent = time.perf_counter(), clock()
    found = work()
    return time.perf_counter() - start, clock() - spent, found


def main():
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors; cleanest {cleanest.__version__}, "
          f"cleanlab {importlib.metadata.version('cleanlab')}, numpy {np.__version__}; medians of {TIMES}")
    for rows, classes in SHAPES:
        labels, p = example(rows, classes)
        asked = {
            "cleanest": lambda: cleanest.find_label_issues(labels, p),
            "cleanest, one thread": lambda: cleanest.find_label_issues(labels, p, n_jobs=1),
            "cleanlab": lambda: theirs(labels, p),
            "cleanlab, one process": lambda: theirs(labels, p, n_jobs=1),
        }
        runs = {name: [] for name in asked}
        for _ in range(TIMES):
            for name, work in asked.items():
                runs[name].append(timed(work))
        wall = {name: statistics.median(run[0] for run in each) for name, each in runs.items()}
        print(f"\n{rows} x {classes} {p.dtype}")
        for name, each in runs.items():
            spent = statistics.median(run[1] for run in each)
            print(f"  {name:24} {wall[name]:8.4f} s  {spent:8.3f} CPU-s  found {each[0][2].sum()}")
        mine, others = runs["cleanest"][0][2], runs["cleanlab"][0][2]
        print(f"  cleanlab / cleanest: {wall['cleanlab'] / wall['cleanest']:.1f}; with one thread and one process: "
              f"{wall['cleanlab, one process'] / wall['cleanest, one thread']:.1f}; "
              f"examples that only one of them found: {(mine != others).sum()}")


if __name__ == "__main__":
    main()
