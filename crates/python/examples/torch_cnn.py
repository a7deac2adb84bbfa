"""Trains a convolutional network of PyTorch's on digits whose labels are partly wrong.

    python crates/python/examples/torch_cnn.py [--noise pair:0.4] [--method tvd] [--steps 400] [--device cuda]

Beside it, the same network is trained with cross-entropy, which believes the labels. Needs torch and scikit-learn.
"""

from __future__ import annotations

import argparse

import torch
from sklearn.datasets import load_digits
from torch import nn

import cleanest
from cleanest.torch import NoisyLoss


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(24 * 4 * 4, 10),
    )


def train(model: nn.Module, criterion: nn.Module, images: torch.Tensor, labels: torch.Tensor, steps: int) -> None:
    """Steps of Adam over batches of 128, the learning rate falling to a tenth."""
    draw = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.1 ** (1 / steps))
    model.train()
    for _ in range(steps):
        rows = torch.randint(0, len(images), (128,), generator=draw).to(images.device)
        loss = criterion(model(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    model.eval()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--noise", default="pair:0.4")
    parser.add_argument("--method", default="tvd")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()

    x, clean = load_digits(return_X_y=True)
    noise = cleanest.noise.parse(asked.noise, 10)
    noisy = noise.corrupt(clean, seed=0)
    images = torch.tensor(x / 16, dtype=torch.float32).reshape(-1, 1, 8, 8).to(asked.device)
    labels = torch.from_numpy(noisy).to(asked.device)
    kept, tested = slice(0, 1400), slice(1400, None)

    # The counts of TVD are to outlive the first epochs of so small a set.
    fade = 6 / asked.steps
    settings = {"prior": 50.0, "keep": 1 - fade, "weight": 50 * fade * 10 / 128} if asked.method == "tvd" else {}
    criterion = NoisyLoss(asked.method, classes=10, steps=asked.steps, **settings)
    for name, loss in [("cross-entropy", nn.CrossEntropyLoss()), (asked.method, criterion)]:
        model = network().to(asked.device)
        train(model, loss, images[kept], labels[kept], asked.steps)
        with torch.no_grad():
            right = (model(images[tested]).argmax(1).cpu().numpy() == clean[tested]).mean()
        print(f"{name}: {100 * right:.1f} % right on clean labels")
    if criterion.transition_matrix is not None:
        found = cleanest.noise.Transition(criterion.transition_matrix.numpy())
        print(f"average TV between the noise and what was found of it: {found.average_tv(noise):.3f}")


if __name__ == "__main__":
    main()
