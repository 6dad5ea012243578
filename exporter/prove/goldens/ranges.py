"""The fp16 scan: the range of every operator's values in float64, on recorded cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from exporter.base.readers import read_program
from exporter.base.tensors import Array, TensorMap, recorded_inputs
from exporter.engines.consumers.check import LayerRange
from exporter.engines.consumers.program import Place
from exporter.engines.paddle import border, call_layer
from exporter.process.job import job
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call, doing
from exporter.prove.goldens.oracle import Oracle, make_oracle

if TYPE_CHECKING:
    import paddle

    from exporter.prove.root_cause.watch import Call

#: Cases that are run, the first ones recorded: ranges hardly differ between sizes, and each run keeps every value.
MOST_CASES = 12


@dataclass(frozen=True)
class ScanRequest:
    """A program that is a file, its parameters (None: it has none), and the recorded cases to run it on."""

    program: Path
    parameters: Path | None
    golden: Path
    cases: tuple[str, ...]


@dataclass(frozen=True)
class Scan:
    """The range of each operator over all cases, in the order of the program; `exact` says that it ran in float64."""

    ranges: tuple[LayerRange, ...]
    exact: bool


def scan_ranges(request: ScanRequest, setting: Setting) -> Scan:
    """Run the scan in a child.

    Raises:
        ModelError, UsageError, EnvironmentLacks: the program does not run here, operator by operator.
    """
    setting.say(f"measuring the ranges of {request.program.name}, {len(request.cases)} cases")
    return call(scan, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=setting.on_event)


@job
def scan(request: ScanRequest) -> Scan:
    """Run the program in float64, operator by operator, on each case; in float32 where it cannot run in float64."""
    from exporter.export.sources.program import build

    facts = read_program(request.program)
    order = tuple(spec.name for spec in facts.inputs)
    doing("building the program")
    layer = build(str(request.program), order, str(request.parameters or ""))
    oracle = make_oracle(layer, order, tuple(spec.name for spec in facts.outputs), 0, lean=True)
    ranges: dict[str, LayerRange] = {}
    exact = True
    for case in request.cases:
        doing(f"running {case}")
        calls, wide = _watched(oracle, recorded_inputs(request.golden, case, order))
        exact &= wide
        for call_ in calls:
            if call_.operator and (measured := _range(call_)) is not None:
                known = ranges.get(call_.path)
                ranges[call_.path] = measured if known is None else _joined(known, measured)
    return Scan(tuple(ranges.values()), exact)


def _watched(oracle: Oracle, inputs: TensorMap) -> tuple[Sequence[Call], bool]:
    """The calls of a run in float64, if the layer has a true way to run so; else of the one in float32, and False."""
    from exporter.prove.root_cause.watch import watching

    def run(layer: paddle.nn.Layer, given_inputs: TensorMap) -> Sequence[Call]:
        with watching(layer) as calls, border():
            call_layer(layer, oracle.order, given_inputs)
        return calls

    oracle.exactly(lambda exact: exact(inputs))
    if not oracle.ways:
        return run(oracle.eager, inputs), False
    way = oracle.ways[0]
    wide = {name: value.astype("float64") if value.dtype.kind == "f" else value for name, value in inputs.items()}
    with way.around:
        return run(way.layer(), wide), True


def _range(seen: Call) -> LayerRange | None:
    """The range of what one operator put out; None where that is no number with a fraction, or all 0."""
    values = np.concatenate([*_magnitudes(seen.outputs), np.zeros(0)])
    if not values.size:
        return None
    layer = seen.path.rpartition(".operator ")[0]
    number = seen.path.rpartition("operator ")[2]
    return LayerRange(
        Place(seen.kind, f"operator {number}", layer, seen.line), values.max().item(), values.min().item()
    )


def _magnitudes(outputs: Iterable[Array]) -> Iterable[Array]:
    """Finite values that are not 0, without sign: an infinity is one in float16 as well."""
    for value in outputs:
        if value.dtype.kind == "f":
            magnitude = np.abs(value.astype("float64"))
            yield magnitude[np.isfinite(magnitude) & (magnitude > 0)]


def _joined(known: LayerRange, measured: LayerRange) -> LayerRange:
    largest, smallest = max(known.largest, measured.largest), min(known.smallest, measured.smallest)
    return LayerRange(known.place, largest, smallest)
