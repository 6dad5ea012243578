"""One piece of two programs, ready to be asked: in Paddle, in Paddle by float64, and as nodes in ONNX Runtime."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.readers.base import map_file
from exporter.base.readers.kinds.pir import parsed
from exporter.base.readers.program import Operator
from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import EngineRefused, Runnable, Session
from exporter.engines.kinds.jit_load import plugin as jit_load
from exporter.engines.kinds.onnxruntime import plugin as onnxruntime
from exporter.export.lower.onnx_program.excerpt import Source
from exporter.export.lower.onnx_program.graph import value_name
from exporter.export.lower.stored import stored_tensors
from exporter.process.scratch import scratch
from exporter.prove.root_cause.operators.boundary import moved
from exporter.prove.root_cause.operators.compare import distance, sensitivity
from exporter.prove.root_cause.operators.pieces import Piece
from exporter.prove.root_cause.operators.scopes import Scope, names_read

#: Constants beyond stand for infinity.
_LARGEST = 1e30
#: How far the inputs are moved to see what rounding them does, in halves of float32's last place.
_MOVES = (1, 16)


@dataclass(frozen=True)
class Programs:
    """The PIR program with its parameters by number, and the ONNX model with its initializers by name."""

    source: Source
    parameters: Mapping[int, Array]
    model: Any
    initializers: Mapping[str, Any]

    @classmethod
    def of(cls, folder: Path, model: Any) -> Programs:
        """Those of the folder of a PIR variant, and of a model that was read."""
        source = Source.of(parsed(map_file(folder / "model.json"), str(folder / "model.json")))
        files = sorted(path.name for path in folder.iterdir() if path.name.startswith("model."))
        stored = stored_tensors(files, folder)
        values = {}
        for one in source.operators:
            if one["#"] == "p":
                number, name = int(one["O"]["%"]), str(one["A"][3])
                # What no file stores, such as the dropout state of a recurrent layer, nothing reads in inference.
                values[number] = stored.array(name) if name in stored.weights else np.zeros((), source.dtype(number))
        return cls(source, values, model, {one.name: one for one in model.graph.initializer})

    @contextlib.contextmanager
    def paddle(
        self, operators: Sequence[Operator], leaves: Iterable[int], wanted: Sequence[int], scope: Scope, *, wide: bool
    ) -> Iterator[Session]:
        """What computes the values `wanted` from `leaves` in Paddle; with `wide` in float64."""
        given = [*sorted(leaves), *self._parameters_of(operators)]
        with scratch() as folder:
            content = self.source.excerpt(operators, scope.means, given, wanted, wide=wide)
            (folder / "model.json").write_bytes(content)
            names = tuple(map(value_name, given)), tuple(map(value_name, wanted))
            with jit_load.open(Runnable("pir", folder, "model.json", *names), "cpu") as session:
                yield session

    def fed(self, operators: Sequence[Operator], leaves: Iterable[int], values: Mapping[int, Array]) -> TensorMap:
        """What goes into such a session."""
        given = {number: values[number] for number in leaves}
        given |= {number: self.parameters[number] for number in self._parameters_of(operators)}
        return {value_name(number): value for number, value in given.items()}

    @contextlib.contextmanager
    def onnx(self, piece: Piece, values: Mapping[int, Array]) -> Iterator[Session]:
        """The nodes of a piece in ONNX Runtime; `values` tell dtypes and sizes of what they take."""
        from onnx import ValueInfoProto, helper

        read = {name for node in piece.nodes for name in names_read(node)}
        graph = helper.make_graph(
            list(piece.nodes),
            "piece",
            [_declared(name, values[number]) for number, name in piece.takes.items()],
            [ValueInfoProto(name=name) for name in piece.results.values()],
            [self.initializers[name] for name in sorted(read & set(self.initializers))],
        )
        opsets, version = list(self.model.opset_import), self.model.ir_version
        whole = helper.make_model(graph, opset_imports=opsets, ir_version=version)
        with scratch() as folder:
            (folder / "model.onnx").write_bytes(whole.SerializeToString())
            names = tuple(piece.takes.values()), tuple(piece.results.values())
            with onnxruntime.open(Runnable("onnx", folder, "model.onnx", *names), "cpu") as session:
                yield session

    def constants(self, piece: Piece) -> list[float]:
        """The single numbers that either program holds of a piece, zero and what no tensor reaches left out."""
        from onnx import numpy_helper

        told = [value for one in piece.operators for value in one.attributes.values() if isinstance(value, float)]
        for name in {name for node in piece.nodes for name in node.input} & set(self.initializers):
            value = numpy_helper.to_array(self.initializers[name])
            told += [float(value.ravel()[0])] if value.size == 1 and value.dtype.kind == "f" else []
        return [number for number in told if 0 < abs(number) < _LARGEST]

    def _parameters_of(self, operators: Iterable[Operator]) -> list[int]:
        return sorted(one.results[0].id for one in operators if one.name == "parameter")


@dataclass(frozen=True)
class Trial:
    """A piece in three sessions. `wide` is None where Paddle has no kernel in float64, `nodes` where they do not load.

    Rounding is looked into where an error ratio is above `budget`.
    """

    programs: Programs
    piece: Piece
    plain: Session
    wide: Session | None
    nodes: Session | None
    budget: float

    def off(self, point: Mapping[int, Array]) -> float | None:
        """The largest error ratio of the results at a point; None where Paddle takes no such values, or none tells."""
        fed = self.programs.fed(self.piece.operators, self.piece.reads, point)
        expected = _ran(self.plain, fed)
        if expected is None:
            return None
        got = _ran(self.nodes, {name: point[number] for number, name in self.piece.takes.items()})
        if got is None:
            return math.inf
        exact = _ran(self.wide, _wide(fed))
        off = self._furthest(expected, exact, got)
        if off is None or off <= self.budget or exact is None:
            return off
        moves = [_ran(self.wide, _moved(fed, ulps)) for ulps in _MOVES]
        return self._furthest(expected, exact, got, [move for move in moves if move is not None])

    def _furthest(
        self, expected: TensorMap, exact: TensorMap | None, got: TensorMap, moves: Sequence[TensorMap] = ()
    ) -> float | None:
        found = []
        for number, name in self.piece.results.items():
            own, least = value_name(number), (0.0, 0.0)
            if exact is not None and len(moves) == len(_MOVES):
                least = sensitivity(exact[own], *(move[own] for move in moves))
            found.append(distance(expected[own], exact[own] if exact else None, got[name], least))
        return max((off for off in found if off is not None), default=None)


@contextlib.contextmanager
def trial(
    programs: Programs, piece: Piece, scope: Scope, values: Mapping[int, Array], budget: float
) -> Iterator[Trial]:
    """Open the sessions of a piece; `values` are what it reads, for dtypes and sizes.

    Raises:
        EngineRefused: Paddle does not run the operator alone.
    """
    what = piece.operators, piece.reads, list(piece.results), scope
    with contextlib.ExitStack() as stack:
        plain = stack.enter_context(programs.paddle(*what, wide=False))
        wide = nodes = None
        with contextlib.suppress(EngineRefused):
            wide = stack.enter_context(programs.paddle(*what, wide=True))
        with contextlib.suppress(EngineRefused):
            nodes = stack.enter_context(programs.onnx(piece, values))
        yield Trial(programs, piece, plain, wide, nodes, budget)


def _declared(name: str, value: Array) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def _ran(session: Session | None, inputs: TensorMap) -> TensorMap | None:
    if session is None:
        return None
    try:
        return session.run(inputs)
    except EngineRefused:
        return None


def _wide(inputs: TensorMap) -> dict[str, Array]:
    return {name: value.astype("float64") if value.dtype == np.float32 else value for name, value in inputs.items()}


def _moved(inputs: TensorMap, ulps: int) -> dict[str, Array]:
    return {name: moved(value, at, ulps) for at, (name, value) in enumerate(_wide(inputs).items())}
