"""The float64 oracle: what the layer would compute without rounding, and how far eager float32 is from it.

For each float output of each case: the truth y64, and e_ref, the largest relative error of eager and of two eager runs
whose weights are moved by one ulp at random, in the max norm and in L2. Moving weights shows how much rounding the
network amplifies; moving inputs would not do, since masks and flags are not noise.

Where float64 does not run, or computes in float32 inside, the centre and the spread of the float32 runs take the
place of truth and e_ref, and the method's name says so.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from exporter.engines._paddle import border, call_layer, named_arrays
from exporter.engines.base import EngineRefused
from exporter.parity.norms import error
from exporter.tensors import Array, TensorMap

if TYPE_CHECKING:
    import paddle

#: Kernels that may run in float32 inside a true float64 run: they make constants, or change the dtype.
BENIGN = frozenset(
    {"cast", "fill_constant", "full", "fill_any_like", "full_like", "linspace", "range", "arange", "eye", "assign"}
    | {"fill_constant_batch_size_like", "full_batch_size_like", "assign_value", "memcpy_d2h", "memcpy_h2d"}
)


@dataclass(frozen=True)
class Truth:
    """What one output of one case should be. Errors are relative to `scale` (max norm) and to the rms (L2)."""

    value: Array
    e_ref_max: float
    e_ref_l2: float
    method: str


@dataclass(frozen=True)
class Oracle:
    """Several copies of one layer: as it is, in float64, and with weights moved by one ulp."""

    eager: Any
    exact: Any
    moved: tuple[Any, ...]
    order: tuple[str, ...]
    outputs: tuple[str, ...]

    def ask(self, inputs: TensorMap) -> tuple[dict[str, Array], dict[str, Truth], str]:
        """Run one case; return eager's outputs, the truths, and why eager cannot be trusted (empty where it can).

        Raises:
            EngineRefused: the eager layer itself does not run on these inputs.
        """
        eager, again = self._run(self.eager, inputs), self._run(self.eager, inputs)
        unstable = [name for name in eager if not _same_bits(eager[name], again[name])]
        gate = f"eager gives other values when run twice: {', '.join(unstable)}" if unstable else ""
        moved = [self._run(layer, inputs) for layer in self.moved]
        exact, why = self._run_exact(inputs)
        truths = {}
        for name, value in eager.items():
            runs = [value, *(one[name] for one in moved)]
            truths[name] = _spread(runs, why) if exact is None else _against(exact[name], runs)
        return eager, truths, gate

    def _run(self, layer: Any, inputs: TensorMap) -> dict[str, Array]:
        with border():
            return named_arrays(call_layer(layer, self.order, inputs), self.outputs)

    def _run_exact(self, inputs: TensorMap) -> tuple[dict[str, Array] | None, str]:
        wide = {name: value.astype("float64") if value.dtype.kind == "f" else value for name, value in inputs.items()}
        try:
            with _kernels_watched() as narrow:
                exact = self._run(self.exact, wide)
        except EngineRefused as refusal:
            return None, f"float64 does not run ({refusal})"
        if narrow:
            return None, f"float64 is not true: float32 inside {', '.join(sorted(narrow))}"
        return exact, ""


def make_oracle(layer: paddle.nn.Layer, order: tuple[str, ...], outputs: tuple[str, ...], seed: int) -> Oracle:
    """Copy the layer into its float64 and its moved forms. Runs on the CPU, whose float64 kernels are complete."""
    exact = copy.deepcopy(layer)
    # Plain `to` would cast integer buffers too, and indices would die in gather.
    exact._to_impl(dtype="float64", floating_only=True)
    exact.eval()
    return Oracle(layer, exact, tuple(_moved(layer, seed + step) for step in (1, 2)), order, outputs)


def _moved(layer: paddle.nn.Layer, seed: int) -> paddle.nn.Layer:
    """A copy whose float weights each go one ulp up or down, by the toss of a seeded coin."""
    twin = copy.deepcopy(layer)
    generator = np.random.default_rng(seed)
    for parameter in twin.parameters():
        value = parameter.numpy()
        if value.dtype.kind == "f":
            side = np.where(generator.random(value.shape) < 0.5, -np.inf, np.inf).astype(value.dtype)
            parameter.set_value(np.nextafter(value, side))
    twin.eval()
    return twin


class _kernels_watched:  # noqa: N801  # reads as the statement it is
    """Collect the names of kernels that ran in a dtype narrower than float64 (Paddle's own count, 3.0-3.3)."""

    def __enter__(self) -> set[str]:
        import paddle
        from paddle.base import core

        self._found: set[str] = set()
        paddle.set_flags({"FLAGS_low_precision_op_list": 1})
        core.clear_low_precision_op_list()
        return self._found

    def __exit__(self, *_: object) -> None:
        import paddle
        from paddle.base import core

        counts: Mapping[str, str] = core.get_low_precision_op_list()
        paddle.set_flags({"FLAGS_low_precision_op_list": 0})
        for name, text in counts.items():
            half, brain, single = (int(part) for part in text.split(",")[:3])
            if half + brain + single and name not in BENIGN:
                self._found.add(name)


def _same_bits(one: Array, other: Array) -> bool:
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def _against(truth: Array, runs: list[Array]) -> Truth:
    if truth.dtype.kind != "f":
        return Truth(runs[0], 0.0, 0.0, "exact")
    errors = [error(truth, run) for run in runs]
    return Truth(truth, max(one[0] for one in errors), max(one[1] for one in errors), "float64")


def _spread(runs: list[Array], why: str) -> Truth:
    if runs[0].dtype.kind != "f":
        return Truth(runs[0], 0.0, 0.0, "exact")
    centre = np.mean([run.astype("float64") for run in runs], axis=0)
    errors = [error(centre, run) for run in runs]
    largest = max(one[0] for one in errors), max(one[1] for one in errors)
    return Truth(centre, *largest, f"spread of float32 runs, since {why}")
