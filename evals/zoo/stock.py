"""What Paddle and paddle2onnx write by themselves, in a child, so that it can stand beside what the gate writes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from evals.zoo.exported import Row, Wish, refusal_of, source_of
from evals.zoo.network import Network
from exporter.base.errors import ExporterError
from exporter.base.readers import read
from exporter.base.registry import Registry
from exporter.export.lower.base import Artifact, Format
from exporter.export.lower.onnx_program.file import DEFAULT_OPSET
from exporter.export.trace.layer import load_layer
from exporter.export.trace.structure import leaves, numbered
from exporter.export.trace.traced import specs_from_json
from exporter.process.job import job
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.spec.model import Spec

#: The environment variable that names the command p2o; children read it too.
COMMAND = "P2O_COMMAND"
P2O = "p2o"


def artifacts(
    network: Network, spec: Spec, wish: Wish, folder: Path, setting: Setting
) -> Iterator[tuple[str, Artifact | Row]]:
    """Each format that stock is to write: the artifact under `folder`, or the row of a refusal.

    `p2o` is ONNX by another converter, in a folder of its own. An artifact's `outputs` stand in the order in which
    `forward` returns them, its `native_outputs` in the file's.
    """
    for name in wish.stock:
        kind = "onnx" if name == P2O else name
        into = place_of(folder, name) / kind
        into.mkdir(parents=True)
        request = {**source_of(spec), "network": network.key, "writer": name, "format": kind, "into": str(into)}
        request["pir"] = str(folder / "pir")
        try:
            answer = call(write, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE)
        except ExporterError as error:
            yield name, {**refusal_of(error), "why": (error.what.strip().splitlines() or [""])[-1][:300]}
            continue
        files = tuple(f"{kind}/{path.name}" for path in sorted(into.iterdir()))
        natives = tuple(answer["outputs"])
        places = answer["places"]
        ordered = [native for _, native in sorted(zip(places, natives, strict=True))] if places else natives
        yield name, Artifact(kind, "fp32", files, tuple(spec.inputs), tuple(ordered), natives)


def place_of(folder: Path, name: str) -> Path:
    """Where the artifact of that writer has its folder."""
    return folder / name if name == P2O else folder


@job
def parameters_of_forward(request: dict[str, Any]) -> dict[str, Any]:
    """What `forward` calls its inputs."""
    import inspect

    layer = load_layer(request["model"], None, 0)
    return {"names": list(inspect.signature(layer.forward).parameters)}


@job
def write(request: dict[str, Any]) -> dict[str, Any]:
    """`jit.save` with nothing around it but what the format needs; for ONNX, a converter on the stock `.json`."""
    import paddle
    from paddle.pir_utils import DygraphOldIrGuard

    name, into = request["writer"], Path(request["into"])
    formats: Registry[Format] = Registry("exporter.export.lower", "format")
    if name == P2O:
        program, parameters = (str(Path(request["pir"]) / f"model.{kind}") for kind in ("json", "pdiparams"))
        command = [os.environ[COMMAND], program, parameters, str(into / "model.onnx"), "--opset", str(DEFAULT_OPSET)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or [f"p2o ended with {done.returncode}"])[0])
        layer = load_layer(request["model"], None, request["seed"])
        places = _places(layer, request["network"])
    elif name == "onnx":
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
        layer = load_layer(request["model"], None, request["seed"])
        places = _places(layer, request["network"])
    else:
        layer = load_layer(request["model"], None, request["seed"])
        places = _places(layer, request["network"])
        specs = [
            paddle.static.InputSpec(
                [None if isinstance(size, str) else size for size in spec.shape], spec.dtype, spec.name
            )
            for spec in specs_from_json(request["inputs"])
        ]
        with DygraphOldIrGuard() if name == "pdmodel" else nullcontext():
            traced = paddle.jit.to_static(layer, input_spec=specs, full_graph=True, backend=None)
            paddle.jit.save(traced, str(into / "model"))
        (into / "model.pdiparams.info").unlink(missing_ok=True)
    natives = [one.name for one in read(into / formats[request["format"]].model).outputs]
    return {"outputs": natives, "places": places if len(places) == len(natives) else []}


def _places(layer: Any, key: str) -> list[int]:
    """For each output as Paddle orders them, its place among the tensors that `forward` returns.

    Paddle sorts the keys of a dict; the gate keeps the order in which `forward` writes them.
    """
    import numpy as np
    import paddle

    from evals.zoo.calibrated import drawn
    from evals.zoo.models import found

    network = found(key)
    draw = np.random.default_rng(7)
    sizes = {name: dim["typical"] for name, dim in network.dims.items()}
    arrays = [drawn(network, index, draw, sizes) for index in range(len(network.inputs))]
    with paddle.no_grad():
        result = layer(*(paddle.to_tensor(array) for array in arrays))
    if isinstance(result, (list, tuple)) and len(result) == 1:
        result = result[0]
    values = [value for _, value in leaves(result)]
    places = [int(place) for place in paddle.utils.flatten(numbered(result))]
    return [place for place in places if isinstance(values[place], paddle.Tensor)]
