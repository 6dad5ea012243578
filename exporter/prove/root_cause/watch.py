"""Watch a layer while it runs: every call of a sublayer, from which line, what went in and what came out."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

from exporter.base.readers.program import Operator
from exporter.base.tensors import Array
from exporter.export.sources.recorded import Run, watched_by
from exporter.export.sources.values import Value
from exporter.export.trace.structure import leaves
from exporter.prove.root_cause.align import Argument, Arguments, SublayerCall, TensorArgument

if TYPE_CHECKING:
    import paddle

#: Files whose lines call sublayers on behalf of somebody else.
_MACHINERY = ("/paddle/nn/layer/layers.py", "/paddle/nn/layer/container.py", "/paddle/base/", "/paddle/jit/")
_OURS = f"{Path(__file__).resolve().parents[2]}/"


@dataclass
class Call:
    """One call of a sublayer. `path` is its place in the layer tree (empty: the root), `line` the code that called it.

    `parent` is the number of the call inside which it happened. Inputs and outputs are the tensors among what went in
    and came out, as they were then; `keys` are the numbers by which a tensor is the same one at two places.
    `arguments` says how to make the same call again; None where they hold more than tensors, numbers, text and None.
    An `operator` is one of a program that is a file; it is watched as a sublayer is.
    """

    path: str
    kind: str
    line: str
    parent: int | None
    inputs: list[Array] = field(default_factory=list)
    outputs: list[Array] = field(default_factory=list)
    input_keys: list[int] = field(default_factory=list)
    output_keys: list[int] = field(default_factory=list)
    arguments: Arguments | None = None
    operator: bool = False

    def described(self) -> SublayerCall:
        """The same without the tensors."""
        keys = tuple(self.input_keys), tuple(self.output_keys)
        return SublayerCall(self.path, self.kind, self.line, self.parent, *keys, self.arguments, self.operator)


@contextlib.contextmanager
def watching(layer: paddle.nn.Layer) -> Iterator[list[Call]]:
    """Collect the calls in the order in which they begin.

    `Layer.__call__` is replaced while this lasts: unlike hooks it sees keyword arguments, and nothing has to be put
    into the layer. A sublayer whose `forward` is called directly is not seen.
    """
    import paddle

    paths = {id(one): name for name, one in layer.named_sublayers(include_self=True)}
    watch = _Watch(paths)
    plain = paddle.nn.Layer.__call__

    def call(self: paddle.nn.Layer, *arguments: Any, **named: Any) -> Any:
        if id(self) not in paths:
            return plain(self, *arguments, **named)
        with watch.inside(self, _calling_line(), (arguments, named)) as seen:
            result = plain(self, *arguments, **named)
            seen.outputs, seen.output_keys = watch.tensors(result)
            return result

    paddle.nn.Layer.__call__ = call
    try:
        with watched_by(watch.operator):
            yield watch.calls
    finally:
        paddle.nn.Layer.__call__ = plain
        watch.forget_unread()


class _Watch:
    def __init__(self, paths: dict[int, str]) -> None:
        self.calls: list[Call] = []
        self._paths = paths
        self._open: list[int] = []
        self._seen: dict[tuple[int, int], tuple[int, Array]] = {}
        self._alive: list[Any] = []  # so that no id is given twice

    @contextlib.contextmanager
    def inside(self, layer: Any, line: str, arguments: Any) -> Iterator[Call]:
        one = Call(self._paths[id(layer)], type(layer).__name__, line, self._open[-1] if self._open else None)
        one.inputs, one.input_keys = self.tensors(arguments)
        one.arguments = _template(*arguments)
        self._open.append(len(self.calls))
        self.calls.append(one)
        try:
            yield one
        finally:
            self._open.pop()

    def operator(self, operator: Operator, reads: Sequence[Value], run: Run) -> Sequence[Value]:
        """Run one operator of a program that is a file."""
        number = f"operator {operator.index}"
        sublayer = operator.layer.strip("/").replace("/", ".")
        call = Call(f"{sublayer}.{number}" if sublayer else number, operator.name, operator.line, 0, operator=True)
        call.inputs, call.input_keys = self.tensors(reads)
        self.calls.append(call)
        results = run()
        call.outputs, call.output_keys = self.tensors(results)
        return results

    def forget_unread(self) -> None:
        """Forget what an operator puts out and nothing reads: a norm's statistics of a training."""
        read = {key for call in self.calls for key in call.input_keys}
        read |= {key for call in self.calls if not call.operator for key in call.output_keys}
        for call in self.calls:
            if call.operator:
                kept = [(value, key) for value, key in zip(call.outputs, call.output_keys, strict=True) if key in read]
                call.outputs, call.output_keys = [value for value, _ in kept], [key for _, key in kept]

    def tensors(self, value: Any) -> tuple[list[Array], list[int]]:
        """Copies of the tensors among the leaves: operators in place may change them afterwards."""
        import paddle

        found = [leaf for _, leaf in leaves(value) if isinstance(leaf, paddle.Tensor) and leaf._is_initialized()]
        kept = [self._keep(one) for one in found]
        return [array for _, array in kept], [key for key, _ in kept]

    def _keep(self, tensor: Any) -> tuple[int, Array]:
        identity = (id(tensor), tensor.inplace_version)
        if identity not in self._seen:
            self._alive.append(tensor)
            self._seen[identity] = (len(self._seen), tensor.numpy().copy())
        return self._seen[identity]


def _template(positional: tuple[Any, ...], named: Mapping[str, Any]) -> Arguments | None:
    import paddle

    count = iter(range(len(positional) + len(named)))
    plain = (type(None), bool, int, float, str)
    if not all(isinstance(value, (paddle.Tensor, *plain)) for value in (*positional, *named.values())):
        return None

    def argument(value: Any) -> Argument:
        return TensorArgument(next(count)) if isinstance(value, paddle.Tensor) else cast(Argument, value)

    return Arguments(tuple(map(argument, positional)), {name: argument(value) for name, value in named.items()})


def _calling_line() -> str:
    """`path:line` of the innermost frame that is neither ours nor machinery of Paddle's layers."""
    frame: FrameType | None = sys._getframe(1)  # inspect.stack() would read the source of every frame
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_OURS, "<")) and not any(part in name for part in _MACHINERY):
            return f"{short_path(Path(name))}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def short_path(path: Path) -> str:
    """Relative to a package folder or to the working folder: readable, and the same on every machine."""
    for base in sorted((Path(one or ".").resolve() for one in sys.path), key=lambda one: -len(one.parts)):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return path.as_posix()
