"""Find the line behind which a program computes other values than the eager model.

While the model is traced, each tensor that a line leaves in a local name is kept, and a second program is exported
whose outputs these are. An eager run keeps the same, line by line; the first that differs is where the two part. Runs
in children only.
"""

from __future__ import annotations

import sys
import tempfile
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from exporter.check.probe_child import build, cases, difference, predict, specs
from exporter.check.probe_lines import is_librarys, line_of
from exporter.tensors import Array
from exporter.workers import Json

#: A line and a local name; of several visits the last counts.
Moment: TypeAlias = tuple[int, str]
_MOST_MOMENTS = 400


def parting(request: Json) -> Json:
    """`case`, the first in which a value differs, and the `line` that left it; 0 for the line if none does."""
    import paddle

    traced, layer = Recorder(request["path"]), build(request)
    layer.register_forward_post_hook(lambda *_: traced.outputs())
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder) / "model")
        static = paddle.jit.to_static(layer, input_spec=specs(request), backend=None, full_graph=True)
        with traced.recording():
            paddle.jit.save(static, prefix)
        found = predict(prefix, request)
    layer = build(request)
    for number, (case, outputs) in enumerate(zip(cases(request), found, strict=True)):
        eager = Recorder(request["path"])
        with eager.recording():
            layer(*[paddle.to_tensor(each.copy()) for each in case])
        for moment, value in eager.moments.items():
            at = traced.places.get(moment)
            if at is not None and difference(value, outputs[at]):
                return {"case": number, "line": moment[0]}
    return {"case": 0, "line": 0}


class Recorder:
    """The tensors that the lines of a file leave in local names, in the order in which they ran."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.moments: dict[Moment, Any] = {}
        #: Which output of the second program a moment is.
        self.places: dict[Moment, int] = {}
        self._lines: dict[int, int] = {}
        self._copies: dict[tuple[int, int], Array] = {}
        self._alive: list[Any] = []  # so that no identity is given twice

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Inside the block, Python reports each line."""
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(None)

    def outputs(self) -> list[Any]:
        """Copies of what was kept of the traced values, each once; those inside of branches and loops are left out."""
        import paddle

        found: dict[int, int] = {}
        copies: list[Any] = []
        sys.settrace(None)
        self.places.clear()
        for moment, value in self.moments.items():
            made_by = value.get_defining_op()
            if made_by is None or made_by.get_parent_block().parent_op.name() != "builtin.module":
                continue
            if hash(value) not in found:
                found[hash(value)] = len(copies)
                copies.append(paddle.assign(value))
            self.places[moment] = found[hash(value)]
        self.moments.clear()  # it may be traced once more, into another program
        sys.settrace(self._enter)
        return copies

    def _keep(self, value: Any) -> Any:
        """A traced value, or a copy of an eager one; None for anything else."""
        import paddle

        if isinstance(value, paddle.Tensor):
            key = (id(value), value.inplace_version)
            if key not in self._copies:
                self._copies[key] = np.array(value.numpy())
                self._alive.append(value)
            return self._copies[key]
        return value if isinstance(value, paddle.pir.Value) and value.is_dense_tensor_type() else None

    def _enter(self, frame: types.FrameType, event: str, arg: Any) -> Any:
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
