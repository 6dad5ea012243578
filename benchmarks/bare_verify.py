"""What `verify` is measured against: import one engine, load one artifact, run every case once, and nothing else.

    python benchmarks/bare_verify.py ENGINE BUNDLE

One thread but for the case that `verify` runs in two, for which the artifact is loaded again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Run = Callable[[dict[str, Any]], Any]


def main() -> None:
    """Run all; the numbers are thrown away."""
    engine, bundle = sys.argv[1], Path(sys.argv[2])
    load, file = {
        "jit_load": (jit_load, "pir/model.json"),
        "paddle_inference": (predictor, "pir/model.json"),
        "onnxruntime": (onnxruntime, "onnx/model.onnx"),
        "openvino": (openvino, "onnx/model.onnx"),
    }[engine]
    run = load(bundle / file, 1)
    names, cases = zip(*inputs(bundle), strict=True)
    for case in (*cases, cases[0]):
        run(case)
    sizes = [max(value.shape[0] for value in case.values()) for case in cases]
    load(bundle / file, 2)(cases[sizes.index(max(sizes))])
    print(f"{engine}: {len(names) + 2} runs")
    sys.stdout.flush()
    os._exit(0)


def inputs(bundle: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each case with its inputs."""
    from safetensors import safe_open

    manifest = json.loads((bundle / "manifest.json").read_bytes())
    with safe_open(str(bundle / "golden.safetensors"), framework="numpy") as reader:
        for case in manifest["cases"]:
            yield (
                case["name"],
                {one["name"]: reader.get_tensor(f"{case['name']}/input/{one['name']}") for one in manifest["inputs"]},
            )


def jit_load(path: Path, threads: int) -> Run:
    """Paddle's TranslatedLayer."""
    import paddle

    paddle.set_device("cpu")
    paddle.base.core.set_num_threads(threads)
    layer = paddle.jit.load(str(path.with_suffix("")))
    layer.eval()

    def run(case: dict[str, Any]) -> Any:
        with paddle.no_grad():
            return layer(*[paddle.to_tensor(value) for value in case.values()]).numpy()

    return run


def predictor(path: Path, threads: int) -> Run:
    """Paddle Inference, strict."""
    from paddle import inference

    config = inference.Config(str(path), str(path.with_suffix(".pdiparams")))
    config.disable_glog_info()
    config.set_cpu_math_library_num_threads(threads)
    config.disable_gpu()
    config.switch_ir_optim(False)
    config.disable_mkldnn()
    made = inference.create_predictor(config)

    def run(case: dict[str, Any]) -> Any:
        for name, value in case.items():
            made.get_input_handle(name).copy_from_cpu(value)
        made.run()
        return [made.get_output_handle(name).copy_to_cpu() for name in made.get_output_names()]

    return run


def onnxruntime(path: Path, threads: int) -> Run:
    """ONNX Runtime on the CPU."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(str(path), sess_options=options, providers=["CPUExecutionProvider"])
    return lambda case: session.run(None, case)


def openvino(path: Path, threads: int) -> Run:
    """OpenVINO in float32."""
    import openvino as ov

    wanted = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
    request = ov.compile_model(str(path), "CPU", wanted).create_infer_request()
    return request.infer


if __name__ == "__main__":
    main()
