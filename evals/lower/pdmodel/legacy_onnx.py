"""ONNX as the product makes it, for the tables: trace, write PIR, convert; and an ONNX Runtime session of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx
from exporter.export.lower.kinds.pir import plugin as pir
from exporter.export.trace.traced import trace


def export_onnx(layer: Any, specs: list[Any], folder: Path, writer: str = "program") -> list[str]:
    """Write `onnx/model.onnx`; return the outputs' names in the order that `forward` returns them.

    `specs` are Paddle's InputSpecs; a size of None becomes a dim with a name of its own.
    """
    inputs = tuple(
        TensorSpec(
            one.name,
            str(one.dtype).rpartition(".")[2],
            tuple(f"{one.name}{at}" if size in (None, -1) else size for at, size in enumerate(one.shape)),
        )
        for one in specs
    )
    wish = Wish(inputs=inputs, writer=writer)
    chosen = onnx.chosen(wish)
    (folder / "pir").mkdir()
    (folder / "onnx").mkdir()
    with chosen.session(None):
        traced = trace(layer, inputs, None, {})
        pir.write(traced, None, folder / "pir", Wish())
        chosen.write(traced, folder / "pir", folder / "onnx", wish)
    return [one.name for one in traced.outputs]


def open_onnx(model: Any) -> Any:
    """A session of a file's path or bytes in one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
