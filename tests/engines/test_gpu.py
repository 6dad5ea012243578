"""Engines on a GPU: what can run there, what really ran there, and what is said where it did not.

The real package runs, on a machine without a GPU where there is none; `pretended_gpu` answers as one with a GPU would.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import ClassVar

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from safetensors.numpy import save_file

import exporter.engines.cuda as cuda
from exporter.base import machine
from exporter.base.errors import EnvironmentLacks
from exporter.engines import device as devices
from exporter.engines import onnx_device
from exporter.engines.base import EngineRefused, Runnable, SettingsUnmet
from exporter.engines.child import run
from exporter.engines.device import choose_device, nvidia_here
from exporter.engines.job import EngineCase, RunRequest
from exporter.engines.kinds.onnxruntime import OnnxRuntime
from exporter.engines.kinds.paddle_inference_tensorrt import placement
from exporter.engines.onnx_device import CPU, CUDA, DOUBLE, cause_of, computing, hearing, placed_nodes
from exporter.engines.paddle import border
from exporter.engines.probe import availability
from exporter.engines.session import started
from exporter.process.workers import SINGLE_THREAD, Limits, call
from tests.command import ROOT, STORED, Done, environment, exporter, refused
from tests.engines.engine_children import (
    Nothing,
    OnGpu,
    device_of_paddle,
    on_gpu,
    paddle_on_a_gpu,
    run_without_a_file,
)
from tests.sampling import slow

LIMITS = Limits(seconds=300)
PRETENDED = Path(__file__).parent / "pretended_gpu"
INPUTS = {"x": np.arange(24, dtype="float32").reshape(2, 3, 2, 2)}


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Children find a GPU."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PRETENDED), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.chdir(ROOT)
    return monkeypatch


@pytest.fixture
def pooled(tmp_path: Path) -> Runnable:
    """A file that pools, flattens by a computed shape, and resizes nothing: sizes beside values."""
    dims = helper.make_tensor("dims", TensorProto.INT64, [1], [-1])
    first = helper.make_tensor("first", TensorProto.INT64, [1], [0])
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p"], name="pool", kernel_shape=[2, 2]),
        helper.make_node("Shape", ["p"], ["s"], name="shape"),
        helper.make_node("Gather", ["s", "first"], ["rows"], name="rows"),
        helper.make_node("Concat", ["rows", "dims"], ["to"], name="to", axis=0),
        helper.make_node("Reshape", ["p", "to"], ["y"], name="flat"),
    ]
    take = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 2, 2])
    give = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])
    graph = helper.make_graph(nodes, "pooled", [take], [give], [dims, first])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(tmp_path / "model.onnx"))
    return Runnable("onnx", tmp_path, "model.onnx", ("x",), ("y",))


class Azure(OnnxRuntime):
    """A provider that the CPU wheel lists as available and that computes nothing: as CUDA without its libraries."""

    providers: ClassVar = {"cpu": CPU, "gpu": "AzureExecutionProvider"}


@pytest.fixture
def azure() -> Azure:
    import onnxruntime

    if "AzureExecutionProvider" not in onnxruntime.get_available_providers():
        pytest.skip("this build of ONNX Runtime has no provider that is listed and does not run")
    return Azure()


def run_request(artifact: Runnable, place: Path) -> RunRequest:
    """What `exporter.engines.child.run` is asked: two cases on the first GPU."""
    save_file({f"{case}/input/x": INPUTS["x"] for case in ("a", "b")}, place / "golden.safetensors")
    cases = EngineCase("a", "a"), EngineCase("b", "b")
    return RunRequest("onnxruntime", "gpu:0", artifact, place / "golden.safetensors", cases, place)


# ---- where nodes ran -----------------------------------------------------------------------------------------------


def test_a_run_says_where_each_node_computed(pooled: Runnable) -> None:
    with started(OnnxRuntime(), pooled, "cpu") as session:
        assert "placement" not in session.settings.effective, "nothing ran yet"
        session.run(INPUTS)
        effective = session.settings.effective
        session.run(INPUTS)  # the profile is over
    assert effective["placement"] == f"{CPU} 5" and effective["provider"] == session.provider == CPU
    assert effective["sizes_elsewhere"] == effective["values_elsewhere"] == ""


def test_sizes_are_told_from_values(pooled: Runnable) -> None:
    """Had CUDA been asked for, what ran on the CPU would be named by what it computes."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(pooled.path.with_name("profile"))
    session = onnxruntime.InferenceSession(str(pooled.path), options, providers=[CPU])
    session.run(None, INPUTS)
    nodes = placed_nodes(Path(session.end_profiling()))
    assert onnx_device.placement(nodes, CUDA) == {
        "placement": f"{CPU} 5",
        "sizes_elsewhere": "Concat 1, Gather 1, Shape 1",
        "values_elsewhere": "MaxPool 1, Reshape 1",
    }
    assert computing(nodes, CUDA) == computing(nodes, CPU) == CPU
    sizes = [node for node in nodes if node.of_sizes]
    assert computing(sizes, CUDA) == CPU and computing((), CUDA) == CUDA


