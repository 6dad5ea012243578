"""Find the line behind which a program computes other values than the eager model.

While the model is traced, each tensor that a line leaves in a local name is kept, and a second program is exported
whose outputs these are. An eager run keeps the same, line by line; the first that differs is where the two part. Runs
in children only.
"""

from __future__ import annotations

import sys
import tempfile
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from exporter.base.tensors import Array
from exporter.check.probe.child import Subject, build, cases, difference, predict, static
from exporter.check.probe.lines import line_of
from exporter.paddle.user_line import is_librarys, reported_to
from exporter.process.job import job

#: A line and a local name; of several visits the last counts.
Moment: TypeAlias = tuple[int, str]
_MOST_MOMENTS = 400


@dataclass(frozen=True)
class Parting:
    """The first case in which a value differs, and the line that left it; 0 for the line if none does."""

    case: int = 0
    line: int = 0


@job(reuse="probing {path}: where values part")
def parting(subject: Subject) -> Parting:
    """Compare what each line leaves eagerly with what it leaves in the program."""
    import paddle

    traced, layer = Recorder(str(subject.path)), build(subject)
    layer.register_forward_post_hook(lambda *_: traced.outputs())
    with tempfile.TemporaryDirectory() as folder:
        prefix = Path(folder) / "model"
        model = static(layer, subject)
        with reported_to(traced.enter):
            paddle.jit.save(model, str(prefix))
        found = predict(prefix, subject)
    layer = build(subject)
    for number, (case, outputs) in enumerate(zip(cases(subject), found, strict=True)):
        eager = Recorder(str(subject.path))
        tensors = [paddle.to_tensor(each.copy()) for each in case]
        with reported_to(eager.enter):
            layer(*tensors)
        for moment, value in eager.moments.items():
            at = traced.places.get(moment)
            if at is not None and difference(value, _shaped(outputs[at], value)):
                return Parting(number, moment[0])
    return Parting()


class Recorder:
    """The tensors that the lines of a file leave in local names, in the order in which they ran."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.moments: dict[Moment, Any] = {}
        #: Which output of the second program a moment is.
        self.places: dict[Moment, int] = {}
        self._lines: dict[int, int] = {}
        self._copies: dict[tuple[int, int], Any] = {}
        self._alive: list[Any] = []  # so that no identity is given twice

    def outputs(self) -> list[Any]:
        """The copies of traced values, each once."""
        found: dict[int, int] = {}
        copies: list[Any] = []
        for moment, copy in self.moments.items():
            if id(copy) not in found:
                found[id(copy)] = len(copies)
                copies.append(copy)
            self.places[moment] = found[id(copy)]
        self.moments, self._copies = {}, {}  # it may be traced once more, into another program
        return copies

    def _keep(self, value: Any) -> Any:
        """A copy of a tensor as it is now; None for anything else, and for values inside of traced branches and loops.

        The copy of a traced value is an operator of the second program. One is made again only where an operator has
        since written into the value, and by another kind of operator: of like ones the optimiser would keep one.
        """
        import paddle

        from exporter.paddle.private import Value

        if isinstance(value, paddle.Tensor):
            key = (id(value), value.inplace_version)
        elif isinstance(value, Value) and _is_whole(value):
            key = (hash(value), any(each.name().endswith("_") for each in value.all_used_ops()))
        else:
            return None
        if key not in self._copies:
            sys.settrace(None)
            if isinstance(value, paddle.Tensor):
                self._copies[key] = np.array(value.numpy())
            else:
                self._copies[key] = paddle.stack([value]) if key[1] else paddle.assign(value)
            self._alive.append(value)
            sys.settrace(self.enter)
        return self._copies[key]

    def enter(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        """What Python reports to."""
        return None if is_librarys(frame) else self._step(frame, event, arg)

    def _step(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        line = line_of(frame, self.path) if event != "call" else 0
        before = self._lines.get(id(frame), 0)
        if before and event in ("line", "return") and len(self.moments) < _MOST_MOMENTS:
            for name, value in list(frame.f_locals.items()):
                kept = self._keep(value)
                if kept is not None:
                    self.moments.pop((before, name), None)
                    self.moments[before, name] = kept
        self._lines[id(frame)] = line if event == "line" else 0
        return self._step


def _shaped(output: Array, wanted: Array) -> Array:
    """An output without the dimension that a second copy has in front."""
    return output[0] if output.ndim == wanted.ndim + 1 and len(output) == 1 else output


def _is_whole(value: Any) -> bool:
    """Whether a traced value is a tensor of the program's main block."""
    made_by = value.get_defining_op() if value.is_dense_tensor_type() else None
    return made_by is not None and made_by.get_parent_block().parent_op.name() == "builtin.module"
