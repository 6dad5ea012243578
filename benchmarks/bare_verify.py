"""What `verify` is measured against: import one engine, load one artifact, run every case once, and nothing else.

    python benchmarks/bare_verify.py FORMAT/ENGINE BUNDLE

One thread but for the case that `verify` runs in two, for which the artifact is loaded again. Of the format `source`
the layer has the weights of its factory, which take as long as others.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Run = Callable[[dict[str, Any]], Any]
MODELS = {"pir": "model.json", "pdmodel": "model.pdmodel", "onnx": "model.onnx"}


def main() -> None:
    """Run all; the numbers are thrown away."""
    (format, _, engine), bundle = sys.argv[1].partition("/"), Path(sys.argv[2])
    load = {
        "source/eager": eager,
        "source/static": static,
        "pir/jit_load": jit_load,
        "pdmodel/jit_load": executor,
        "pir/paddle_inference": predictor,
        "pdmodel/paddle_inference": predictor,
        "onnx/onnxruntime": onnxruntime,
        "onnx/openvino": openvino,
    }[sys.argv[1]]
    path = bundle if format == "source" else bundle / format / MODELS[format]
    run = load(path, 1)
    names, cases = zip(*inputs(bundle), strict=True)
    for case in (*cases, cases[0]):
        run(case)
    sizes = [sum(value.size for value in case.values()) for case in cases]
    del run
    gc.collect()  # a layer holds itself in circles
    load(path, 2)(cases[sizes.index(max(sizes))])
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

    return lambda case: _call(layer, case)


def eager(bundle: Path, threads: int) -> Run:
    """The layer as its factory builds it."""
    layer = _layer(bundle, threads)
    return lambda case: _call(layer, case)


def static(bundle: Path, threads: int) -> Run:
    """The same, traced."""
    import paddle

    layer = _layer(bundle, threads)
    described = json.loads((bundle / "manifest.json").read_bytes())["inputs"]
    shapes = [[None if isinstance(size, str) else size for size in one["shape"]] for one in described]
    specs = [
        paddle.static.InputSpec(shape, one["dtype"], one["name"]) for shape, one in zip(shapes, described, strict=True)
    ]
    traced = paddle.jit.to_static(layer, input_spec=specs, backend=None, full_graph=True)
    return lambda case: _call(traced, case)


def _layer(bundle: Path, threads: int) -> Any:
    import paddle

    paddle.set_device("cpu")
    paddle.base.core.set_num_threads(threads)
    sys.path.insert(0, str(Path.cwd()))
    spec = json.loads((bundle / "manifest.json").read_bytes())["spec"]
    module, _, name = spec["model"].partition(":")
    layer = getattr(importlib.import_module(module), name)(**spec.get("args", {}))
    layer.eval()
    return layer


def _call(layer: Any, case: dict[str, Any]) -> Any:
    import paddle

    with paddle.no_grad():
        answer = layer(*[paddle.to_tensor(value) for value in case.values()])
    return [value.numpy() for value in paddle.utils.flatten(answer)]


def executor(path: Path, threads: int) -> Run:
    """A `.pdmodel` in Paddle's executor."""
    os.environ["FLAGS_enable_pir_api"] = "0"  # noqa: SIM112 - its name
    import paddle

    paddle.enable_static()
    paddle.base.core.set_num_threads(threads)
    runner = paddle.static.Executor(paddle.CPUPlace())
    program, _, fetched = paddle.static.load_inference_model(str(path.with_suffix("")), runner)
    return lambda case: runner.run(program, feed=case, fetch_list=fetched)


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
