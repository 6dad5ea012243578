"""How a find is shown: exported and verified by the command line; a converter's own file put in the place of ours."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from exporter.files import write_json
from exporter.lower._stored import stored_digests
from exporter.workers import call
from tests import faults
from tests.command import ROOT, Done, environment, exporter
from tests.finds.catalogue import Find


def bundle_of(find: Find, into: Path) -> Path:
    """Export the network; nothing of it is verified yet."""
    inputs = [word for one in find.inputs for word in ("--input", one)]
    inputs += [word for one in find.dims for word in ("--dim", one)]
    inputs += [word for one in find.values for word in ("--values", one)]
    model = f"tests.finds.networks:{find.model}"
    made = _run(into, "convert", model, *inputs, "--formats", find.formats, "--out", into)
    assert made.code == 0, made.err
    if find.stock:
        put_stock_onnx(into)
    return into


def verified(bundle: Path, find: Find, as_json: bool) -> Done:
    """Verify it on the engine that is wrong."""
    more = ["--json"] if as_json else []
    return _run(bundle, "verify", bundle, "--engines", find.engine, "--source", ROOT, *more)


def _run(bundle: Path, *arguments: str | Path) -> Done:
    return exporter(*arguments, cwd=bundle.parent, env=environment(PYTHONPATH=str(ROOT)))


def put_stock_onnx(bundle: Path) -> None:
    """Let the bundle hold what `paddle2onnx` makes of the model by itself, and say so in its manifest."""
    manifest = bundle / "manifest.json"
    content: dict[str, Any] = json.loads(manifest.read_bytes())
    request = {
        "model": content["spec"]["model"],
        "seed": content["spec"]["seed"],
        "inputs": content["inputs"],
        "outputs": [one["name"] for one in content["outputs"]],
        "into": str(bundle / "onnx" / "model.onnx"),
    }
    call("tests.finds.show:stock_onnx", request, environment={"POLYGRAPHY_AUTOINSTALL_DEPS": "0"})
    variant = content["variants"]["onnx"]
    variant["weights"] = stored_digests(variant["files"], bundle)
    variant["native_outputs"] = variant["outputs"] = request["outputs"]
    variant["details"] = {"writer_asked": "paddle2onnx", "opset_asked": 17, "opset": 17}
    write_json(manifest, content)
    faults.reseal(bundle)


def stock_onnx(request: dict[str, Any]) -> dict[str, Any]:
    """In a child: save the layer by `paddle.jit.save` and convert it by `paddle2onnx.export`, with their defaults.

    Only the outputs are called as the bundle's are: names are what is looked at first.
    """
    import onnx
    import paddle
    import paddle2onnx

    from exporter.trace.layer import load_layer

    layer = load_layer(request["model"], None, request["seed"])
    shapes = [[-1 if isinstance(size, str) else size for size in one["shape"]] for one in request["inputs"]]
    specs = [
        paddle.static.InputSpec(shape, one["dtype"], one["name"])
        for shape, one in zip(shapes, request["inputs"], strict=True)
    ]
    with tempfile.TemporaryDirectory() as place:
        paddle.jit.save(layer, os.fspath(Path(place) / "model"), input_spec=specs)
        files = [os.fspath(Path(place) / name) for name in ("model.json", "model.pdiparams")]
        paddle2onnx.export(*files, save_file=request["into"], optimize_tool="None")
    model = onnx.load(request["into"])
    ours = dict(zip([one.name for one in model.graph.output], request["outputs"], strict=True))
    for one in model.graph.output:
        one.name = ours[one.name]
    for node in model.graph.node:
        for side in (node.input, node.output):
            side[:] = [ours.get(name, name) for name in side]
    onnx.save(model, request["into"])
    return {}
