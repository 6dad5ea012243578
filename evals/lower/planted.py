"""Lowering faults, each to be found at its node: `python -m evals.lower.planted [--each N] [NETWORK ...]`.

In each network of `planted_networks`, each fault of `planted_faults` is planted alone in the ONNX file that
`writer: program` wrote. Then every operator is judged at its own inputs (`exporter/prove/root_cause/operators/`), and
the fault is *found* where the first operator that is wrong is the one whose nodes hold it. It is *hidden* where the
network's output on the recorded case is that of the sound file within the gate's budget, so that no comparison of
outputs would tell. Faults that make a file which ONNX Runtime does not run are left out: they show by themselves.
A fault that is not found counts as *equivalent* where the operator's nodes give the same with and without it in 400
draws, within rounding: from normal and wide distributions, of integers, halves, and the operator's own constants.
"""

from __future__ import annotations

import argparse
import copy
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from evals.lower.planted_faults import Fault, faults
from evals.lower.planted_networks import NETWORKS, build
from exporter.base.readers.program import read_operators
from exporter.base.tensors import TensorSpec, save_scratch
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace
from exporter.process.workers import PADDLE, SINGLE_THREAD, Limits, call
from exporter.prove.root_cause.operators.child import judge, whole
from exporter.prove.root_cause.operators.judge import JudgedOperator, JudgeRequest, first_wrong
from exporter.prove.root_cause.operators.pieces import Piece, pieces_of
from exporter.prove.root_cause.operators.sessions import Programs

BUDGET = 4.0
#: How often the nodes of an operator are asked whether a fault makes a difference.
_DRAWS = 400
_CASE = "case"
#: Not found, since Paddle's own kernel is as far off: its softplus and mish take log(1 + exp(x)), its celu exp(x) - 1,
#: all in float32. These faults undo what makes the file better than that.
AS_PADDLE = {
    ("attention", "Div.1: operands swapped"),
    ("attention", "Where.2: branches swapped"),
    ("norms", "Div.0: operands swapped"),
    ("norms", "Where.3: branches swapped"),
    ("norms", "Where.5: branches swapped"),
}


@dataclass(frozen=True)
class Planted:
    """One fault and what became of it; `blamed` is the first operator that is wrong, None where none is."""

    network: str
    fault: Fault
    hidden: bool
    blamed: JudgedOperator | None
    equivalent: bool = False

    @property
    def as_paddle(self) -> bool:
        """Whether the faulty file errs no more than Paddle itself does."""
        return (self.network, self.fault.what) in AS_PADDLE

    @property
    def found(self) -> bool:
        """Whether the operator to blame is the one whose nodes hold the fault."""
        return self.blamed is not None and self.fault.what.partition(":")[0] in self.blamed.nodes


