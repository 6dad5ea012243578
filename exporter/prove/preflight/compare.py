"""In children: the eager layer on the spec's cases, and in another process the exported program on the same."""

from __future__ import annotations

import math
import time
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from exporter.base.errors import ModelError
from exporter.base.tensors import Array, load, save_scratch
from exporter.check.probe.child import difference
from exporter.export.lower.convert import FORMATS, fixed_dims
from exporter.export.trace.blame import blamed
from exporter.export.trace.layer import load_layer
from exporter.export.trace.structure import leaves
from exporter.export.trace.traced import bind_inputs, trace
from exporter.paddle.predictor import Predictor
from exporter.paddle.user_line import is_librarys, origin, reported_to
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.prove.goldens.cases import Case, plan_cases
from exporter.prove.goldens.values import draw, real_rows
from exporter.spec.model import Spec

#: Seconds of processor time after which no further case is run, and bytes of inputs of one.
_SECONDS, _MOST_BYTES = 20.0, 1 << 26
#: numpy's kinds of dtype that an output may have: what the eager layer gives beside tensors may be any object.
_NUMBERS = "biufc"


#: Lines of code, by the path of their file.
Lines: TypeAlias = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class EagerRequest:
    """A spec with its checkpoint, the files whose lines are followed, and the file for inputs and outputs."""

    spec: Spec
    checkpoint: Path | None
    paths: tuple[str, ...]
    file: Path


@dataclass(frozen=True)
class EagerAnswer:
    """How many outputs each case has, the lines that ran in them, and those that ran while the layer was built.

    `few` says why so few cases are worth little; empty where they are worth something.
    """

    few: str
    leaves: tuple[int, ...]
    lines: Lines
    built: Lines


@dataclass(frozen=True)
class ProgramRequest:
    """A spec with its checkpoint, and the program: its format, its folder, its outputs by our names and in its order.

    `file` holds what the eager layer took and gave, with so many outputs in each case (`leaves`).
    """

    spec: Spec
    checkpoint: Path | None
    paths: tuple[str, ...]
    file: Path
    format: str
    program: Path
    outputs: tuple[str, ...]
    native: tuple[str, ...]
    leaves: tuple[int, ...]


@dataclass(frozen=True)
class ProgramAnswer:
    """How the program differs from the eager layer, empty where it does not, and the lines that the trace ran."""

    differs: str
    lines: Lines


@job(reuse="comparing the program: the eager layer")
def eager(request: EagerRequest) -> EagerAnswer:
    """Run the layer on the cases, one after the other; inputs and outputs go to `file`, the lines into the answer."""
    import paddle

    spec = request.spec
    doing("building the layer")
    with following(request.paths) as built:
        layer = load_layer(spec.factory, request.checkpoint, spec.seed)
    order = [bound.name for bound in bind_inputs(layer, spec.input_specs())]
    rows = real_rows(spec)
    tensors, counts, began = dict[str, Array](), list[int](), time.process_time()
    sizes: set[tuple[tuple[str, int], ...]] = set()
    with following(request.paths) as ran:
        for case in sorted(plan_cases(spec), key=_effort):
            inputs = draw(spec, case, rows)
            if sum(value.nbytes for value in inputs.values()) > _MOST_BYTES or not all(map(np.size, inputs.values())):
                continue
            if counts and time.process_time() - began > _SECONDS:
                break
            doing(f"running the layer on case {case.name}")
            try:
                with blamed(f"case {case.name}", layer), paddle.no_grad():
                    given = layer(*[paddle.to_tensor(inputs[name]) for name in order])
            except ModelError:
                if not case.kind:  # strange values are no promise
                    raise
                continue
            outputs = [leaf for _, leaf in leaves(given)]
            at = len(counts)
            tensors |= {f"{at}/input/{name}": value for name, value in inputs.items()}
            arrays = {f"{at}/output/{n}": _array(leaf) for n, leaf in enumerate(outputs)}
            tensors |= {key: array for key, array in arrays.items() if array.dtype.kind in _NUMBERS}
            counts.append(len(outputs))
            sizes.add(tuple(sorted(case.dims.items())))
    save_scratch(request.file, tensors)
    few = (
        "" if len(sizes) > 1 or all(dim.min == dim.max for dim in spec.dims.values()) else "one size alone could be run"
    )
    return EagerAnswer(few, tuple(counts), _sorted(ran), _sorted(built))


@job(reuse="comparing the program")
def program(request: ProgramRequest) -> ProgramAnswer:
    """Trace the layer for the lines that the trace runs, run the written program, and compare; `differs` says how."""
    spec = request.spec
    doing("building the layer")
    layer = load_layer(spec.factory, request.checkpoint, spec.seed)
    doing("tracing")
    with following(request.paths) as ran, FORMATS[request.format].session(None):
        trace(layer, spec.input_specs(), spec.outputs, fixed_dims(spec), spec.dims)
    doing("running the program")
    written = Predictor(request.program / "model")
    tensors, differs = load(request.file), ""
    for at, count in enumerate(request.leaves):
        prefix = f"{at}/input/"
        inputs = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
        got = dict(zip(request.native, written.run(inputs), strict=True))
        wanted = {name: tensors.get(f"{at}/output/{n}") for n, name in enumerate(request.outputs[:count])}
        if count != len(request.outputs):
            differs = f"eager gives {count} outputs, the program {len(request.outputs)}"
        differs = differs or next(filter(None, (_difference(name, wanted[name], got[name]) for name in wanted)), "")
        if differs:
            break
    return ProgramAnswer(differs, _sorted(ran))


def _sorted(ran: Mapping[str, set[int]]) -> Lines:
    return {path: tuple(sorted(lines)) for path, lines in ran.items()}


def _effort(case: Case) -> tuple[bool, int]:
    """What the spec promises comes first, and the smaller before the larger: sizes tell more than strange values."""
    return bool(case.kind), math.prod(case.dims.values())


def _difference(name: str, wanted: Array | None, got: Array) -> str:
    return f"eager gives no tensor as output '{name}'" if wanted is None else difference(wanted, got)


def _array(leaf: Any) -> Array:
    return np.array(leaf.numpy() if hasattr(leaf, "numpy") else leaf)


@contextmanager
def following(paths: Sequence[str]) -> Iterator[dict[str, set[int]]]:
    """Inside the block, collect the lines of these files that run, also where dy2static runs its own copy of them."""
    ran: dict[str, set[int]] = {path: set() for path in paths}

    def step(frame: types.FrameType, event: str, arg: Any) -> Any:
        path, line = origin(frame)
        if path != frame.f_code.co_filename:
            path = str(Path(path).resolve())
        if path in ran:
            ran[path].add(line)
        return step

    def enter(frame: types.FrameType, event: str, arg: Any) -> Any:
        followed = frame.f_code.co_filename in ran or not is_librarys(frame)
        return step if followed else None

    with reported_to(enter):
        yield ran
