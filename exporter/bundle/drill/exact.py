"""An artifact in float64: the same program with every float32 widened, to see what a fault does without rounding.

It measures a fault in the artifact itself, in whatever format and whether or not the source is at hand. That the
widened artifact is true is not assumed: without a fault it must give the truth that the oracle recorded (measured:
equal bit for bit for PIR and `.pdmodel`, within 3e-9 of e_ref for ONNX; 0.4 where layers are folded, since that rounds
weights once).
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.readers.base import map_file
from exporter.base.readers.external import data_of
from exporter.base.readers.framework import DTYPES
from exporter.base.readers.kinds.onnx import read_onnx
from exporter.base.readers.kinds.pdiparams import weights
from exporter.base.registry import Registry
from exporter.base.tensors import Array, TensorMap
from exporter.bundle.drill.lengths import recurrent
from exporter.bundle.drill.material import PROGRAMS
from exporter.engines.base import Engine, EngineRefused, Runnable, Session, Settings
from exporter.export.lower.base import Artifact, is_program
from exporter.prove.root_cause.taps.base import varint

_ENGINES: Registry[Engine] = Registry("exporter.engines", "engine")
#: What runs a widened artifact, the most able first. ONNX Runtime has no float64 kernels for convolutions, the
#: reference evaluator of the onnx package none for a bidirectional LSTM.
WAYS = {"pir": ("jit_load",), "pdmodel": ("jit_load",), "onnx": ("onnx.reference", "onnxruntime")}
_NUMBERS = {name: number for number, name in DTYPES.items()}


def widen(artifact: Artifact, folder: Path, into: Path) -> None:
    """Write the artifact of `folder` below `into`, every float32 in it widened to float64."""
    for name in artifact.files:
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".pdiparams"):
            _widen_parameters(folder / name, target)
        elif is_program(name):
            program = PROGRAMS[artifact.format].parse(_whole(folder / name))
            program.widen()
            target.write_bytes(program.encode())


@contextlib.contextmanager
def open_exact(artifact: Runnable, way: str) -> Iterator[Session]:
    """Open a widened artifact in one of the `WAYS` of its format.

    Raises:
        EngineRefused: it does not load.
    """
    if way == "onnx.reference":
        yield _Reference(artifact.path)
        return
    with _ENGINES[way].open(artifact, "cpu") as session:
        yield session


class _Reference:
    """ONNX in numpy, operator by operator (`onnx.reference`)."""

    provider = "onnx.reference"
    settings = Settings({}, {"precision": "float64"})

    def __init__(self, path: Path) -> None:
        from onnx.reference import ReferenceEvaluator

        with _border():
            self._evaluator: Any = ReferenceEvaluator(str(path), new_ops=recurrent())

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        with _border():
            values = self._evaluator.run(None, dict(inputs))
        return dict(zip(self._evaluator.output_names, map(np.asarray, values), strict=True))


@contextlib.contextmanager
def _border() -> Iterator[None]:
    """It raises what its numpy code happens to raise."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError) as error:
        raise EngineRefused(f"{type(error).__name__}: {str(error).strip()[:300]}") from error


def _whole(program: Path) -> bytes:
    """The bytes of a program, with those tensors in it that lie in a file beside it."""
    if not data_of(program).exists():
        return program.read_bytes()
    import onnx

    model, content = onnx.load(program, load_external_data=False), map_file(data_of(program))
    places = {weight.name: weight.pieces[0] for weight in read_onnx(program).weights if weight.file}
    for tensor in model.graph.initializer:
        if tensor.name in places:
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
            tensor.raw_data = content[slice(*places[tensor.name])]
    whole: bytes = model.SerializeToString()
    return whole


def _widen_parameters(source: Path, target: Path) -> None:
    content = map_file(source)
    with target.open("wb") as stream:
        for weight in weights(content, str(source)):
            value = weight.array(content)
            wide = value.astype("<f8") if weight.dtype == "float32" else value
            number = _NUMBERS["float64" if weight.dtype == "float32" else weight.dtype]
            # TensorDesc: data_type = 1, dims = 2, each dim a varint of its own; see base/readers/kinds/pdiparams.py.
            about = b"\x08" + varint(number) + b"".join(b"\x10" + varint(size) for size in weight.shape)
            stream.write(struct.pack("<IQIi", 0, 0, 0, len(about)) + about + wide.tobytes())