@dataclass(frozen=True)
class Written:
    """A network as both programs, and the case that is recorded of it."""

    folder: Path
    inputs: dict[str, Any]
    model: Any

    def judged(self, model: Any) -> tuple[JudgedOperator, ...]:
        """Every operator of a model that was made of the written one."""
        file = self.folder / "judged.onnx"
        file.write_bytes(model.SerializeToString())
        request = JudgeRequest(self.folder / "pir", file, self.folder / "golden.safetensors", _CASE, BUDGET)
        return call(judge, request, Limits(), environment=SINGLE_THREAD, imports=PADDLE).operators

    def alike(self, model: Any, node: int) -> bool:
        """Whether the nodes of the operator that node `node` is of give what they give in the written model."""
        sound = Programs.of(self.folder / "pir", self.model)
        name = self.model.graph.node[node].name
        piece, changed = (_piece(one, name, self.folder) for one in (sound.model, model))
        values = {number: np.zeros(_sizes(sound, number), sound.source.dtype(number)) for number in piece.takes}
        shapes = {number: value.shape for number, value in values.items() if value.dtype.kind == "f"}
        with sound.onnx(piece, values) as plain, Programs.of(self.folder / "pir", model).onnx(changed, values) as other:
            for draw in _draws(shapes, sound.constants(piece)):
                given = {piece.takes[number]: value for number, value in {**values, **draw}.items()}
                if not _alike(list(plain.run(given).values()), list(other.run(given).values())):
                    return False
        return True

    def outputs(self, model: Any) -> list[Any] | None:
        """What a model puts out in the case; None where ONNX Runtime does not run it."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        try:
            session = onnxruntime.InferenceSession(model.SerializeToString(), options)
            return list(session.run(None, self.inputs))
        except Exception:  # noqa: BLE001 - ONNX Runtime raises many types
            return None


def network_files(network: str, folder: Path) -> Written:
    """Trace a network, write it in both formats, and record one case."""
    spec = NETWORKS[network][1]
    (folder / "pir").mkdir(parents=True)
    (folder / "onnx").mkdir()
    with pir_format.session(None):
        traced = trace(build(network), (spec,), None, {})
        pir_format.write(traced, None, folder / "pir", Wish())
    wish = Wish(inputs=(spec,))
    onnx_format.write(None, folder / "pir", folder / "onnx", wish)
    inputs = {spec.name: _values(spec)}
    save_scratch(folder / "golden.safetensors", {f"{_CASE}/input/{name}": value for name, value in inputs.items()})
    return Written(folder, inputs, onnx.load_model(str(folder / "onnx/model.onnx")))


def _piece(model: Any, name: str, folder: Path) -> Piece:
    programs = Programs.of(folder / "pir", model)
    scope = whole(read_operators(folder / "pir/model.json"), programs)
    return next(one for one in pieces_of(scope) if name in [node.name for node in one.nodes])


def _sizes(programs: Programs, number: int) -> list[int]:
    return [size if size >= 0 else 2 for size in programs.source.types[number]["D"][1]]


def _values(spec: TensorSpec) -> Any:
    sizes = [size if isinstance(size, int) else 2 for size in spec.shape]
    return np.random.default_rng(0).standard_normal(sizes).astype(spec.dtype)


def plant_all(network: str, folder: Path, each: int | None = None) -> Iterator[Planted]:
    """Plant every fault of a network, or the first `each` of every kind."""
    sound = network_files(network, folder)
    expected = sound.outputs(sound.model)
    assert expected is not None
    seen: Counter[str] = Counter()
    for fault in faults(sound.model):
        if each is not None and seen[fault.kind] >= each:
            continue
        model = copy.deepcopy(sound.model)
        fault.plant(model)
        got = sound.outputs(model)
        if got is None:
            continue
        seen[fault.kind] += 1
        blamed = first_wrong(sound.judged(model), BUDGET)
        equivalent = blamed is None and sound.alike(model, fault.node)
        yield Planted(network, fault, _alike(expected, got), blamed, equivalent)


def _draws(shapes: dict[int, Any], constants: list[float]) -> Iterator[dict[int, Any]]:
    """Inputs of these shapes, of kinds in turn."""
    generator = np.random.default_rng(5)
    beside = np.array([0.0, *constants, *(-one for one in constants)])
    for _ in range(_DRAWS // 4):
        for kind in range(4):
            yield {number: _drawn(generator, shape, kind, beside) for number, shape in shapes.items()}


def _drawn(generator: np.random.Generator, shape: tuple[int, ...], kind: int, beside: Any) -> Any:
    if kind == 0:
        drawn = generator.standard_normal(shape) * 3
    elif kind == 1:
        drawn = generator.choice([-1, 1], shape) * 10.0 ** generator.uniform(-6, 4, shape)
    elif kind == 2:
        drawn = generator.integers(-12, 13, shape) / 2
    else:
        drawn = generator.choice(beside, shape) * (1 + generator.choice([0, 1, -1], shape) * 0.01)
    return np.asarray(drawn).astype("float32")


def _alike(expected: Sequence[Any], got: Sequence[Any]) -> bool:
    return all(
        one.shape == other.shape and np.allclose(one, other, rtol=4 * 4 * 2.0**-24, atol=0, equal_nan=True)
        for one, other in zip(expected, got, strict=True)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS), metavar="NETWORK")
    parser.add_argument("--each", type=int, help="as many faults of each kind and network; without it all")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    missed = 0
    for network in options.networks:
        with tempfile.TemporaryDirectory() as place:
            for one in plant_all(network, Path(place), options.each):
                counted = counts.setdefault(one.fault.kind, Counter())
                if one.equivalent:
                    print(f"equivalent: {network} {one.fault.kind}, {one.fault.what}", flush=True)
                    counted.update(equivalent=1)
                    continue
                counted.update(planted=1, found=one.found, hidden=one.hidden, both=one.found and one.hidden)
                missed += not one.found and not one.as_paddle
                blamed = "nothing" if one.blamed is None else str(one.blamed)
                state = "found" if one.found else "as Paddle" if one.as_paddle else "MISSED"
                hidden = ", hidden" if one.hidden else ""
                print(f"{state}{hidden}: {network} {one.fault.kind}, {one.fault.what} -> {blamed}", flush=True)
    print(f"{'kind':<16}{'planted':>9}{'found':>7}{'hidden':>8}{'found of these':>16}{'equivalent':>12}")
    whole: Counter[str] = sum(counts.values(), Counter())
    for kind, counted in [*sorted(counts.items()), ("all", whole)]:
        print(f"{kind:<16}" + "".join(f"{counted[key]:>{width}}" for key, width in _COLUMNS))
    return 1 if missed else 0


_COLUMNS = (("planted", 9), ("found", 7), ("hidden", 8), ("both", 16), ("equivalent", 12))


if __name__ == "__main__":
    sys.exit(main())