def test_a_provider_that_is_listed_and_computes_nothing_is_no_result(pooled: Runnable, azure: Azure) -> None:
    with started(azure, pooled, "gpu:0") as session:
        assert session.provider == "AzureExecutionProvider", "ONNX Runtime lists it first"
        with pytest.raises(SettingsUnmet, match=r"'AzureExecutionProvider' was asked for and 'CPUExecutionProvider'"):
            session.run(INPUTS)


def test_the_probe_sees_that_an_available_provider_does_not_run(azure: Azure) -> None:
    answer = azure.probe("gpu:0")
    assert not answer.available and "AzureExecutionProvider cannot run here" in answer.why_not and answer.cure


def test_the_model_of_the_probe_is_what_it_is_said_to_be() -> None:
    import onnxruntime

    model = onnx.load_from_string(DOUBLE)
    onnx.checker.check_model(model)
    assert [node.op_type for node in model.graph.node] == ["Add"]
    [doubled] = onnxruntime.InferenceSession(DOUBLE, providers=[CPU]).run(None, {"x": np.array([1, 2], "float32")})
    assert doubled.tolist() == [2, 4]


# ---- as on a machine with a GPU ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        ("", "ran"),
        ("half", "ran"),
        ("tf32", "use_tf32 '0' was asked for and '1' is in effect"),
        slow(("idle", "provider 'CUDAExecutionProvider' was asked for and 'CPUExecutionProvider' is in effect")),
        ("late", "provider 'CUDAExecutionProvider' was asked for and 'CPUExecutionProvider' is in effect"),
    ],
)
def test_asked_and_effective_on_a_gpu(how: str, outcome: str, pooled: Runnable, pretended: pytest.MonkeyPatch) -> None:
    pretended.setenv("PRETENDED_GPU", how)
    answer = call(on_gpu, OnGpu(pooled.path.parent), LIMITS).facts
    assert answer["outcome"] == outcome
    asked, effective = answer["asked"], answer["effective"]
    assert asked == {**asked, "use_tf32": "0", "cudnn_conv_algo_search": "HEURISTIC", "enable_cuda_graph": "0"}
    assert (asked["provider"], asked["device_id"]) == (CUDA, "1")
    if outcome == "ran":
        assert effective["provider"] == CUDA and effective["device_id"] == "1"
        assert effective["values_elsewhere"] == ("MaxPool 1" if how else "")


def test_a_child_whose_session_ran_on_the_cpu_gives_no_evidence(
    pooled: Runnable, pretended: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The probe may see nothing. The first case shows it; the others must not be taken as results of a GPU."""
    pretended.setenv("PRETENDED_GPU", "late")
    request = run_request(pooled, tmp_path)
    answer = call(run, request, LIMITS)
    assert answer.sessions[1].settings.effective["provider"] == CPU and "was asked for" in answer.load
    assert not list(tmp_path.glob("[0-9]*.safetensors"))


# ---- a whole verify ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stored bundle whose model is not here; its goldens were recorded on a CPU."""
    return Path(shutil.copytree(STORED, tmp_path_factory.mktemp("gpu") / "pictures"))


def verify(bundle: Path, *arguments: str, how: str = "") -> Done:
    env = environment(PYTHONPATH=str(PRETENDED), PRETENDED_GPU=how)
    return exporter("verify", bundle, *arguments, cwd=bundle.parent, env=env)


def test_what_an_engine_lacks_is_missing_and_the_others_are_judged(pictures: Path) -> None:
    """CPU Paddle and no TensorRT: claims of their own, and exit 3; ONNX Runtime is judged all the same."""
    done = verify(
        pictures, "--engines", "paddle_inference_tensorrt,jit_load,onnxruntime", "--device", "gpu:0", "--json"
    )
    told = done.json()
    assert done.code == 3, done.err
    by_engine = {check["engine"]: set[str]() for check in told["checks"] if check["engine"]}
    for check in told["checks"]:
        if check["engine"]:
            by_engine[check["engine"]].add(check["outcome"])
    assert by_engine == {"paddle_inference_tensorrt": {"missing"}, "jit_load": {"missing"}, "onnxruntime": {"match"}}
    assert {
        "scripts/install --gpu" in check["reason"] for check in told["checks"] if check["outcome"] == "missing"
    } == {True}


def test_a_run_on_a_gpu_is_recorded(pictures: Path) -> None:
    done = verify(pictures, "--engines", "onnxruntime", "--device", "gpu:0", "--json")
    told = done.json()
    assert (done.code, told["verdict"]) == (0, "partial"), done.err
    [run] = [run for run in told["runs"] if run["effective"]["threads"] == 1]
    assert run["asked"]["use_tf32"] == run["effective"]["use_tf32"] == "0"
    assert run["effective"]["placement"].startswith(CUDA) and run["effective"]["values_elsewhere"] == ""


def test_a_gpu_on_which_nothing_computes_is_exit_3_before_anything_runs(pictures: Path) -> None:
    done = verify(pictures, "--engines", "onnxruntime", "--device", "gpu:0", how="idle")
    refused(done, 3, "gpu:0 was asked for", "CUDAExecutionProvider cannot run here", "onnxruntime-gpu")


def test_a_library_that_is_not_there_is_what_the_machine_lacks() -> None:
    with pytest.raises(EnvironmentLacks, match=r"libnvinfer\.so\.8 cannot be loaded") as caught, border():
        raise RuntimeError(
            "(PreconditionNotMet) error code is libnvinfer.so.8: cannot open shared object file: No such"
        )
    assert "TensorRT" in caught.value.hint


def test_a_predictor_that_leaves_no_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EngineRefused, match="nothing says what TensorRT took"):
        placement(tmp_path)


