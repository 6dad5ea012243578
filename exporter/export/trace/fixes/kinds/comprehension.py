"""A set or a generator whose variable has the name of a later loop's."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor
from exporter.paddle.patches import Patches


def _set(self: Layer, x: Tensor) -> Tensor:
    skipped = {number for number in (1.0, 2.0)}
    for number in (1.0, 3.0):
        if number not in skipped:
            x = x * number
    return x


def _generator(self: Layer, x: Tensor) -> Tensor:
    total = sum(size for size in (1.0, 2.0))
    for size in (3.0, 4.0):
        x = x * size
    return x + total


class Comprehension(Fix):
    """dy2static takes that variable for one of the function's own, and then declares none for the loop.

    What it writes is no Python: "no binding for nonlocal 'number' found". Of lists and dicts it knows
    (`FunctionNameLivenessAnalysis.visit_ListComp` in `jit/dy2static/transformers/utils.py`).
    """

    apis = ("paddle.jit.to_static",)
    seen = ("3.0.0", "3.3.1")
    examples = tuple(Example(forward, (("n", 4),)) for forward in (_set, _generator))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import NameLiveness

        for kind in ("SetComp", "GeneratorExp"):
            patches.attribute(NameLiveness, f"visit_{kind}", NameLiveness.visit_ListComp)


plugin: Fix = Comprehension()
