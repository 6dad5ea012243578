"""What Paddle and paddle2onnx write by themselves, in a child, so that it can stand beside what the gate writes."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from exporter.lower.base import Artifact, Format
from exporter.lower.onnx import DEFAULT_OPSET
from exporter.registry import Registry
from exporter.trace.layer import load_layer
from exporter.trace.traced import specs_from_json
from exporter.workers import SINGLE_THREAD

ENVIRONMENT = {**SINGLE_THREAD, "POLYGRAPHY_AUTOINSTALL_DEPS": "0"}


def parameters_of_forward(request: dict[str, Any]) -> dict[str, Any]:
    """What `forward` calls its inputs."""
    import inspect

    layer = load_layer(request["model"], None, 0)
    return {"names": list(inspect.signature(layer.forward).parameters)}


def write(request: dict[str, Any]) -> dict[str, Any]:
    """`jit.save` with nothing around it but what the format needs; for ONNX, paddle2onnx on the stock `.json`."""
    import paddle
    from paddle.pir_utils import DygraphOldIrGuard

    name, into = request["format"], Path(request["into"])
    formats: Registry[Format] = Registry("exporter.lower", "format")
    if name == "onnx":
        import paddle2onnx

        content = paddle2onnx.export(
            os.fspath(Path(request["pir"]) / "model.json"),
            os.fspath(Path(request["pir"]) / "model.pdiparams"),
            save_file=None,
            opset_version=DEFAULT_OPSET,
            enable_onnx_checker=True,
            optimize_tool="None",
        )
        if not content:
            raise RuntimeError("paddle2onnx gave nothing")
        (into / "model.onnx").write_bytes(content)
    else:
        layer = load_layer(request["model"], None, request["seed"])
        specs = [
            paddle.static.InputSpec(
                [None if isinstance(size, str) else size for size in one.shape], one.dtype, one.name
            )
            for one in specs_from_json(request["inputs"])
        ]
        with DygraphOldIrGuard() if name == "pdmodel" else nullcontext():
            traced = paddle.jit.to_static(layer, input_spec=specs, full_graph=True, backend=None)
            paddle.jit.save(traced, str(into / "model"))
        (into / "model.pdiparams.info").unlink(missing_ok=True)
    return {"outputs": list(formats[name].interface(into)[1])}


def artifact(name: str, folder: Path, inputs: list[str], outputs: list[str]) -> Artifact:
    """What the child wrote, as the gate's engines open it."""
    files = tuple(f"{name}/{path.name}" for path in sorted(folder.iterdir()))
    return Artifact(name, "fp32", files, tuple(inputs), tuple(outputs), tuple(outputs))