def test_an_engine_that_misses_a_file_of_its_own_fails_to_load_and_ends_nothing(
    pooled: Runnable, tmp_path: Path
) -> None:
    answer = call(run_without_a_file, run_request(pooled, tmp_path), LIMITS)
    assert "no such file" in answer.load and answer.sessions == {}


# ---- which device --------------------------------------------------------------------------------------------------


def test_auto_takes_the_gpu_only_where_every_engine_computes_on_it(pretended: pytest.MonkeyPatch) -> None:
    """CPU Paddle beside onnxruntime-gpu: one device for the whole verdict, and the reason is told."""
    pretended.setattr(devices, "nvidia_here", lambda: True)
    assert choose_device("auto", ["onnxruntime"], LIMITS).name == "gpu:0"
    chosen = choose_device("auto", ["eager", "onnxruntime", "eager"], LIMITS)
    assert chosen.name == "cpu"
    [note] = chosen.notes
    assert "eager: this Paddle is built for the CPU (install the GPU build" in note and "onnxruntime:" not in note


def test_a_gpu_that_is_asked_for_is_taken_where_any_engine_computes_on_it(pretended: pytest.MonkeyPatch) -> None:
    assert choose_device("gpu:1", ["eager", "onnxruntime"], LIMITS) == devices.Device("gpu:1")
    with pytest.raises(EnvironmentLacks, match="this Paddle is built for the CPU"):
        choose_device("gpu:1", ["eager", "onnxruntime"], LIMITS, every=True)


@pytest.mark.skipif(nvidia_here(), reason="needs a machine without a GPU")
def test_without_a_gpu_auto_asks_nobody_and_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "availability", lambda *_: pytest.fail("an engine was asked"))
    assert choose_device("auto", ["onnxruntime"], LIMITS) == devices.Device("cpu")


@pytest.mark.parametrize("how", ["raise SystemExit(3)", "import os; os.abort()", "while True: pass"])
def test_a_probe_that_dies_or_hangs_is_an_answer(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "onnxruntime.py").write_text(how)
    (tmp_path / "openvino.py").write_text("__version__ = '7.8'")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    answers = availability(["onnxruntime", "openvino"], "cpu", Limits(seconds=4))
    assert answers["onnxruntime"].why_not.startswith("looking for it failed") and answers["onnxruntime"].cure
    assert answers["openvino"].version == "7.8"


def test_every_child_computes_on_the_cpu_as_soon_as_it_imports_paddle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GPU build takes the first GPU by itself."""
    (tmp_path / "paddle.py").write_text(
        "device = 'gpu:0'\n"
        "def set_device(name):\n    global device\n    device = name\n"
        "def disable_signal_handler(): pass\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert call(device_of_paddle, Nothing(), LIMITS).facts == {"device": "cpu"}


def test_paddle_is_asked_for_float32_on_a_gpu_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The switches of TF32 are in every build; flags of cuDNN are in GPU builds alone, and told where they are."""
    monkeypatch.chdir(ROOT)
    found = call(paddle_on_a_gpu, Nothing(), LIMITS, environment=SINGLE_THREAD).facts
    assert found["before"]["tf32_cudnn"] and not found["after"]["tf32_cudnn"] and not found["after"]["tf32_cublas"]
    assert found["after"]["tf32_override"] == "0" and not found["after"]["cuda_graph"]
    known = {name: value for name, value in found["asked"].items() if name in found["after"]}
    assert known == {name: found["after"][name] for name in known} and len(known) >= 3


