"""`paddle.static.program_guard` within `forward`: a second program, which nothing of the first can be given to."""

from __future__ import annotations

import sys
from types import FrameType

from exporter.export.trace.fixes.base import Example, Fix, Refuse, Value
from exporter.paddle.patches import Patches
from exporter.paddle.refusal import CannotLower, cannot_lower
from exporter.paddle.user_line import is_models, origin


def _forward(self: Value, x: Value) -> Value:
    import paddle

    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        y = paddle.equal(x, paddle.zeros_like(x))
    return y.astype("float32") + x


class ProgramGuard(Fix):
    """What is computed inside belongs to the other program: the trace ends in a segmentation fault (3.3.1).

    Eager code computes inside as outside, so nothing of it shows there.
    """

    apis = ("paddle.static.program_guard",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_forward, (("n", 4),), refused="a program within the traced one"),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import legacy_program_guard, pir_program_guard

        def guarded(stock: Value, main_program: Value, startup_program: Value = None) -> Value:
            if not _is_models(sys._getframe(2)):  # behind the function that is replaced
                return stock(main_program, startup_program)
            refusal = _refusal()
            refuse(refusal)
            raise refusal

        for guard in (pir_program_guard, legacy_program_guard):  # Paddle puts one of the two in its public place
            patches.outermost(guard, guarded)

    def instead(self, stock: Value, main_program: Value, startup_program: Value = None) -> Value:
        """Never called: see `install`, which looks at who calls."""
        return stock(main_program, startup_program)


def _refusal() -> CannotLower:
    return cannot_lower(
        "paddle.static.program_guard",
        "it begins a program within the traced one, which neither can use",
        "take it out of forward: eager code computes the same without it",
    )


def _is_models(frame: FrameType) -> bool:
    """Return whether a frame runs a model's code, rewritten or not; Paddle's and ours trace by such guards."""
    path, _ = origin(frame)
    return path != frame.f_code.co_filename or is_models(path)


plugin: Fix = ProgramGuard()
