"""In a child: one forward and backward pass of a layer, seen call by call."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import paddle


@dataclass
class Call:
    """One call of a sublayer; the layer itself is called `forward`.

    `reached` is set when a gradient comes back to an output. `versions` count the writes to each output in place.
    """

    name: str
    inputs: list[Any]
    outputs: list[Any]
    finite: bool
    versions: list[int]
    reached: bool = False

    @property
    def written(self) -> bool:
        """Whether an output was written to in place since it was given."""
        return any(value.inplace_version > before for value, before in zip(self.outputs, self.versions, strict=True))


@dataclass
class Passes:
    """The calls in the order in which they ended, and whose gradient was not finite, in the backward pass's order.

    `faulty` has ("output" or "parameter", the sublayer's name).
    """

    calls: list[Call] = field(default_factory=list)
    faulty: list[tuple[str, str]] = field(default_factory=list)


@contextlib.contextmanager
def watched(layer: paddle.nn.Layer) -> Iterator[Passes]:
    """Yield what becomes of a layer's forward and backward passes in here."""
    passes = Passes()
    hooks = []
    for path, sublayer in layer.named_sublayers(include_self=True):
        name = path or "forward"
        hooks.append(sublayer.register_forward_post_hook(_after(name, passes)))
        for parameter in sublayer.parameters(include_sublayers=False):
            if not parameter.stop_gradient:
                hooks.append(parameter.register_hook(_gradient(passes, "parameter", name)))
    try:
        yield passes
    finally:
        for hook in hooks:
            hook.remove()


def _after(name: str, passes: Passes) -> Callable[[Any, Any, Any], None]:
    def see(_: Any, inputs: Any, outputs: Any) -> None:
        given = list(_tensors(outputs))
        finite = all(map(is_finite, given))
        call = Call(name, list(_tensors(inputs)), given, finite, [value.inplace_version for value in given])
        passes.calls.append(call)
        for value in given:
            if not value.stop_gradient:
                value.register_hook(_gradient(passes, "output", name, call))

    return see


def _gradient(passes: Passes, kind: str, name: str, call: Call | None = None) -> Callable[[Any], None]:
    def see(gradient: Any) -> None:
        if call is not None:
            call.reached = True
        if not is_finite(gradient):
            passes.faulty.append((kind, name))

    return see


def _tensors(values: Any) -> Iterator[Any]:
    import paddle

    if isinstance(values, paddle.Tensor):
        yield values
    elif isinstance(values, dict):
        for value in values.values():
            yield from _tensors(value)
    elif isinstance(values, (tuple, list)):
        for value in values:
            yield from _tensors(value)


def is_finite(value: Any) -> bool:
    """Whether a tensor has neither NaN nor infinity."""
    import paddle

    return not value.is_floating_point() or bool(paddle.isfinite(value).all())
