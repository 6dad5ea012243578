"""Another dtype: values that were cut off to whole numbers, or a dtype that the model does not take."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial


class Dtype(Cause):
    """Leaves casts out, changes them, or adds one to each dtype that training's values have, or cuts them off."""

    rank = 1

    def trials(self, situation: Situation) -> Iterator[Trial]:
        wanted = [target.dtype.name for target in situation.targets()]
        names = list(dict.fromkeys([*wanted, "float32", "uint8", "int64", "float16"]))
        for at, _ in situation.steps("cast"):
            yield from situation.removed(at)
            for name in names:
                yield from situation.changed(at, dtype=name)
        for at, value in situation.places():
            for name in names:
                if value.ndim > 1 or (at and value.dtype.name != "uint8"):
                    yield from situation.inserted(at, "cast", dtype=name)


plugin: Cause = Dtype()
