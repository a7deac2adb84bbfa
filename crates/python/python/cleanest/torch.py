"""The methods as a loss of PyTorch's.

    criterion = cleanest.torch.NoisyLoss("tvd", classes=10, steps=steps)
    for x, noisy_labels in loader:
        loss = criterion(model(x), noisy_labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    criterion.transition_matrix
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.distributed as distributed
from numpy.typing import NDArray
from torch.autograd.function import once_differentiable

from . import methods

__all__ = ["NoisyLoss"]


class NoisyLoss(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """The mean loss of a batch of logits (N, K) and noisy labels (N), by one of the methods.

    Its gradient is the method's own, in closed form. While it is in training mode, each call also learns about the noise,
    as a step of training does; in evaluation mode (``eval()``) it learns nothing and draws the same numbers every time.

    Logits may be on any device and of any floating precision, as under ``torch.autocast``: the loss is computed from them
    in double precision on the host, and given back in float32 (float64 for float64). A batch with logits that are not
    finite, as a ``GradScaler`` meets them, has a loss of NaN and teaches nothing.

    Where a process group is initialized, what is learnt is summed over its processes, so that all of them come to the same
    matrix: construct it alike everywhere, and call it as often everywhere, as with DistributedDataParallel.

    Parameters
    ----------
    method
        One of ``cleanest.methods.NAMES``.
    classes
        The number of classes.
    steps
        Training steps of a stage: some methods have schedules of their own.
    seed
        The seed of what the method draws.
    process_group
        The processes that train together; all, where nothing is said.
    settings
        Settings of the method, such as ``gamma=0.2``.
    """

    def __init__(
        self,
        method: str = "tvd",
        classes: int = 10,
        *,
        steps: int = methods.STEPS,
        seed: int = 0,
        process_group: Any = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.method = methods.named(method, classes, steps=steps, seed=seed, **settings)
        self.process_group = process_group

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """The mean loss of a batch."""
        if logits.ndim != 2 or logits.shape[1] != self.method.classes:
            raise ValueError(
                f"`logits` must be of shape (N, {self.method.classes}), these are of {tuple(logits.shape)}"
            )
        numbers = logits.detach().to("cpu", torch.float64).contiguous().numpy()
        classes = labels.detach().to("cpu").contiguous().numpy()
        total = self._total(logits.device) if self.training else None
        finite = bool(np.isfinite(numbers).all())
        learns = self.training and (finite if total is None else float(total(np.array([not finite]))[0]) == 0.0)
        if finite:
            value, slopes = self.method.loss(numbers, classes, learn=learns, total=total)
        else:
            value, slopes = float("nan"), np.full_like(numbers, np.nan)
        kind = torch.promote_types(logits.dtype, torch.float32)
        loss = torch.tensor(value, dtype=kind, device=logits.device)
        gradient = torch.from_numpy(slopes).to(logits.device, kind)
        return _Given.apply(logits, loss, gradient)  # type: ignore[no-any-return, no-untyped-call, unused-ignore]

    @property
    def transition_matrix(self) -> torch.Tensor | None:
        """The noise as it now looks, a row for each true class; ``None`` if the method has no model of it yet."""
        found = self.method.transition_matrix
        return None if found is None else torch.from_numpy(found)

    @property
    def stages(self) -> int:
        """How often a fresh model is trained: twice where T is first estimated and then corrected by."""
        return self.method.stages

    def begin_stage(self, stage: int, probabilities: torch.Tensor, labels: torch.Tensor) -> None:
        """Begins a stage with what the model of the one before says of all training examples, and their labels.

        Under a process group, every process gives all examples.
        """
        seen = probabilities.detach().to("cpu", torch.float64).contiguous().numpy()
        self.method.begin(stage, seen, labels.detach().to("cpu").contiguous().numpy())

    def get_extra_state(self) -> torch.Tensor:
        """What was learnt, for ``state_dict``: the bytes of a safetensors file, never a pickle."""
        return torch.frombuffer(bytearray(bytes(self.method)), dtype=torch.uint8)

    def set_extra_state(self, state: torch.Tensor) -> None:
        """Goes on from what ``state_dict`` held."""
        self.method.restore(state.detach().cpu().numpy().tobytes())

    def extra_repr(self) -> str:
        return repr(self.method)

    def _total(self, device: torch.device) -> Callable[[NDArray[Any]], NDArray[np.float64]] | None:
        """Sums over all processes, if there are several."""
        if not (distributed.is_available() and distributed.is_initialized()):
            return None
        group = self.process_group
        if distributed.get_world_size(group) < 2:
            return None
        # NCCL sums on GPUs only, gloo on the host.
        place = device if "nccl" in distributed.get_backend(group) and device.type == "cuda" else torch.device("cpu")

        def total(numbers: NDArray[Any]) -> NDArray[np.float64]:
            summed = torch.as_tensor(numbers, dtype=torch.float64).to(place)
            distributed.all_reduce(summed, group=group)
            found: NDArray[np.float64] = summed.cpu().numpy()
            return found

        return total


class _Given(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
    """A loss whose gradient is known already."""

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, loss: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(gradient)
        ctx.kind = logits.dtype
        return loss

    @staticmethod
    @once_differentiable  # type: ignore[misc, untyped-decorator, unused-ignore]
    def backward(ctx: Any, slope: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        # Scaled before it is made narrow, so that what a GradScaler saves from underflow is saved.
        return (gradient * slope).to(ctx.kind), None, None
