"""What the tests of engines run in children; each imports its engine once and answers with facts."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from exporter.base.tensors import TensorSpec
from exporter.engines.base import EngineRefused, Runnable, SettingsUnmet, SourceModel
from exporter.engines.job import EngineAnswer, RunRequest
from exporter.engines.kinds.paddle_inference_tensorrt import keep_program, placement
from exporter.engines.session import started
from exporter.process.job import job
from exporter.prove.verdict.plan import ENGINES

Array = npt.NDArray[np.generic]
CASE = "batch=5"


@dataclass(frozen=True)
class Small:
    """Where the small network of `tests.exported` lies, and what its files call their outputs."""

    exported: Path
    outputs: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Nothing:
    """The request of a job that needs none."""


@dataclass(frozen=True)
class OnGpu:
    """The folder of an ONNX file, and the GPU that is to run it."""

    folder: Path
    device: str = "gpu:1"


@dataclass(frozen=True)
class Facts:
    """What came of it, by name."""

    facts: Mapping[str, Any]


def small(request: Small, format: str) -> Runnable:
    """The small network of `tests.exported`."""
    model = {"pir": "model.json", "pdmodel": "model.pdmodel", "onnx": "model.onnx"}[format]
    return Runnable(format, request.exported / format, model, ("image",), request.outputs[format])


def run(request: Small, engine: str, format: str) -> tuple[Array, dict[str, Any]]:
    """The first output of one case, and the effective settings."""
    artifact = small(request, format)
    golden = load_file(request.exported / "golden.safetensors")
    with started(ENGINES[engine], artifact, "cpu") as session:
        outputs = session.run({"image": golden[f"{CASE}/input/image"]})
        return outputs[artifact.outputs[0]], dict(session.settings.effective)


@job
def predictors(request: Small) -> Facts:
    """The strict and the default predictor beside eager, and the program that passes leave."""
    eager = load_file(request.exported / "golden.safetensors")[f"{CASE}/eager/logits"]
    facts: dict[str, Any] = {}
    for name in ("paddle_inference", "paddle_inference_default"):
        for format in ("pir", "pdmodel"):
            value, effective = run(request, name, format)
            facts[f"{name} {format}"] = {
                "effective": effective,
                "bit_equal": bool(np.array_equal(value, eager)),
                "error": float(np.abs(value - eager).max() / np.abs(eager).max()),
            }
    return Facts({**facts, "program": _program(small(request, "pdmodel"))})


@dataclass(frozen=True)
class Folder:
    """Where a job may write."""

    folder: Path


@job
def dtypes_of_the_predictor(request: Folder) -> Facts:
    """What a predictor gives for small whole numbers, in and out, in both of Paddle's formats."""
    import paddle

    from tests.models.small_numbers import ShortNumbers

    layer = ShortNumbers()
    specs = [paddle.static.InputSpec([None, 4], "int16", "i"), paddle.static.InputSpec([None, 4], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(layer, input_spec=specs, full_graph=True), str(request.folder / "model"))
    facts: dict[str, Any] = {}
    artifact = Runnable("pir", request.folder, "model.json", ("i", "x"), ())
    with started(ENGINES["paddle_inference"], artifact, "cpu") as session:
        for rows in (1, 3):
            i = np.arange(-4, 4 * rows - 4, dtype="int16").reshape(rows, 4)
            inputs = {"i": i, "x": i.astype("float32") / 8}
            expected = [value.numpy() for value in layer(*map(paddle.to_tensor, inputs.values()))]
            got = [*session.run(inputs).values()]
            facts[str(rows)] = [
                right.dtype == value.dtype and np.array_equal(right, value)
                for right, value in zip(expected, got, strict=True)
            ]
    return Facts(facts)


def _program(artifact: Runnable) -> dict[str, Any]:
    """The operators after Paddle's passes, and what TensorRT's engine says of them."""
    from paddle import inference

    from exporter.base.readers import read

    with tempfile.TemporaryDirectory() as folder:
        config = inference.Config(str(artifact.path), str(artifact.path.with_suffix(".pdiparams")))
        config.disable_gpu()
        config.disable_glog_info()
        keep_program(config, Path(folder))
        inference.create_predictor(config)
        operators = dict(read(Path(folder) / "_optimized.pdmodel").operators)
        try:
            refused, taken = "", placement(Path(folder))
        except EngineRefused as error:
            refused, taken = str(error), _as_if_taken(Path(folder) / "_optimized.pdmodel")
        return {"operators": operators, "tensorrt": refused, "taken": taken}


def _as_if_taken(program: Path) -> dict[str, Any]:
    """What is said of the same program with its convolution as TensorRT's operator."""
    from paddle.base.proto import framework_pb2

    read_back = framework_pb2.ProgramDesc.FromString(program.read_bytes())
    for operator in read_back.blocks[0].ops:
        operator.type = "tensorrt_engine" if "conv2d" in operator.type else operator.type
    program.write_bytes(read_back.SerializeToString())
    return placement(program.parent)


@job
def paddle_on_a_gpu(_: Nothing) -> Facts:
    """What is asked of Paddle on a GPU, and what is in effect before and after."""
    from exporter.paddle.device import demand_float32, gpu_settings

    return Facts({"before": gpu_settings(), "asked": demand_float32(), "after": gpu_settings()})


@job
def paddle_threads(request: Nothing) -> Facts:
    """How many operating-system threads there are after a large product, asked to use one and then two."""
    import paddle

    from exporter.engines.paddle import use

    counts: dict[str, list[int]] = {"asked": [], "effective": [], "tasks": []}
    matrix = paddle.ones([600, 600])
    for threads in (1, 2):
        counts["asked"].append(threads)
        counts["effective"].append(int(use("cpu", threads).effective["threads"]))
        paddle.matmul(matrix, matrix).numpy()
        counts["tasks"].append(len(list(Path("/proc/self/task").iterdir())))
    return Facts(counts)


@job
def openvino_precision(request: Small) -> Facts:
    """Our engine beside OpenVINO as it comes, on the same files; errors against float64."""
    import openvino

    golden = load_file(request.exported / "golden.safetensors")
    truth = golden[f"{CASE}/truth/logits"]
    facts: dict[str, Any] = {}
    core = openvino.Core()
    facts["has_bf16"] = "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    for format in ("onnx", "pdmodel"):
        value, effective = run(request, "openvino", format)
        compiled = core.compile_model(core.read_model(small(request, format).path), "CPU")
        default = compiled({"image": golden[f"{CASE}/input/image"]})[0]
        facts[format] = {
            "effective": effective,
            "default": compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name(),
            "ours_error": float(np.abs(value - truth).max() / np.abs(truth).max()),
            "default_error": float(np.abs(default - truth).max() / np.abs(truth).max()),
        }
    return Facts(facts)


@job
def on_gpu(request: OnGpu) -> Facts:
    """One run of an ONNX file on a GPU: what came of it, and the settings asked for and in effect."""
    engine, device = ENGINES["onnxruntime"], request.device
    if "PRETENDED_GPU" not in os.environ and not (answer := engine.probe(device)).available:
        return Facts({"outcome": "not available", "why_not": answer.why_not})
    artifact = Runnable("onnx", request.folder, "model.onnx", ("x",), ("y",))
    outcome = "ran"
    try:
        with started(engine, artifact, device) as session:
            session.run({"x": np.ones((2, 3, 2, 2), "float32")})
            settings = session.settings
    except SettingsUnmet as error:
        outcome, settings = str(error), error.settings
    return Facts({"outcome": outcome, "asked": dict(settings.asked), "effective": dict(settings.effective)})


def run_without_probe(request: RunRequest) -> EngineAnswer:
    """`exporter.engines.child.run`, as if the probe had seen nothing."""
    from exporter.engines import child
    from exporter.engines.base import Availability

    engine = child._ENGINES[request.engine]
    engine.probe = lambda _: Availability(version="1")  # type: ignore[method-assign]
    return child.run(request)


@job
def run_without_a_file(request: RunRequest) -> EngineAnswer:
    """The same with an engine that reads a file of its own, such as a cache, that is not there."""
    from exporter.base.readers import read
    from exporter.engines import child

    def open_nothing(artifact: Runnable, device: str) -> None:
        read(Path("/nonexistent/engine.onnx"))

    child._ENGINES[request.engine].open = open_nothing  # type: ignore[assignment,method-assign]
    return run_without_probe(request)


@job
def device_of_paddle(_: Nothing) -> Facts:
    """Where Paddle computes in a child that only imports it."""
    import paddle

    return Facts({"device": paddle.device})


@job
def static_programs(request: Nothing) -> Facts:
    """How many programs Paddle traced for one session that ran three sizes, and whether eager gives the same bits."""
    del request
    inputs = (TensorSpec("image", "float32", ("batch", 1, 8, 8)),)
    source = SourceModel("recipes.digits:build", None, 0, inputs, ("logits",), {})
    artifact = Runnable("source", None, "", ("image",), ("logits",), source)
    cases = [np.random.default_rng(size).random((size, 1, 8, 8), "float32") for size in (1, 2, 5)]
    with started(ENGINES["eager"], artifact, "cpu") as session:
        eager = [session.run({"image": case})["logits"] for case in cases]
    with started(ENGINES["static"], artifact, "cpu") as session:
        static = [session.run({"image": case})["logits"] for case in cases]
        programs = len(session._session._layer.forward.program_cache)
    return Facts({"programs": programs, "right": all(map(np.array_equal, eager, static))})
