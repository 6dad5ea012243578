"""In a child: one forward and backward pass of a layer, seen call by call."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import paddle

#: How the layer that is examined is called among its sublayers.
ROOT = "forward"


@dataclass
class Call:
    """One call of a sublayer; the layer itself is called `forward`.

    `gradient` says what came back to its outputs: nothing, zeros alone, or more.
    """

    name: str
    inputs: list[Any]
    outputs: list[Any]
    gradient: str = ""

    @property
    def reached(self) -> bool:
        """Whether a gradient came back to an output."""
        return bool(self.gradient)


@dataclass
class Passes:
    """The calls in the order in which they ended, and whose gradient was not finite, in the backward pass's order.

    `open` holds the names of the sublayers that run now, the innermost last. `faulty` has ("output" or "parameter",
    the sublayer's name). `strangers` are layers that ran and belong to no other, with the sublayer whose code called
    them and whether they were made while it ran.
    """

    calls: list[Call] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    faulty: list[tuple[str, str]] = field(default_factory=list)
    strangers: list[tuple[Any, str, bool]] = field(default_factory=list)

    @property
    def place(self) -> str:
        """The innermost sublayer that runs now; `loss` where none does."""
        return self.open[-1] if self.open else "loss"


@contextlib.contextmanager
def watched(layer: paddle.nn.Layer) -> Iterator[Passes]:
    """Yield what becomes of a layer's forward and backward passes in here."""
    passes = Passes()
    hooks = []
    for path, sublayer in layer.named_sublayers(include_self=True):
        name = path or ROOT
        hooks.append(sublayer.register_forward_pre_hook(_before(name, passes)))
        hooks.append(sublayer.register_forward_post_hook(_after(name, passes)))
        for parameter in sublayer.parameters(include_sublayers=False):
            if not parameter.stop_gradient:
                hooks.append(parameter.register_hook(_gradient(passes, "parameter", name)))
    try:
        with _seeing_strangers(layer, passes):
            yield passes
    finally:
        for hook in hooks:
            hook.remove()


@contextlib.contextmanager
def _seeing_strangers(layer: paddle.nn.Layer, passes: Passes) -> Iterator[None]:
    """Note each call of a layer with parameters that the examined one does not hold."""
    from paddle import nn

    own = {id(sublayer) for sublayer in layer.sublayers(include_self=True)}
    made: dict[int, Any] = {}
    seen: dict[int, Any] = {}  # with the layers themselves, so that no id is used again
    begin, call = nn.Layer.__init__, nn.Layer.__call__

    def beginning(self: Any, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        made[id(self)] = self

    def calling(self: Any, *arguments: Any, **named: Any) -> Any:
        if passes.open and id(self) not in own and id(self) not in seen:
            seen.update({id(inner): inner for inner in self.sublayers(include_self=True)})
            if any(not parameter.stop_gradient for parameter in self.parameters()):
                passes.strangers.append((self, passes.place, id(self) in made))
        return call(self, *arguments, **named)

    nn.Layer.__init__, nn.Layer.__call__ = beginning, calling
    try:
        yield
    finally:
        nn.Layer.__init__, nn.Layer.__call__ = begin, call


def _before(name: str, passes: Passes) -> Callable[[Any, Any], None]:
    def see(_: Any, inputs: Any) -> None:
        del inputs
        passes.open.append(name)

    return see


def _after(name: str, passes: Passes) -> Callable[[Any, Any, Any], None]:
    def see(_: Any, inputs: Any, outputs: Any) -> None:
        passes.open.pop()
        call = Call(name, list(tensors_of(inputs)), list(tensors_of(outputs)))
        passes.calls.append(call)
        for value in call.outputs:
            if not value.stop_gradient:
                value.register_hook(_gradient(passes, "output", name, call))

    return see


def _gradient(passes: Passes, kind: str, name: str, call: Call | None = None) -> Callable[[Any], None]:
    def see(gradient: Any) -> None:
        if call is not None and call.gradient != "more":
            call.gradient = "more" if numbers(gradient).any() else "zero"
        if not is_finite(gradient):
            passes.faulty.append((kind, name))

    return see


def address(value: Any) -> int | None:
    """Where a tensor's memory begins; None where it has none, as an RNN's dropout state on a CPU."""
    try:
        return int(value.data_ptr())
    except RuntimeError:  # PreconditionNotMet (phi/core/dense_tensor_impl.cc, 3.3.1)
        return None


def tensors_of(values: Any) -> Iterator[Any]:
    """The tensors in a structure of tuples, lists and dicts."""
    import paddle

    if isinstance(values, paddle.Tensor):
        yield values
    elif isinstance(values, dict):
        for value in values.values():
            yield from tensors_of(value)
    elif isinstance(values, (tuple, list)):
        for value in values:
            yield from tensors_of(value)


def numbers(value: Any) -> Any:
    """A tensor as an array; of a sparse gradient the rows that it has, some perhaps twice.

    numpy computes on it, since paddle.any and paddle.isfinite of a sparse gradient end in an OSError (3.3.1).
    """
    if value.dtype.name == "BFLOAT16":  # which numpy would take for whole numbers
        value = value.detach().astype("float32")
    return value.numpy()


def is_finite(value: Any) -> bool:
    """Whether a tensor has neither NaN nor infinity."""
    import numpy as np

    return not value.is_floating_point() or bool(np.isfinite(numbers(value)).all())


def has_nan(value: Any) -> bool:
    """Whether a tensor has NaN."""
    import numpy as np

    return value.is_floating_point() and bool(np.isnan(numbers(value)).any())


def leads_to_nan(value: Any) -> bool:
    """Whether a tensor has NaN, or the +∞ of an overflow: the −∞ of a mask is meant."""
    import numpy as np

    return has_nan(value) or (value.is_floating_point() and bool(np.isposinf(numbers(value)).any()))
