#!/usr/bin/env python3
"""Training steps of PyTorch and of cleanest-engine, in turn on this machine: medians and ratios.

    python -m venv /tmp/peers && /tmp/peers/bin/pip install torch
    cargo build --release -p cleanest-engine --example bench_step
    /tmp/peers/bin/python bench/peers/train.py [--rounds 5] [--threads 2] [--only mlp]

Every measurement is a process of its own, so that peak memory is that of one network. A round runs every
contestant once; the ratio of a round compares neighbors in time, and the median over rounds is printed.
PyTorch runs in fp32 with contiguous and with channels-last images; the better of the two is the peer.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

OURS = Path(__file__).parents[2] / "target/release/examples/bench_step"
# Name, batch, steps timed in a round, GFLOP of a step counted as direct convolutions.
CASES = {
    "mnist-cnn": (512, 4),
    "resnet18": (128, 3),
    "mlp": (512, 200),
}


def torch_network(model):
    """The same networks as ours."""
    from torch import nn

    if model == "mlp":
        return nn.Sequential(
            nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)
        ), (512,)
    if model == "mnist-cnn":
        channels, layers = [1, 32, 32, 64, 64], []
        for inputs, outputs in zip(channels, channels[1:]):
            layers += [nn.Conv2d(inputs, outputs, 3), nn.ReLU()]
        head = [nn.MaxPool2d(2), nn.Flatten(), nn.Linear(6400, 128), nn.Dropout(0.5), nn.ReLU(), nn.Linear(128, 10)]
        return nn.Sequential(*layers, *head), (1, 28, 28)

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.relu = nn.ReLU(inplace=True)
            self.short = nn.Identity()
            if stride > 1 or inputs != outputs:
                self.short = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

        def forward(self, x):
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            return self.relu(y + self.short(x))

    layers, inputs = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)], 64
    for outputs, stride in [(64, 1), (128, 2), (256, 2), (512, 2)]:
        layers += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)), (3, 32, 32)


def torch_worker(model, batch, steps, layout):
    """One measurement of PyTorch, in this process; prints a line of JSON."""
    import resource

    import torch

    torch.manual_seed(0)
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if model == "gemm":
        a, b = torch.randn(2048, 2048), torch.randn(2048, 2048)
        rates = []
        for _ in range(steps + 2):
            start = time.perf_counter()
            a @ b
            rates.append(2 * 2048**3 / (time.perf_counter() - start) / 1e9)
        print(json.dumps({"gflops": statistics.median(rates[2:])}))
        return
    network, shape = torch_network(model)
    x = torch.rand(batch, *shape)
    if layout == "channels-last" and len(shape) == 3:
        network, x = network.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    labels = (torch.arange(batch) * 7) % 10
    if model == "resnet18":
        optimizer = torch.optim.SGD(network.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4)
    else:
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    times = []
    for _ in range(steps + 2):
        start = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(network(x), labels).backward()
        optimizer.step()
        times.append((time.perf_counter() - start) * 1e3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"milliseconds": times[2:], "peak_mib": peak}))


def run(command, threads, **environment):
    names = dict.fromkeys(["OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"], str(threads))
    result = subprocess.run(command, env={**os.environ, **names, **environment}, capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    return json.loads(result.stdout)


def torch_run(model, batch, steps, layout, threads):
    command = [sys.executable, __file__, "--worker", model, str(batch), str(steps), layout]
    return run(command, threads)


def ours_run(model, batch, steps, threads, simd=None, direct=False):
    command = [str(OURS), model, str(batch), str(steps)] + (["--direct"] if direct else [])
    return run(command, threads, **({"CLEANEST_SIMD": simd} if simd else {}))


def contestants(model, batch, steps, threads):
    """What runs in a round, by name."""
    layouts = ["contiguous"] if model == "mlp" else ["channels-last", "contiguous"]
    torch = {f"PyTorch {layout}": lambda layout=layout: torch_run(model, batch, steps, layout, threads) for layout in layouts}
    ours = {
        "ours": lambda: ours_run(model, batch, steps, threads),
        "ours, avx2": lambda: ours_run(model, batch, steps, threads, simd="avx2"),
        "ours, 1 thread": lambda: ours_run(model, batch, steps, 1),
    }
    if model != "mlp":
        ours["ours, direct"] = lambda: ours_run(model, batch, steps, threads, direct=True)
    return {**torch, **ours}


def gflop(model, batch):
    """Work of a step: three passes, two for the first layer, two operations for each multiplication."""
    def conv(side, inputs, outputs, kernel, first=False):
        return 2 * (2 if first else 3) * side * side * inputs * outputs * kernel * kernel

    if model == "mlp":
        work = conv(1, 512, 256, 1, True) + conv(1, 256, 256, 1) + conv(1, 256, 10, 1)
    elif model == "mnist-cnn":
        work = conv(26, 1, 32, 3, True) + conv(24, 32, 32, 3) + conv(22, 32, 64, 3) + conv(20, 64, 64, 3)
        work += conv(1, 6400, 128, 1) + conv(1, 128, 10, 1)
    else:
        work, side, inputs = conv(32, 3, 64, 3, True), 32, 64
        for outputs, stride in [(64, 1), (128, 2), (256, 2), (512, 2)]:
            side //= stride
            work += conv(side, inputs, outputs, 3) + 3 * conv(side, outputs, outputs, 3)
            work += conv(side, inputs, outputs, 1) if stride > 1 else 0
            inputs = outputs
        work += conv(1, 512, 10, 1)
    return batch * work / 1e9


def measure(model, rounds, threads):
    batch, steps = CASES[model]
    runners = contestants(model, batch, steps, threads)
    medians = {name: [] for name in runners}
    peaks, rates = {}, []
    for _ in range(rounds):
        rates.append(torch_run("gemm", 0, 10, "", threads)["gflops"])
        for name, runner in runners.items():
            result = runner()
            medians[name].append(statistics.median(result["milliseconds"]))
            peaks[name] = max(peaks.get(name, 0), result["peak_mib"])
    torch = [name for name in runners if name.startswith("PyTorch")]
    best = min(torch, key=lambda name: statistics.median(medians[name]))
    rate = statistics.median(rates)
    print(f"\n### {model}, batch {batch}, {threads} threads, {rounds} rounds")
    print(f"GEMM rate {rate:.0f} GFLOP/s; a step is {gflop(model, batch):.1f} GFLOP counted directly\n")
    print("| | ms a step | PyTorch's best / it | GFLOP/s over GEMM rate | peak MiB |\n|---|---|---|---|---|")
    for name in runners:
        time_ms = statistics.median(medians[name])
        ratio = statistics.median([b / a for a, b in zip(medians[name], medians[best])])
        share = gflop(model, batch) / time_ms * 1e3 / rate
        print(f"| {name} | {time_ms:.2f} | {ratio:.2f} | {share:.2f} | {peaks[name]} |")
    scaling = statistics.median([a / b for a, b in zip(medians["ours, 1 thread"], medians["ours"])])
    print(f"\nOne thread to {threads}: {scaling:.2f}x", flush=True)


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "--worker":
        model, batch, steps, layout = sys.argv[2:6]
        return torch_worker(model, int(batch), int(steps), layout)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=CASES)
    arguments = parser.parse_args()
    for model in [arguments.only] if arguments.only else CASES:
        measure(model, arguments.rounds, arguments.threads)


if __name__ == "__main__":
    main()
