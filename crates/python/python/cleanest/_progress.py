"""Where a run stands, on a bar of tqdm's if it is installed, else in a line now and then."""

from __future__ import annotations

import sys
from typing import Any


class Bar:
    """A bar for the steps of a run; networks that judge what they have not seen get one of their own."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._total = 0
        self._tenth = -1

    def __call__(self, step: int, steps: int, loss: float) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            self._line(step, steps, loss)
            return
        if self._bar is None or self._total != steps or step < self._bar.n:
            self.close()
            self._bar, self._total = tqdm(total=steps, unit="step", leave=False), steps
        self._bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
        self._bar.update(step - self._bar.n)

    def _line(self, step: int, steps: int, loss: float) -> None:
        if self._total != steps:
            self._total, self._tenth = steps, -1
        tenth = 10 * step // steps
        if tenth != self._tenth:
            self._tenth = tenth
            print(f"step {step}/{steps}  loss {loss:.3f}", file=sys.stderr)

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
