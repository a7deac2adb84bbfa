"""Reads the same files with cleanest and with its peers, in one run, and prints ratios.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install polars numpy pillow torch torchvision
    cargo build --release -p cleanest-data --example read
    CLEANEST_DATA=... /tmp/peers/bin/python bench/peers/data.py WORK_FOLDER [TIMES [mnist|cifar|table|jpeg ...]]

WORK_FOLDER receives a 1,000,000 x 32 table and a folder of photo-sized JPEG files, made once. A figure is the median
of the repetitions, ours and theirs taken in turns, so that a busy machine slows both. Above 1 we are faster.
"""

import gzip
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
READ = ROOT / "target/release/examples/read"
DATA = pathlib.Path(os.environ["CLEANEST_DATA"])
WORK = pathlib.Path(sys.argv[1])
TIMES = int(sys.argv[2]) if len(sys.argv) > 2 else 7
WORKERS = os.cpu_count()


def ours(path):
    """Seconds of one reading in a process of its own, and the most memory it held, in megabytes."""
    lines = subprocess.run([READ, path, "1"], check=True, capture_output=True, text=True).stdout.split("\n")
    return float(lines[0].split()[0]), int(lines[1].split()[1]) * 1024 / 1e6


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(name, path, megabytes, peers):
    """Takes turns; prints our median and memory, and for each peer its median and the ratio."""
    mine, memory, theirs = [], [], {peer: [] for peer in peers}
    for _ in range(TIMES):
        spent, peak = ours(path)
        mine.append(spent)
        memory.append(peak)
        for peer, work in peers.items():
            theirs[peer].append(seconds(work))
    median = statistics.median(mine)
    spread = f"{min(mine):.3f} to {max(mine):.3f}"
    print(f"\n{name}\n  cleanest            {median:.3f} s ({spread}), peak {max(memory):.0f} MB, "
          f"{max(memory) / megabytes:.2f} x the {megabytes:.0f} MB of the data")
    for peer, spent in theirs.items():
        other = statistics.median(spent)
        print(f"  {peer:<19} {other:.3f} s ({min(spent):.3f} to {max(spent):.3f}), ratio {other / median:.2f}")


def mnist():
    folder = DATA / "mnist"

    def read():
        for file in sorted(folder.glob("*.gz")):
            with gzip.open(file) as stream:
                np.frombuffer(stream.read(), np.uint8)

    compare("MNIST, four gz files", folder, 70_000 * 784 / 1e6, {"gzip + numpy": read})


def cifar():
    folder = DATA / "cifar-10-batches-bin"

    def read():
        files = [folder / f"data_batch_{i}.bin" for i in range(1, 6)] + [folder / "test_batch.bin"]
        for file in files:
            records = np.fromfile(file, np.uint8).reshape(-1, 3073)
            np.ascontiguousarray(records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))

    compare("CIFAR-10, six files", folder, 60_000 * 3072 / 1e6, {"numpy": read})


def table():
    import polars

    path, parquet = WORK / "table.csv", WORK / "table.parquet"
    if not parquet.exists():
        random = np.random.default_rng(0)
        values = random.normal(size=(1_000_000, 32))
        frame = polars.DataFrame({f"f{i}": values[:, i] for i in range(32)})
        frame = frame.with_columns(label=polars.Series(random.integers(0, 10, 1_000_000)))
        frame.write_csv(path)
        frame.write_parquet(parquet)

    def matrix(frame):
        return frame.drop("label").cast(polars.Float32).to_numpy(order="c")

    data = 1_000_000 * 33 * 4 / 1e6
    compare("CSV, 1,000,000 x 32 and a label", path, data, {
        "polars": lambda: polars.read_csv(path),
        "polars, to a matrix": lambda: matrix(polars.read_csv(path)),
    })
    compare("Parquet, the same table", parquet, data, {
        "polars": lambda: polars.read_parquet(parquet),
        "polars, to a matrix": lambda: matrix(polars.read_parquet(parquet)),
    })


def photos(folder, count=1500):
    """Photo-sized JPEG files: 16 x 12 images of CIFAR-10 side by side, quality 90."""
    from PIL import Image

    if folder.exists():
        return
    records = np.fromfile(DATA / "cifar-10-batches-bin/data_batch_1.bin", np.uint8).reshape(-1, 3073)
    tiles = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    random = np.random.default_rng(0)
    for at in range(count):
        chosen = tiles[random.integers(0, len(tiles), 192)].reshape(12, 16, 32, 32, 3)
        picture = chosen.transpose(0, 2, 1, 3, 4).reshape(384, 512, 3)
        place = folder / f"class{at % 3}"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).resize((640, 480), Image.BICUBIC).save(place / f"{at:05}.jpg", quality=90)


def jpeg():
    import torch
    import torchvision
    from torchvision.transforms import v2

    folder = WORK / "photos"
    photos(folder)
    count = sum(1 for _ in folder.glob("*/*.jpg"))
    size = v2.Compose([v2.PILToTensor()])
    dataset = torchvision.datasets.ImageFolder(folder, size)
    loader = torch.utils.data.DataLoader(dataset, batch_size=64, num_workers=WORKERS)
    files = [path for path, _ in dataset.samples]

    def decode(path):
        return torchvision.io.decode_jpeg(torchvision.io.read_file(path))

    def kept():
        """All images stay in memory, as ours do."""
        torch.set_num_threads(1)
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(decode, files))

    def dropped():
        torch.set_num_threads(1)
        with ThreadPoolExecutor(WORKERS) as pool:
            list(pool.map(lambda path: decode(path) is None, files))

    compare(f"JPEG, {count} files of 640 x 480, {WORKERS} workers", folder, count * 640 * 480 * 3 / 1e6, {
        "ImageFolder, PIL": lambda: [None for _ in loader],
        "torchvision.io": kept,
        "the same, dropped": dropped,
    })


def hardware():
    cpu = next(line for line in open("/proc/cpuinfo") if line.startswith("model name")).split(":")[1].strip()
    versions = [platform.platform(), "python " + platform.python_version(), "numpy " + np.__version__]
    for name in ["polars", "torchvision", "PIL"]:
        versions.append(f"{name} {__import__(name).__version__}")
    print(f"{WORKERS} cores of {cpu}; " + ", ".join(versions) + f"; {TIMES} repetitions")


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    hardware()
    parts = {"mnist": mnist, "cifar": cifar, "table": table, "jpeg": jpeg}
    for name in sys.argv[3:] or parts:
        parts[name]()
