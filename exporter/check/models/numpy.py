"""What calls of NumPy give: arrays and numbers, but for what NumPy hands on to a tensor of the trace."""

from __future__ import annotations

from exporter.check.catalogue import entry
from exporter.check.domain.call import Call
from exporter.check.domain.value_numbers import numbered
from exporter.check.domain.values import Array, Const, Scalar, Tensor, Value
from exporter.check.models.shapes import apply_operator
from exporter.check.state.run import Run

_ARRAY_MAKERS = frozenset(
    "array asarray zeros ones full empty eye identity arange linspace logspace tri tril triu diag load fromfile "
    "concatenate stack hstack vstack meshgrid tile repeat zeros_like ones_like broadcast_to random rand randn uniform "
    "normal permutation".split()
)


def handed_on(name: str) -> bool:
    """Whether a function of NumPy works on a tensor of the trace (each measured with NumPy 2 and Paddle 3.3.1)."""
    return name.startswith("numpy.") and entry(name.removeprefix("numpy.")).has("numpy")


def _numpy(run: Run, call: Call) -> Value:
    """An array, or a single number where nothing makes an array of it."""
    if handed_on(call.name) and isinstance(call.first, Tensor) and run.forward:
        return numbered(apply_operator(call), call)
    run.consume(*call.every)
    arrays = any(isinstance(value, Array) and not value.scalar for value in call.arguments)
    single = call.last not in _ARRAY_MAKERS and not arrays
    lone = call.name == "numpy.array" and isinstance(call.first, (Const, Scalar))
    sized = call.name.startswith("numpy.random.") and len(call.arguments) < 3  # one draw, unless a size is given
    return Array(scalar=single or lone or sized)


PACKAGES = {"numpy": _numpy}