# ---- what is said --------------------------------------------------------------------------------------------------

#: What onnxruntime-gpu 1.26.0 says: without CUDA's libraries, and with them but without a driver.
NO_LIBRARY = (
    "2026-11-22 09:48:51.607503571 [E:onnxruntime:Default, provider_bridge_ort.cc:2369 TryGetProviderInfo_CUDA] "
    "onnxruntime::Provider& onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library "
    "/opt/site-packages/onnxruntime/capi/libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open "
    "shared object file: No such file or directory\n\nThis session contains graph nodes that are assigned to the CPU"
)
NO_DRIVER = (
    'provider_options_utils.h:187 Parse Failed to parse provider option "device_id": CUDA failure 35: CUDA driver '
    "version is insufficient for CUDA runtime version ; GPU=-1 ; hostname=vm ; file=/onnxruntime_src/onnxruntime/core"
)


def test_the_cause_is_found_in_what_onnxruntime_says_and_has_a_cure() -> None:
    cause = "libcublasLt.so.12: cannot open shared object file: No such file or directory"
    assert cause_of("it refused", NO_LIBRARY) == cause and cuda.missing_library(NO_LIBRARY) == "libcublasLt.so.12"
    assert cuda.cure(cause, "get it") == "get it"
    cause = "CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version"
    assert cause_of(NO_DRIVER) == cause and cuda.missing_library(NO_DRIVER) == ""
    assert "update the NVIDIA driver" in cuda.cure(cause, "get it")
    assert cause_of("Fail: line\nwho knows\n", "nothing") == "who knows" and "nvidia-smi" in cuda.cure(
        "who knows", "get it"
    )


@pytest.mark.parametrize(
    ("library", "what"), [("libnvinfer.so.8", "TensorRT"), ("libcudnn.so.9", "cuDNN"), ("libcuda.so.1", "driver")]
)
def test_a_missing_library_says_what_brings_it(library: str, what: str) -> None:
    assert what in cuda.how_to_get(library)


def test_what_libraries_write_to_standard_error_is_heard_and_kept(capfd: pytest.CaptureFixture[str]) -> None:
    with hearing() as heard:
        os.write(2, b"from C++\n")
        os.write(1, b"no error\n")
    assert heard.text == "from C++\n"
    os.write(2, b"afterwards\n")
    assert sorted(capfd.readouterr().err.split()) == sorted("from C++ afterwards".split())


SMI = """#!/bin/sh
case "$1" in
--query-gpu=name*) printf 'NVIDIA H100 80GB HBM3, 9.0, 81559 MiB\\nNVIDIA A10, 8.6, 23028 MiB\\n';;
--query-gpu=driver*) printf '570.86.15\\n570.86.15\\n';;
*) echo '| NVIDIA-SMI 570.86.15   Driver Version: 570.86.15   CUDA Version: 12.8     |';;
esac
"""


@pytest.mark.parametrize(
    ("script", "gpus", "driver"),
    [
        (SMI, ["NVIDIA H100 80GB HBM3", "NVIDIA A10"], "570.86.15 (CUDA 12.8)"),
        ("#!/bin/sh\necho 'NVIDIA-SMI has failed because it could not talk to the driver'; exit 9\n", [], ""),
        ("#!/bin/sh\nhead -c 100 /dev/zero\n", [], None),
    ],
)
def test_gpus_by_nvidia_smi(
    script: str, gpus: list[str], driver: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    machine.driver.cache_clear()
    try:
        assert [gpu["name"] for gpu in machine.gpus()] == gpus
        assert driver is None or machine.driver() == driver
        if gpus:
            first = {"name": gpus[0], "compute_capability": "9.0", "memory": "81559 MiB"}
            assert machine.gpus()[0] == first
    finally:
        machine.driver.cache_clear()


@pytest.mark.skipif(nvidia_here(), reason="needs a machine without a GPU")
def test_without_a_driver_nothing_is_said_of_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    machine.driver.cache_clear()
    assert (machine.gpus(), machine.driver(), cuda.libraries()) == ([], "", {})
    machine.driver.cache_clear()


@pytest.mark.gpu
@pytest.mark.skipif(not nvidia_here(), reason="needs an NVIDIA GPU")
def test_onnxruntime_on_a_real_gpu(pooled: Runnable) -> None:
    answer = call(on_gpu, OnGpu(pooled.path.parent, "gpu:0"), LIMITS).facts
    if answer["outcome"] == "not available":
        pytest.skip(answer["why_not"])
    assert answer["outcome"] == "ran" and answer["effective"]["provider"] == CUDA
    assert answer["effective"]["use_tf32"] == "0" and answer["effective"]["values_elsewhere"] == ""
    assert answer["effective"]["driver"] and answer["effective"]["cuda"] and machine.gpus()
