"""Load and run ONNX files by the engines of this Python; it needs no more than NumPy and those.

`python engines.py FOLDER`, which holds `NAME/model.onnx`, `NAME/inputs.npz` and what is right, `NAME/outputs.npz`.
One line of JSON for each network and engine says `right`, `wrong`, or why it did not run.
`python engines.py KIT ENGINE OUT`: answers a kit of `exporter kit` into the folder OUT, as the kit's own program does.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

#: What runs a model once: named inputs to the outputs in their order.
Run = Callable[[Any], "list[Any]"]
#: A relative error beyond it is another answer; kernels of float32 stay four decades below.
_RIGHT = 1e-2


def opencv(model: Path, inputs: Sequence[str], outputs: list[str]) -> Run:
    """OpenCV's own engine."""
    import cv2

    net = cv2.dnn.readNetFromONNX(str(model), *([cv2.dnn.ENGINE_NEW] if hasattr(cv2.dnn, "ENGINE_NEW") else []))
    if hasattr(net, "enableWinograd"):
        net.enableWinograd(False)

    def run(fed: Any) -> list[Any]:
        for name in inputs:
            net.setInput(fed[name], name)
        return list(net.forward(outputs))

    return run


def ort(model: Path, inputs: Sequence[str], outputs: list[str]) -> Run:
    """ONNX Runtime on an `.ort` file, as its mobile packages take it."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    with tempfile.TemporaryDirectory() as place:
        options.optimized_model_filepath = str(Path(place) / "model.ort")
        options.add_session_config_entry("session.save_model_format", "ORT")
        onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        content = (Path(place) / "model.ort").read_bytes()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return lambda fed: list(session.run(outputs, {name: fed[name] for name in inputs}))


def mnn(model: Path, inputs: Sequence[str], outputs: list[str]) -> Run:
    """MNN at high precision, without the transforms of convolutions that err as much as float16 does."""
    import _tools
    import MNN

    with tempfile.TemporaryDirectory() as place:
        written = Path(place) / "model.mnn"
        words = ["mnnconvert", "-f", "ONNX", "--modelFile", str(model), "--MNNModel", str(written), "--bizCode", "e"]
        _tools.mnnconvert(words)
        manager = MNN.nn.create_runtime_manager(({"backend": "CPU", "precision": "high", "numThread": 1},))
        manager.set_hint(3, 0)
        module = MNN.nn.load_module_from_file(str(written), list(inputs), outputs, runtime_manager=manager)

    def run(fed: Any) -> list[Any]:
        given = []
        for name in inputs:
            value = fed[name].astype("int32" if fed[name].dtype.kind in "iub" else "float32")
            kind = MNN.expr.int if value.dtype.kind == "i" else MNN.expr.float
            given.append(MNN.expr.const(value, list(value.shape), MNN.expr.NCHW, kind))
        results = module.onForward(given)
        plain = [MNN.expr.convert(one, MNN.expr.NCHW) if one.data_format == MNN.expr.NC4HW4 else one for one in results]
        return [np.array(one.read()) for one in plain]

    return run


def openvino(model: Path, inputs: Sequence[str], outputs: list[str]) -> Run:
    """OpenVINO on the CPU, in float32."""
    import openvino

    compiled = openvino.Core().compile_model(str(model), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})

    def run(fed: Any) -> list[Any]:
        results = compiled({name: fed[name] for name in inputs})
        return [np.array(results[name]) for name in outputs]

    return run


ENGINES = {"opencv-dnn": opencv, "onnxruntime-mobile": ort, "mnn": mnn, "openvino": openvino}


def said(engine: str, folder: Path) -> str:
    """What becomes of a network in an engine."""
    inputs, right = (dict(np.load(folder / name)) for name in ("inputs.npz", "outputs.npz"))  # noqa: TID251
    try:
        got = ENGINES[engine](folder / "model.onnx", list(inputs), list(right))(inputs)
    except Exception as error:  # noqa: BLE001 - engines raise many types
        return f"does not run: {type(error).__name__}: {str(error).strip()[:160]}".replace("\n", " ")
    for name, value in zip(right, got):  # noqa: B905 - Python 3.8
        due, other = right[name].astype("float64"), np.asarray(value).astype("float64")
        if other.size != due.size:
            return f"wrong: {name} has the shape {list(other.shape)}"
        off = np.abs(other.reshape(due.shape) - due).max() / max(float(np.abs(due).max()), 1e-30)
        if not off <= _RIGHT:
            return f"wrong: {name} is off by {off:.2g} of its size"
    return "right"


def told_of(folder: Path) -> None:
    """Each network in a child of its own: an engine may abort."""
    for network in sorted(path for path in folder.iterdir() if path.is_dir()):
        for engine in ENGINES:
            read, write = os.pipe()
            if (child := os.fork()) == 0:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.write(write, said(engine, network).encode())
                os._exit(0)
            os.close(write)
            with os.fdopen(read) as stream:
                told = stream.read()
            os.waitpid(child, 0)
            line = {"network": network.name, "engine": engine, "said": told or "does not run: it aborts"}
            print(json.dumps(line), flush=True)


def answer(kit: Path, engine: str, out: Path) -> None:
    """Answer every case of a kit."""
    about = json.loads((kit / "kit.json").read_text(encoding="utf-8"))
    outputs = [output["native"] for output in about["outputs"]]
    names = [tensor["native"] for tensor in about["cases"][0]["inputs"]]
    dtypes = [output["dtype"] for output in about["outputs"]]
    run = ENGINES[engine](kit / about["model"], names, outputs)
    out.mkdir(parents=True)
    for case in about["cases"]:
        fed = {one["native"]: np.load(kit / one["npy"], allow_pickle=False) for one in case["inputs"]}  # noqa: TID251
        for place, value in enumerate(run(fed)):
            # An engine without int64 answers in int32: the numbers are what is judged here.
            cast = value.astype(dtypes[place]) if value.dtype.kind in "iub" else value
            np.save(out / f"{case['number']}.{place}.npy", np.ascontiguousarray(cast))
    words = {"engine": engine, "version": "here", "device": "CPU", "who": "evals.elsewhere", "precision": "fp32"}
    (out / "answers.json").write_text(json.dumps({**words, "when": "2026-11-28"}), encoding="utf-8")


if __name__ == "__main__":
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    if len(sys.argv) > 2:
        answer(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
    else:
        told_of(Path(sys.argv[1]))
