"""Goldens of which eager has no answer in some rows: what is finite is compared, and where it is not.

Every bundle's verify.py holds a copy of this file, see :mod:`exporter.base.numbers.rule`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exporter.base.numbers.norms import WORST_E_REF

if TYPE_CHECKING:
    from exporter.base.tensors import Array


@dataclass(frozen=True)
class Partial:
    """What eager gives in a case where rows may have no answer: of the whole, or of the elements at `index`."""

    eager: Array
    index: Array | None

    def unlike(self, got: Array) -> str:
        """Describe where only one of a result and eager is finite, or their infinities differ; empty if they agree.

        What is NaN in eager may be any of what is not finite: engines differ in how they come to it.
        """
        kept = got if self.index is None else got.ravel()[self.index]
        for what, wrong in (
            ("NaN or infinity where eager is finite", np.isfinite(self.eager) & ~np.isfinite(kept)),
            ("numbers where eager is NaN or infinite", ~np.isfinite(self.eager) & np.isfinite(kept)),
            ("another infinity than eager", np.isinf(self.eager) & np.isinf(kept) & (self.eager != kept)),
        ):
            if wrong.any():
                named = ""
                if wrong.ndim > 1:
                    rows = np.flatnonzero(wrong.any(axis=tuple(range(1, wrong.ndim))))
                    named = f", in {rows.size} of {len(wrong)} rows, the first of them row {int(rows.min())}"
                return f"holds {what} ({int(wrong.sum())} of {wrong.size} numbers{named})"
        return ""


def counting(eager: Array, truth: Array) -> Array:
    """Which of eager's numbers have an answer: the finite ones, in rows that are not rounding alone.

    `s + (1 - mask) * -1e9` leaves nothing of `s` in a row without a token. All that are finite where it is so in all
    rows, and all of them where none is.
    """
    finite = np.isfinite(eager)
    if not finite.any():
        return np.ones(eager.shape, bool)
    if eager.ndim < 2:
        return finite
    off = np.abs(np.where(finite, eager, 0).astype("float64") - np.where(finite, truth, 0))
    worst = off.max(axis=tuple(range(1, off.ndim)), keepdims=True)
    kept = finite & ~(4 * worst > WORST_E_REF * np.abs(truth[finite]).max())
    return kept if kept.any() else finite
