"""A layer whose inputs can be given by position, whatever its `forward` takes by name."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Sequence
from types import MethodType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import paddle

#: Where the layer keeps its own `forward`, which the one that is written here calls.
_OWN = "_forward_by_name"
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def take_by_position(layer: paddle.nn.Layer, names: Sequence[str]) -> None:
    """Let `layer(*values)` take its inputs `names` in this order.

    A `forward` with `*`, as `forward(x, *, gain)`, takes some by name alone, and one that leaves out an optional input
    takes those behind it by name. `to_static` and every engine here give them by position: then the layer gets a
    `forward` that passes them on. It is written as text, since dy2static reads the source of what it traces.
    """
    forward: Callable[..., object] = layer.forward
    parameters = list(inspect.signature(forward).parameters.values())
    leading = [
        name
        for name, parameter in zip(names, parameters, strict=False)
        if parameter.name == name and parameter.kind in _BY_POSITION
    ]
    if len(leading) == len(names):
        return
    first = next(at for at, name in enumerate(names) if name not in leading)
    passed = [*names[:first], *(f"{name}={name}" for name in names[first:])]
    text = f"def forward(self, {', '.join(names)}):\n    return self.{_OWN}({', '.join(passed)})\n"
    place = f"<{type(layer).__name__}.forward by position>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    scope: dict[str, Callable[..., object]] = {}
    exec(compile(text, place, "exec"), scope)  # noqa: S102 - our text, of names that are parameters already
    object.__setattr__(layer, _OWN, forward)
    object.__setattr__(layer, "forward", MethodType(scope["forward"], layer))
