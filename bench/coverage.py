"""How often the interval for the number of wrong labels holds the truth, on many small sets with injected noise.

    cargo build --release
    python bench/coverage.py [SEED ...]        # numpy and scikit-learn; minutes

Prints a row for each kind of set: runs, how often the truth was in the interval, how far the estimated share of wrong labels was
off (root of the mean square), and half of the interval's length as a share of the examples (median).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn import datasets

PROGRAM = Path(__file__).parent.parent / "target/release/cleanest"
NOISES = ["clean", "pair:0.3", "symmetric:0.4"]


def gaussians(draw, classes, distance, examples):
    """Classes around random directions: the smaller the distance, the more they overlap, and no model can tell them apart."""
    centers = draw.normal(size=(classes, 6))
    centers *= distance / np.linalg.norm(centers, axis=1, keepdims=True)
    y = draw.integers(0, classes, examples)
    return centers[y] + draw.normal(size=(examples, 6)), y


def sets():
    """Kind, examples, labels."""
    draw = np.random.default_rng(0)
    for distance, kind in [(4, "classes apart"), (2.5, "classes that overlap"), (1.5, "classes that overlap by half")]:
        for classes in (2, 3, 6, 10):
            for examples in (400, 2000):
                yield kind, *gaussians(draw, classes, distance, examples)
    x, y = datasets.load_digits(return_X_y=True)
    for examples in (300, 600, 900, 1797):
        kept = draw.permutation(len(y))[:examples]
        yield "digits, 300 to 1,797", x[kept], y[kept]
    for load in (datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer):
        x, y = load(return_X_y=True)
        kept = draw.permutation(len(y))
        yield "iris, wine, breast cancer", x[kept], y[kept]


def audit(folder, file, noise, seed):
    run = folder / f"{file.stem}-{noise.replace(':', '-')}-{seed}"
    words = [PROGRAM, "fit", file, "--noise", noise, "--seed", str(seed), "--quiet", "--out", run]
    subprocess.run(words, check=True, capture_output=True)
    return json.loads((run / "audit.json").read_text())


def row(name, found):
    inside = [a["wrong"]["low"] <= a["score"]["wrong"] <= a["wrong"]["high"] for a in found]
    off = [(a["wrong"]["expected"] - a["score"]["wrong"]) / a["examples"] for a in found]
    half = [(a["wrong"]["high"] - a["wrong"]["low"]) / 2 / a["examples"] for a in found]
    root = np.sqrt(np.mean(np.square(off)))
    print(f"| {name} | {len(found)} | {np.mean(inside):.2f} | {root:.3f} | {np.median(half):.3f} |", flush=True)


def main():
    seeds = [int(word) for word in sys.argv[1:]] or [0, 1]
    print("| data | runs | in its interval | off by | half of it |\n|---|---|---|---|---|")
    kinds = {}
    with tempfile.TemporaryDirectory() as folder:
        for at, (kind, x, y) in enumerate(sets()):
            file = Path(folder) / f"{at}.npz"
            np.savez(file, x=x.astype(np.float32), y=y)
            kinds.setdefault(kind, []).extend(audit(Path(folder), file, noise, seed) for noise in NOISES for seed in seeds)
    for kind, found in kinds.items():
        row(kind, found)
    row("all", [a for found in kinds.values() for a in found])


if __name__ == "__main__":
    main()
