#!/usr/bin/env python3
"""Run this model once.

    python run.py INPUTS.npz OUTPUTS.npz

INPUTS.npz holds one array for each input, by the names in MANIFEST.json (`numpy.savez("inputs.npz", image=…)`); the
outputs are written likewise. It needs Python 3.8, numpy, and onnxruntime for a model.onnx, else Paddle. Exit codes: 0
done, 2 the inputs are wrong, 3 the engine is not installed.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Read, check, run, write."""
    if len(sys.argv) != 3:
        return fail(2, "usage: python run.py INPUTS.npz OUTPUTS.npz")
    try:
        import numpy as np
    except ImportError as error:
        return fail(3, f"numpy cannot be imported: {error}; pip install numpy")
    about = json.loads((HERE / "MANIFEST.json").read_text(encoding="utf-8"))
    try:
        with np.load(sys.argv[1], allow_pickle=False) as archive:  # noqa: TID251 - pickles are off
            given = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile, AttributeError) as error:
        return fail(2, f"{sys.argv[1]} cannot be read as .npz: {error}")
    wrong = fault(about["inputs"], given)
    if wrong:
        return fail(2, wrong)
    run = run_onnxruntime if about["variant"]["format"] == "onnx" else run_paddle_inference
    try:
        outputs = run({one["native"]: np.ascontiguousarray(given[one["name"]]) for one in about["inputs"]})
    except ImportError as error:
        return fail(3, f"the engine cannot be imported: {error}")
    write(Path(sys.argv[2]), {one["name"]: outputs[one["native"]] for one in about["outputs"]})
    return 0


def fault(inputs: Any, given: Any) -> str:
    """Say what is wrong with the arrays: names, dtypes, ranks and fixed sizes; an empty text if nothing is."""
    names = [one["name"] for one in inputs]
    if sorted(names) != sorted(given):
        return f"the model takes {names}, not {sorted(given)}"
    for one in inputs:
        array = given[one["name"]]
        fixed = {place: size for place, size in enumerate(one["shape"]) if isinstance(size, int)}
        fits = array.ndim == len(one["shape"]) and all(array.shape[place] == size for place, size in fixed.items())
        if not fits or array.dtype.name != one["dtype"]:
            return f"{one['name']} is {array.dtype.name}{list(array.shape)}, not {one['dtype']}{one['shape']}"
    return ""


def run_onnxruntime(inputs: Any) -> dict[str, Any]:
    """Outputs by the file's names; ONNX Runtime on the CPU, without the telemetry of its wheels for Linux."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    session = onnxruntime.InferenceSession(str(HERE / "model/model.onnx"), providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    values = session.run(names, inputs)
    return {name: values[place] for place, name in enumerate(names)}


def run_paddle_inference(inputs: Any) -> dict[str, Any]:
    """Outputs by the file's names; Paddle's own kernels on the CPU, without graph passes and oneDNN."""
    from paddle import inference

    files = sorted((HERE / "model").iterdir(), key=lambda path: path.suffix == ".pdiparams")
    config = inference.Config(*map(str, files), *[""] * (2 - len(files)))
    config.switch_ir_optim(False)
    config.disable_gpu()
    config.disable_mkldnn()
    config.disable_glog_info()
    predictor = inference.create_predictor(config)
    for name, value in inputs.items():
        predictor.get_input_handle(name).copy_from_cpu(value)
    predictor.run()
    return {name: predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()}


def write(path: Path, outputs: Any) -> None:
    """Write an .npz beside its place, then put it there. numpy.savez would take some names for its own parameters."""
    from numpy.lib import format as npy

    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with zipfile.ZipFile(draft, "w") as archive:
        for name, value in outputs.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                npy.write_array(stream, value, allow_pickle=False)
    draft.replace(path)


def fail(code: int, message: str) -> int:
    """Say what is wrong; return the exit code."""
    sys.stderr.write(message + "\n")
    return code


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # engines may crash in their own tidying up, after the work is done
