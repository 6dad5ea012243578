"""Proof of a cut: the smaller layer computes what the whole one does with everything that was cut masked.

Masked are the weights that make a cut channel, those that read it, and the norms between. Then what is left of every
tensor has the same values in both layers, whatever stands between; so a tie that was not seen, or code that reads the
number of channels, shows. The judge is the gate's own: error against float64, over what eager float32 errs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exporter.base.numbers.norms import FLOOR, WORST_E_REF, ratio
from exporter.base.tensors import Array, TensorMap
from exporter.engines.paddle import border, call_layer, named_arrays
from exporter.prove.goldens.oracle import make_oracle
from exporter.weights.prune.program import Program
from exporter.weights.prune.tracker import Tracker

if TYPE_CHECKING:
    import paddle


@dataclass(frozen=True)
class Proof:
    """The largest error ratio over all outputs, and how the truth was found."""

    error_ratio: float
    method: str


def same_shapes(tracker: Tracker, alive: Array, small: Program) -> str:
    """Where the smaller layer's program is not the whole one's with the dead labels left out; "" if nowhere."""
    read = {value for one in tracker.program.operations for value in one.inputs} | set(tracker.program.outputs)
    for one, other in zip(tracker.program.operations, small.operations, strict=False):
        pairs = [pair for pair in zip(one.outputs, other.outputs, strict=False) if pair[0] in read]
        wanted = [tracker.sizes(value, alive) for value, _ in pairs]
        found = [small.shapes.get(value, ()) for _, value in pairs]
        if one.name != other.name or wanted != found:
            line = other.line or one.line
            place = f"{line}: " if line else ""
            return f"{place}{other.name} gives {_said(found)} where {one.name} was to give {_said(wanted)}"
    counts = len(tracker.program.operations), len(small.operations)
    return "" if counts[0] == counts[1] else f"{counts[1]} operators were traced, {counts[0]} expected"


def _said(shapes: Sequence[Sequence[int]]) -> str:
    return ", ".join(str(list(shape)) for shape in shapes) or "nothing"


def prove(
    small: paddle.nn.Layer,
    masked: paddle.nn.Layer,
    order: tuple[str, ...],
    names: tuple[str, ...],
    inputs: TensorMap,
) -> tuple[Proof, str]:
    """Run both, in evaluation; return the proof, and why it is none ("" where it is one).

    Raises:
        EngineRefused: one of them does not run on these inputs.
    """
    eager, truths, gate = make_oracle(small, order, names, 0).ask(inputs)
    with border():
        whole = named_arrays(call_layer(masked, order, inputs), names)
    worst = 0.0
    for name, truth in truths.items():
        if eager[name].shape != whole[name].shape:
            return Proof(float("inf"), ""), f"output '{name}' has another shape: {list(eager[name].shape)}"
        if 4 * max(truth.e_ref_max, truth.e_ref_l2, FLOOR) > WORST_E_REF:
            gate = gate or f"rounding alone moves '{name}' by {truth.e_ref_max:.1e} of its size"
        off = ratio(truth.value, whole[name], (truth.e_ref_max, truth.e_ref_l2))
        worst = off if not off <= worst else worst
    return Proof(worst, next(iter(truths.values())).method), gate
