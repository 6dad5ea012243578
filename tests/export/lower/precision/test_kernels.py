"""int8 files in the engines that serve them, with weights and activations that are all nearly the largest.

oneDNN is taken down to AVX2 and SSE4.1 by its variable, so that it has no VNNI on any CPU. ONNX Runtime has none such:
there the file is served as this CPU does it, and what others make of it is computed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from exporter.base import machine
from exporter.export.lower.precision.base import Order
from exporter.export.lower.precision.int8_onnx import run
from exporter.export.lower.precision.kernels import kernels
from exporter.export.lower.precision.kinds.int8 import plugin
from exporter.export.lower.precision.noise import snr_db
from exporter.spec.model import PrecisionSettings
from tests.command import ROOT, environment
from tests.sampling import some

#: The shape of the weight, that of the input, and the groups of a convolution; 0 is a matrix product.
LAYERS = {
    "convolution": ((16, 16, 3, 3), (4, 16, 8, 8), 1),
    "1x1": ((16, 16, 1, 1), (4, 16, 8, 8), 1),
    "three channels": ((16, 3, 3, 3), (4, 3, 8, 8), 1),
    "depthwise": ((16, 1, 3, 3), (4, 16, 8, 8), 16),
    "groups": ((16, 4, 3, 3), (4, 16, 8, 8), 4),
    "one dimension": ((16, 16, 3), (4, 16, 20), 1),
    "linear": ((32, 10), (4, 32), 0),
    "of a sequence": ((32, 24), (4, 6, 32), 0),
}


def layer(name: str) -> tuple[bytes, list[dict[str, Any]]]:
    shape, taken, groups = LAYERS[name]
    generator = np.random.default_rng(0)
    weight = generator.uniform(0.95, 1, shape).astype("float32")
    node = helper.make_node("Relu", ["x"], ["h"])
    attributes = {"group": groups, "kernel_shape": list(shape[2:])} if groups else {}
    # A convolution whose output is not rounded computes in float.
    product = helper.make_node(
        "Conv" if groups else "MatMul", ["h", "layer.w_0"], ["z" if groups else "y"], **attributes
    )
    nodes = [node, product, *([helper.make_node("GlobalAveragePool", ["z"], ["y"])] if groups else [])]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, *taken[1:]])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(weight, "layer.w_0")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return made.SerializeToString(), [{"x": generator.uniform(0.9, 1, taken).astype("float32")}]


def in_int8(place: Path, name: str, cpu: str, activations: str) -> tuple[float, bool]:
    """The noise in dB where it is served here, and whether the arithmetic says that it may overflow elsewhere."""
    content, calls = layer(name)
    for folder in ("onnx", "onnx-int8"):
        (place / folder).mkdir()
    (place / "onnx/model.onnx").write_bytes(content)
    settings = PrecisionSettings(cpu=cpu, activations=activations)  # type: ignore[arg-type]
    plugin.write(Order("onnx", place / "onnx", "model.onnx", place / "onnx-int8", settings, plugin.budget, calls, 4))
    (found,) = kernels(["model.onnx"], place / "onnx-int8")
    true, got = run(content, calls), run((place / "onnx-int8/model.onnx").read_bytes(), calls)
    return snr_db([(true[0]["y"], got[0]["y"])]), found.pairs.saturate


@pytest.mark.parametrize("activations", ["uint8", "int8"])
@pytest.mark.parametrize("name", LAYERS)
def test_onnx_for_any_cpu_is_right_on_this_one_and_by_arithmetic_on_others(
    tmp_path: Path, name: str, activations: str
) -> None:
    noise, saturates = in_int8(tmp_path, name, "any", activations)
    assert noise > 35 and not saturates


@pytest.mark.parametrize("activations", ["uint8", "int8"])
@pytest.mark.parametrize("name", [name for name in LAYERS if name != "depthwise"])
def test_onnx_for_vnni_overflows_exactly_where_the_arithmetic_says(tmp_path: Path, name: str, activations: str) -> None:
    """ONNX Runtime goes by what the CPU has: ONEDNN_MAX_CPU_ISA takes nothing from it."""
    noise, saturates = in_int8(tmp_path, name, "vnni", activations)
    assert saturates
    assert noise > 35 if {"avx_vnni", "avx512_vnni"} & set(machine.cpu()["abilities"]) else noise < 15


@pytest.fixture(scope="module", params=some(["AVX2", "SSE41"], 2))
def onednn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What oneDNN makes of int8 `.pdmodel` files on a CPU of this level."""
    place = tmp_path_factory.mktemp(request.param)
    script = Path(__file__).with_name("onednn_child.py")
    variables = environment(ONEDNN_MAX_CPU_ISA=request.param, FLAGS_enable_pir_api="0", PYTHONPATH=str(ROOT))
    done = subprocess.run([sys.executable, script, place], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, Any]] = json.loads((place / "found.json").read_text())
    return found


def test_pdmodel_for_any_cpu_is_right_without_vnni(onednn: dict[str, dict[str, Any]]) -> None:
    safe = {name: one for name, one in onednn.items() if ", any" in name}
    assert len(safe) == 22
    assert {name: one["saturates"] for name, one in safe.items() if one["saturates"] or not one["layers"]} == {}
    assert {name: round(one["snr_db"], 1) for name, one in safe.items() if not one["snr_db"] > 30} == {}


def test_pdmodel_for_any_cpu_does_not_overflow_beyond_the_calibrated_range_either(
    onednn: dict[str, dict[str, Any]],
) -> None:
    """Eight times as large an input is cut down to the range: the sums stay, and would halve if products were cut."""
    extreme = {name: one["louder"] for name, one in onednn.items() if ", any, extreme" in name}
    assert {name: value for name, value in extreme.items() if not 0.9 < value < 1.2} == {}


def test_pdmodel_for_vnni_overflows_where_the_arithmetic_says(onednn: dict[str, dict[str, Any]]) -> None:
    whole = {name: one for name, one in onednn.items() if ", vnni" in name}
    assert len(whole) == 2
    assert all(one["saturates"] and one["snr_db"] < 15 for one in whole.values()), whole
