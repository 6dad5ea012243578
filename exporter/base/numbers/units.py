"""How far a result is off in the units of its reader: in percent, and in answers that flip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.base.numbers.golden import GoldenOutput
from exporter.base.numbers.norms import error

if TYPE_CHECKING:
    from exporter.base.tensors import Array


def in_human_units(expected: GoldenOutput, candidate: Array) -> dict[str, float]:
    """How far a result is off as its reader would say: `relative`, the root mean square error as a share of the truth.

    `rows` counts the answers, and `agree` those that are eager's: of scores the class of each row, of whole numbers the
    numbers themselves. Neither is there where only a sample of a large output was recorded.
    """
    if expected.exact:
        return {"rows": float(candidate.size), "agree": float((candidate == expected.eager).sum())}
    found = {"relative": error(expected.truth, candidate.astype("float64"))[1]}
    if expected.index is None and candidate.ndim > 1 and candidate.shape[-1] > 1:
        agree = float((candidate.argmax(-1) == expected.eager.argmax(-1)).sum())
        found |= {"rows": float(candidate.size // candidate.shape[-1]), "agree": agree}
    return found
