"""Audits the same probabilities with cleanest and with cleanlab, in one run, and prints ratios per CPU-second.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install cleanlab
    cargo build --release -p cleanest
    /tmp/peers/bin/python bench/peers/audit.py WORK_FOLDER [ROWS [CLASSES [TIMES]]]

WORK_FOLDER receives p.npy (float32) and y.npy, made once: a model that is right about the true class, and a tenth of the
labels moved to the next class. Both programs start from the files; ours and theirs take turns, and medians are compared.
"""

import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from cleanlab.count import compute_confident_joint
from cleanlab.experimental.label_issues_batched import find_label_issues_batched
from cleanlab.version import __version__ as version

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLEANEST = ROOT / "target/release/cleanest"
WORK = pathlib.Path(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
CLASSES = int(sys.argv[3]) if len(sys.argv) > 3 else 10
TIMES = int(sys.argv[4]) if len(sys.argv) > 4 else 5
FOLDER = WORK / f"audit-{ROWS}x{CLASSES}"


def make():
    """The files, if they are not there yet."""
    if (FOLDER / "y.npy").exists():
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    shape = (ROWS, CLASSES)
    probabilities = np.lib.format.open_memmap(FOLDER / "p.npy", "w+", np.float32, shape)
    labels = np.empty(ROWS, np.int64)
    for start in range(0, ROWS, 1_000_000):
        count = min(1_000_000, ROWS - start)
        true = random.integers(0, CLASSES, count)
        logits = random.normal(0, 1, (count, CLASSES)).astype(np.float32)
        logits[np.arange(count), true] += 4
        logits = np.exp(logits - logits.max(1, keepdims=True))
        probabilities[start : start + count] = logits / logits.sum(1, keepdims=True)
        moved = random.random(count) < 0.1
        labels[start : start + count] = np.where(moved, (true + 1) % CLASSES, true)
    probabilities.flush()
    np.save(FOLDER / "y.npy", labels)


def ours(threads, *more):
    """CPU-seconds and seconds of one audit, the most memory beyond mapped files in megabytes, and its audit.json."""
    with tempfile.TemporaryDirectory() as out:
        command = [CLEANEST, "audit", "--probabilities", FOLDER / "p.npy", "--labels", FOLDER / "y.npy",
                   "--out", pathlib.Path(out) / "a", *more]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "RAYON_NUM_THREADS": str(threads)})
        peak = 0
        while process.poll() is None:
            peak = max(peak, anonymous(process.pid))
            time.sleep(0.005)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        assert process.returncode == 0
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return spent, wall, peak, json.loads((pathlib.Path(out) / "a" / "audit.json").read_text())


def anonymous(pid):
    """Megabytes that a process holds for itself, mapped files left out."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) * 1024 / 1e6


def theirs():
    """CPU-seconds and seconds of one search, and how many it found."""
    start, wall = time.process_time(), time.perf_counter()
    found = find_label_issues_batched(labels_file=str(FOLDER / "y.npy"), pred_probs_file=str(FOLDER / "p.npy"),
                                      batch_size=100_000, n_jobs=1, verbose=False)
    return time.process_time() - start, time.perf_counter() - wall, len(found)


def compare_joints(record):
    """The confident joints of both, and what our count would be with their rule."""
    probabilities, labels = np.load(FOLDER / "p.npy", mmap_mode="r"), np.load(FOLDER / "y.npy")
    joint = compute_confident_joint(labels, np.asarray(probabilities), calibrate=False)
    mine = np.array(record["confident"]["counts"])
    differ = np.abs(joint - mine).sum()
    print(f"confident joint: {mine.sum()} examples counted by us, {joint.sum()} by cleanlab; "
          f"counts that differ: {differ} ({100 * differ / joint.sum():.4f} %)")
    thresholds = np.array(record["confident"]["thresholds"])
    most = probabilities.argmax(1)
    reached = probabilities >= thresholds.astype(np.float32)
    other = (reached.sum(1) > 1) & ~reached[np.arange(ROWS), most]
    near = ((probabilities >= thresholds - 1e-6) & (probabilities < thresholds)).any(1)
    print(f"  rows with several confident classes of which the most probable of all is none: {other.sum()}; "
          f"rows within 1e-6 below a threshold: {near.sum()}")


def main():
    make()
    print(f"{ROWS} x {CLASSES} float32; {platform.processor() or platform.machine()}, cleanlab {version}, medians of {TIMES}")
    mine, all_files, peers = [], [], []
    for _ in range(TIMES):
        mine.append(ours(1, "--list", "1000"))
        all_files.append(ours(1))
        peers.append(theirs())
    peer = statistics.median(run[0] for run in peers)
    print(f"cleanlab find_label_issues_batched: {peer:.3f} CPU-seconds, found {peers[0][2]}")
    for name, runs in [("cleanest audit, the first 1,000 listed", mine), ("cleanest audit, all listed", all_files)]:
        spent = statistics.median(run[0] for run in runs)
        print(f"{name}: {spent:.3f} CPU-seconds (least {min(run[0] for run in runs):.3f}), ratio {peer / spent:.1f}, "
              f"{statistics.median(run[1] for run in runs):.3f} s, "
              f"peak beyond mapped files {max(run[2] for run in runs):.0f} MB, listed {runs[0][3]['listed']}")
    cores = os.cpu_count()
    wall = statistics.median(ours(cores, "--list", "1000")[1] for _ in range(TIMES))
    print(f"with {cores} threads: {wall:.3f} s, {statistics.median(run[1] for run in mine) / wall:.2f} times faster")
    compare_joints(mine[0][3])


if __name__ == "__main__":
    main()
