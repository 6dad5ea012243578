"""A network in seconds instead of minutes: does each file come out, and does it compute what eager computes?

Two draws, one engine for each format, plain relative errors: enough to find what to look at, and no verdict.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evals.zoo import stock
from evals.zoo.calibrated import drawn
from evals.zoo.children import Laps
from evals.zoo.eager import eager_failure
from evals.zoo.exported import Row, Wish, convert, refusal_of, result, source_of, spec_of
from evals.zoo.models import found
from evals.zoo.network import Network
from exporter.base.errors import ExporterError
from exporter.base.registry import Registry
from exporter.engines.base import Engine, EngineRefused, Runnable
from exporter.engines.session import started
from exporter.export.lower.base import Artifact
from exporter.export.lower.convert import FORMATS
from exporter.export.trace.layer import load_layer
from exporter.export.trace.structure import leaves
from exporter.process.job import job
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call, doing
from exporter.spec.model import Spec

#: The largest difference, as a share of the largest value of the output, that still counts as the same.
NEAR = 1e-2
_ENGINE = {"pir": "paddle_inference", "pdmodel": "paddle_inference", "onnx": "onnxruntime"}


def quick(network: Network, wish: Wish, setting: Setting) -> dict[str, Any]:
    """A row like that of `judged`, whose words are `right`, `wrong`, `crashed` or `refused`."""
    with tempfile.TemporaryDirectory(prefix="zoo-") as place:
        draft, laps = Path(place), Laps()
        try:
            spec = spec_of(network, wish, setting)
        except ExporterError as error:
            return result(wish, {name: refusal_of(error) for name in wish.formats}, {}, eager=error.what)
        conversion, rows = convert(spec, draft, setting)
        laps.end("convert")
        made = conversion.artifacts if conversion else ()
        rows |= compared(network, spec, draft, made, setting)
        laps.end("compare")
        beside = quick_stock(network, spec, wish, draft / "stock", setting)
        laps.end("stock")
        failure = {} if made else eager_failure(network, spec, setting)
        return result(wish, rows, beside, processor=laps.seconds, **failure)


def quick_stock(network: Network, spec: Spec, wish: Wish, folder: Path, setting: Setting) -> dict[str, Row]:
    """A row for each format that stock is to write."""
    written = dict(stock.artifacts(network, spec, wish, folder, setting))
    rows = {name: row for name, row in written.items() if not isinstance(row, Artifact)}
    made = {name: artifact for name, artifact in written.items() if isinstance(artifact, Artifact)}
    for name in [name for name in made if name == stock.P2O]:
        rows[name] = compared(network, spec, stock.place_of(folder, name), [made.pop(name)], setting)["onnx"]
    return rows | compared(network, spec, folder, list(made.values()), setting)


def compared(network: Network, spec: Spec, folder: Path, made: Sequence[Artifact], setting: Setting) -> dict[str, Row]:
    """A row for each artifact by format; all in one child, and each in its own where that one dies."""
    if not made:
        return {}
    files = [
        {
            "engine": _ENGINE[artifact.format],
            "format": artifact.format,
            "folder": str(folder / artifact.format),
            "file": FORMATS[artifact.format].model,
            "names": list(artifact.inputs),
            "natives": list(artifact.native_outputs),
            "outputs": list(artifact.outputs),
        }
        for artifact in made
    ]
    request = {**source_of(spec), "network": network.key, "artifacts": files}
    try:
        answer = call(compare, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE)
    except ExporterError as error:
        if len(made) > 1:
            parts = (compared(network, spec, folder, [artifact], setting) for artifact in made)
            return {name: row for part in parts for name, row in part.items()}
        details = getattr(error, "details", "")[-300:]
        answer = {"rows": [{"word": "crashed", "why": f"{error.what} {details}"}]}
    return {
        artifact.format: {"checks": 1, "matches": int(row["word"] == "right"), **row}
        for artifact, row in zip(made, answer["rows"], strict=True)
    }


@job
def compare(request: dict[str, Any]) -> dict[str, Any]:
    """In a child: run eager on two draws, and each artifact; answer with the largest relative differences."""
    import paddle

    doing("building the layer")
    layer = load_layer(request["model"], request["checkpoint"], request["seed"])
    network = found(request["network"])
    draw = np.random.default_rng(7)
    draws = []
    for which in ("typical", "max"):
        sizes = {name: dim[which] for name, dim in network.dims.items()}
        arrays = [drawn(network, index, draw, sizes) for index in range(len(network.inputs))]
        with paddle.no_grad():
            result = layer(*(paddle.to_tensor(array) for array in arrays))
        if isinstance(result, (list, tuple)) and len(result) == 1:
            result = result[0]
        draws.append((arrays, result))
    return {"rows": [_differences(artifact, draws) for artifact in request["artifacts"]]}


def _differences(opened: dict[str, Any], draws: list[tuple[list[Any], Any]]) -> dict[str, Any]:
    import paddle

    engines: Registry[Engine] = Registry("exporter.engines", "engine")
    names = tuple(opened["names"])
    artifact = Runnable(opened["format"], Path(opened["folder"]), opened["file"], names, tuple(opened["natives"]))
    worst = 0.0
    doing(f"{opened['engine']} runs {opened['format']}")
    try:
        with started(engines[opened["engine"]], artifact, "cpu") as session:
            for arrays, result in draws:
                answer = session.run(dict(zip(names, arrays, strict=True)))
                eager = [value.numpy() for _, value in leaves(result) if isinstance(value, paddle.Tensor)]
                if len(answer) != len(eager):
                    return {"word": "wrong", "why": f"{len(answer)} outputs, not {len(eager)}"}
                for expected, value in zip(eager, (answer[name] for name in opened["outputs"]), strict=True):
                    if expected.shape != value.shape:
                        return {"word": "wrong", "why": f"shape {list(value.shape)}, not {list(expected.shape)}"}
                    worst = max(worst, difference(expected, value))
    except EngineRefused as error:
        return {"word": "crashed", "why": str(error)[:600]}
    return {"word": "right" if worst <= NEAR else "wrong", "why": f"differs by {worst:.3g}", "ratio": worst}


def difference(expected: Any, value: Any) -> float:
    """The largest difference as a share of the largest value; of integers the share that differs."""
    if expected.size == 0:
        return 0.0
    if expected.dtype.kind in "bi":
        return float((expected != value).mean())
    if not np.array_equal(np.isfinite(expected), np.isfinite(value)):
        return float("inf")
    finite = np.isfinite(expected)
    size = float(np.abs(expected[finite]).max(initial=0.0)) or 1.0
    return float(np.abs(expected[finite].astype("float64") - value[finite]).max(initial=0.0)) / size
