"""The one way of an operator into a legacy program: the steps before `Block.append_op`, in their order."""

from __future__ import annotations

from typing import Any

from packaging.version import Version

from exporter.export.lower.pdmodel import exact, older, promotion
from exporter.export.lower.pdmodel.appended import Appended, Step
from exporter.paddle.patches import Patches


def steps(target: Version | None) -> tuple[Step, ...]:
    """What older runtimes lack comes first, since it is made of operators that take this way themselves."""
    return (older.step(target), exact.step, promotion.step)


def install(patches: Patches, target: Version | None) -> None:
    """Let `Block.append_op`, through which every operator comes, take the steps first."""
    from exporter.paddle.private import Block

    stock, taken = Block.append_op, steps(target)

    def append_op(self: Any, *args: Any, **kwargs: Any) -> Any:
        appended = Appended(
            self,
            str(kwargs.get("type")),
            *(dict(kwargs.get(name) or {}) for name in ("inputs", "outputs", "attrs")),
        )
        for step in taken:
            if (result := step(appended)) is not None:
                appended.output.desc.set_dtype(result.dtype)
                return stock(self, type="assign", inputs={"X": [result]}, outputs={"Out": [appended.output]})
        changed = {"inputs": appended.inputs, "attrs": appended.attributes}
        return stock(self, *args, **{**kwargs, **{name: value for name, value in changed.items() if value}})

    patches.attribute(Block, "append_op", append_op)
