"""A network in seconds instead of minutes: does each file come out, and does it compute what eager computes?

Two draws, one engine for each format, plain relative errors: enough to find what to look at, and no verdict.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from exporter.engines._session import started
from exporter.engines.base import Engine, EngineRefused, Runnable
from exporter.errors import ExporterError
from exporter.lower._convert import FORMATS
from exporter.lower.base import Artifact
from exporter.registry import Registry
from exporter.spec.model import Spec
from exporter.trace.layer import load_layer
from exporter.trace.structure import leaves, numbered
from exporter.workers import Setting, call, doing
from tests.zoo import stock
from tests.zoo.calibrated import drawn
from tests.zoo.judged import Wish, convert, refusal_of, source_of, spec_of
from tests.zoo.models import found
from tests.zoo.networks import Network

#: The largest difference, as a share of the largest value of the output, that still counts as the same.
NEAR = 1e-2
_ENGINE = {"pir": "paddle_inference", "pdmodel": "paddle_inference", "onnx": "onnxruntime"}


def quick(network: Network, wish: Wish, setting: Setting) -> dict[str, Any]:
    """A row like that of `judged`, whose words are `right`, `wrong`, `crashed` or `refused`."""
    with tempfile.TemporaryDirectory(prefix="zoo-") as place:
        draft = Path(place)
        try:
            spec = spec_of(network, wish, setting)
        except ExporterError as error:
            return {"formats": {name: refusal_of(error) for name in wish.formats}, "stock": {}}
        conversion, rows = convert(spec, draft, setting)
        made = [_opened(draft, artifact, ours=True) for artifact in conversion.artifacts] if conversion else []
        beside: dict[str, Any] = {}
        if wish.stock:
            written, beside = _stock(spec, draft / "stock", setting)
            made += written
        for opened, row in zip(made, _compared(network, spec, made, setting), strict=True):
            (rows if opened["ours"] else beside)[opened["format"]] = row
        return {"formats": {name: rows[name] for name in wish.formats}, "stock": beside}


def _stock(spec: Spec, folder: Path, setting: Setting) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    into = folder / "pir"
    into.mkdir(parents=True)
    request = {**source_of(spec), "format": "pir", "into": str(into), "pir": ""}
    try:
        answer = call("tests.zoo.stock:write", request, setting.limits, environment=stock.ENVIRONMENT)
    except ExporterError as error:
        return [], {"pir": {**refusal_of(error), "why": (error.what.strip().splitlines() or [""])[-1][:300]}}
    written = stock.artifact("pir", into, list(spec.inputs), answer["outputs"])
    return [_opened(folder, written, ours=False)], {}


def _opened(folder: Path, artifact: Artifact, *, ours: bool) -> dict[str, Any]:
    return {
        "engine": _ENGINE[artifact.format],
        "format": artifact.format,
        "folder": str(folder / artifact.format),
        "file": FORMATS[artifact.format].model,
        "names": list(artifact.inputs),
        "natives": list(artifact.native_outputs),
        "ours": list(artifact.outputs) if ours else None,
    }


def _compared(network: Network, spec: Spec, made: list[dict[str, Any]], setting: Setting) -> list[dict[str, Any]]:
    """A row for each artifact; all in one child, and each in its own where that one dies."""
    try:
        request = {**source_of(spec), "network": network.key, "artifacts": made}
        answers = call("tests.zoo.quick:compare", request, setting.limits)["rows"]
    except ExporterError as error:
        if len(made) > 1:
            return [row for one in made for row in _compared(network, spec, [one], setting)]
        details = getattr(error, "details", "")[-300:]
        answers = [{"word": "crashed", "why": f"{error.what} {details}"} for _ in made]
    return [{"checks": 1, "matches": int(answer["word"] == "right"), **answer} for answer in answers]


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
    engines: Registry[Engine] = Registry("exporter.engines", "engine")
    names = tuple(opened["names"])
    artifact = Runnable(opened["format"], Path(opened["folder"]), opened["file"], names, tuple(opened["natives"]))
    worst = 0.0
    doing(f"{opened['engine']} runs {opened['format']}")
    try:
        with started(engines[opened["engine"]], artifact, "cpu") as session:
            for arrays, result in draws:
                answer = session.run(dict(zip(names, arrays, strict=True)))
                eager = [leaf.numpy() for _, leaf in leaves(result)]
                if len(answer) != len(eager):
                    return {"word": "wrong", "why": f"{len(answer)} outputs, not {len(eager)}"}
                for expected, value in zip(eager, _in_order(answer, result, opened), strict=True):
                    if expected.shape != value.shape:
                        return {"word": "wrong", "why": f"shape {list(value.shape)}, not {list(expected.shape)}"}
                    worst = max(worst, difference(expected, value))
    except EngineRefused as error:
        return {"word": "crashed", "why": str(error)[:600]}
    return {"word": "right" if worst <= NEAR else "wrong", "why": f"differs by {worst:.3g}", "ratio": worst}


def _in_order(answer: dict[str, Any], result: Any, request: dict[str, Any]) -> list[Any]:
    """The engine's outputs in the order that `forward` returns them: ours by name, stock's by Paddle's order."""
    if request["ours"]:
        return [answer[name] for name in request["ours"]]
    import paddle

    places = [int(place) for place in paddle.utils.flatten(numbered(result))]
    values: list[Any] = [None] * len(places)
    for name, place in zip(request["natives"], places, strict=True):
        values[place] = answer[name]
    return values


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
