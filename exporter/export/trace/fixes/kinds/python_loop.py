"""`for _ in range(9): …; if done.all(): break`: a loop of Python's that a tensor ends."""

from __future__ import annotations

import traceback

from exporter.base.errors import ExporterError
from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches
from exporter.paddle.refusal import CannotLower
from exporter.paddle.user_line import is_models, origin
from exporter.paddle.values import in_program

_WHY = (
    "a tensor ends a loop of Python's, whose turns cannot be a loop of the program (as where each takes its own layer)"
)
_CURE = "keep the old value in place of leaving: paddle.where(done, old, new)"


def _ended(self: Layer, x: Tensor) -> Tensor:
    y = x
    for _ in range(7):
        y = y * 1.5 + 1.0
        if (y > 8.0).all():
            break
    return y


def _counted(self: Layer, x: Tensor) -> Tensor:
    turns, y = 0, x.abs()
    while turns < 6:
        y = y * 2.0 + turns
        if y.mean() > 9.0:
            y = y - 1.0
            break
        turns += 1
    return y * turns


def _listed(self: Layer, x: Tensor) -> Tensor:
    import paddle

    seen, y = [], x
    for _ in range(6):
        y = y * 2.0 + 1.0
        seen.append(y)
        if paddle.stack(seen, axis=1).mean() > 4.0:
            break
    return paddle.stack(seen, axis=1)


def _layers(self: Layer, x: Tensor) -> Tensor:
    for layer in self.layers:
        x = layer(x)
        if x.mean() > 1.0:
            break
    return x


def _three() -> Value:
    import paddle

    return paddle.nn.LayerList([paddle.nn.Linear(4, 4) for _ in range(3)])


class PythonLoop(Fix):
    """Its condition is Python's until the first turn has set the tensor; stock gives up then.

    The turns so far stand in the program one after the other, and a loop of the program does the rest.
    """

    apis = ("paddle.jit.to_static",)
    seen = ("3.0.0", "3.3.1")
    examples = (
        Example(_ended, (("n", 4),)),
        Example(_counted, (("n", 4),)),
        Example(_listed, (("n", 4),)),
        Example(_layers, (("n", 4),), {"layers": _three}, refused="each takes its own layer"),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import convert_operators

        def loop(stock: Value, cond: Value, body: Value, *rest: Value, **named: Value) -> Value:
            turned = False
            while not in_program(condition := cond()):
                if not condition:
                    return None
                body()
                turned = True
            try:
                return stock(cond, body, *rest, **named)
            except Exception as error:
                if not turned or isinstance(error, ExporterError):
                    raise
                refusal = CannotLower(f"break: {_WHY}", where=_line(error), hint=_CURE)
                refuse(refusal)
                raise refusal from error

        patches.body(convert_operators.convert_while_loop, loop)


def _line(error: Exception) -> str:
    """Return the line of the model's in the loop at which its turn failed."""
    lines = [origin(frame) for frame, _ in traceback.walk_tb(error.__traceback__)]
    return next((f"{path}:{line}" for path, line in reversed(lines) if is_models(path)), "")


plugin: Fix = PythonLoop()
