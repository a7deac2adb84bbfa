"""`cleanest.find_label_issues` beside cleanlab's function of the same name, on the same arrays, in one run.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install cleanlab ./crates/python
    /tmp/peers/bin/python bench/peers/python_audit.py [TIMES]

A model that is right about the true class, and a tenth of the labels moved to the next class. Both start from arrays in memory
and take turns; medians are compared. cleanlab is asked with one process and with as many as it takes by itself.
"""

import importlib.metadata
import os
import platform
import resource
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


def spent():
    """CPU-seconds of this process and of its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(work):
    """Seconds, CPU-seconds, and what was found."""
    start, before = time.perf_counter(), spent()
    found = work()
    return time.perf_counter() - start, spent() - before, found


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
        wall, cpu = ({name: statistics.median(run[at] for run in each) for name, each in runs.items()} for at in (0, 1))
        print(f"\n{rows} x {classes} {p.dtype}")
        for name, each in runs.items():
            print(f"  {name:24} {wall[name]:8.4f} s  {cpu[name]:8.4f} CPU-s  found {each[0][2].sum()}")
        mine, others = runs["cleanest"][0][2], runs["cleanlab"][0][2]
        alone = cpu["cleanlab, one process"] / cpu["cleanest, one thread"]
        print(f"  cleanlab / cleanest: {wall['cleanlab'] / wall['cleanest']:.1f} in seconds; with one process and one thread "
              f"{alone:.1f} in CPU-seconds; examples that only one of them found: {(mine != others).sum()}")


if __name__ == "__main__":
    main()
