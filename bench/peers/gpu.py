#!/usr/bin/env python3
"""Training steps of PyTorch on a GPU, as fast as it goes: one CUDA graph, images channels last, the loss of TVD.

    python3 bench/peers/gpu.py MODEL PRECISION [BATCH [CLASSES [STEPS]]]

prints one line of JSON with milliseconds of a step. MODEL is mnist-cnn or resnet18, PRECISION bf16 (autocast, f32
weights) or tf32. The whole step is captured: forward, loss, backward, optimizer; nothing is copied to the host.
"""

import json
import sys
import time

import torch
from torch import nn

from train import torch_network


def total_variation(clean, pairs):
    first = torch.randint(0, clean.shape[0], (pairs,), device=clean.device)
    second = torch.randint(0, clean.shape[0], (pairs,), device=clean.device)
    return 0.5 * (clean[first] - clean[second]).abs().sum(1).mean()


def main():
    model, precision, *rest = sys.argv[1:]
    batch, classes, steps = [int(rest[i]) if i < len(rest) else d for i, d in enumerate((512, 10, 200))]
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    network, shape = torch_network(model)
    if classes != 10:
        raise SystemExit("the peers have ten classes")
    network = network.cuda().to(memory_format=torch.channels_last).train()
    if model == "mnist-cnn":
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True, capturable=True)
    else:
        optimizer = torch.optim.SGD(network.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-4, fused=True)
    x = torch.rand(batch, *shape, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.arange(batch, device="cuda") % classes
    counts = torch.eye(classes, device="cuda") * 9 + 1

    def step():
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "bf16", cache_enabled=False):
            logits = network(x)
        clean = torch.softmax(logits.float(), 1)
        noise = torch._sample_dirichlet(counts)
        noisy = (clean @ noise).gather(1, labels[:, None]).clamp_min(1e-12)
        loss = -noisy.log().mean() - 0.1 * total_variation(clean, 512)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        return loss

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(11):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    for _ in range(30):
        graph.replay()
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(steps):
        graph.replay()
    torch.cuda.synchronize()
    mean = (time.perf_counter() - begun) * 1e3 / steps
    print(json.dumps({"peer": f"PyTorch {torch.__version__}", "model": model, "precision": precision,
                      "batch": batch, "mean": round(mean, 4), "loss": round(loss.item(), 4)}))


if __name__ == "__main__":
    main()
