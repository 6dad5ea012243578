"""Programs that do more than compute are refused, and every operator that computes is listed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from exporter.base.errors import BundleError
from exporter.base.readers import read_program
from exporter.base.readers.allowed import _plain, allowed
from tests.command import environment

#: Why an operator that Paddle 3.3.1 registers is not listed.
REFUSED = {
    "it reads or writes files": "save save_combine load load_combine read read_file create_py_reader "
    "create_double_buffer_reader decode_jpeg",
    "it runs what the program names": "py_func pylayer run_program fusion_group openvino_engine tensorrt_engine "
    "ap_facade ap_trivial_fusion_begin ap_trivial_fusion_end ap_variadic",
    "it prints": "print",
    "it talks to other processes": "all_gather all_reduce all_to_all barrier broadcast c_allreduce_sum c_comm_init "
    "c_comm_init_multitrainer c_concat c_embedding c_gen_xccl_id c_identity c_scatter c_softmax_with_cross_entropy "
    "c_softmax_with_multi_label_cross_entropy c_split c_sync_calc_stream c_sync_comm_stream c_wait_comm c_wait_compute "
    "comm_init_all dist_concat fetch_barrier global_gather global_scatter mp_allreduce_sum p_recv p_recv_array p_send "
    "p_send_array partial_allgather partial_recv partial_send recv_v2 reduce reduce_scatter send_v2 "
    "margin_cross_entropy class_center_sample",
    "it trains": "adadelta adagrad adam adamax adamw asgd average_accumulates decayed_adagrad dgc dgc_clip_by_norm "
    "dgc_momentum distributed_fused_lamb distributed_fused_lamb_init dpsgd ftrl fused_adam lamb lars_momentum "
    "merged_adam merged_momentum momentum nadam radam rmsprop rprop sgd sparse_momentum update_loss_scaling "
    "check_finite_and_unscale",
    "it steers the engine": "coalesce_tensor share_buffer nop depend npu_identity feed fetch fetch_v2 data",
}

_REGISTERED = "from paddle.base import core; print(*core.get_all_op_names())"
_WRITES = """
import os, sys
os.environ["FLAGS_enable_pir_api"] = "0"
import paddle
paddle.enable_static()
SHOWN = {f"print_tensor_{what}": True for what in ("name", "type", "shape", "layout", "lod")} | {"print_phase": "BOTH"}
program = paddle.static.Program()
block = program.global_block()
for name, kind in (("feed", "FEED_MINIBATCH"), ("fetch", "FETCH_LIST")):
    block.create_var(name=name, type=getattr(paddle.base.core.VarDesc.VarType, kind), persistable=True)
x = block.create_var(name="x", shape=[-1, 4], dtype="float32")
y = block.create_var(name="y", shape=[-1, 4], dtype="float32")
block.append_op(type="feed", inputs={"X": ["feed"]}, outputs={"Out": [x]}, attrs={"col": 0})
block.append_op(type="relu", inputs={"X": [x]}, outputs={"Out": [y]})
if sys.argv[2] == "save_combine":
    block.append_op(type="save_combine", inputs={"X": [y]}, outputs={"Y": []}, attrs={"file_path": sys.argv[3]})
elif sys.argv[2] == "print":
    shown = {"message": "PASSED", "first_n": -1, "summarize": 20, **SHOWN}
    block.append_op(type="print", inputs={"In": [x]}, outputs={"Out": [y]}, attrs=shown)
block.append_op(type="fetch", inputs={"X": [y]}, outputs={"Out": ["fetch"]}, attrs={"col": 0})
open(sys.argv[1], "wb").write(program.desc.serialize_to_string())
"""


def python(*arguments: str) -> str:
    command = [sys.executable, "-c", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), check=True).stdout


def test_every_operator_of_paddle_is_listed_or_refused_for_a_reason() -> None:
    """A new release of Paddle with new operators fails here: each has to be looked at."""
    refused = {name for names in REFUSED.values() for name in names.split()}
    registered = {name for name in python(_REGISTERED).split() if not name.endswith("_xpu")}
    listed = allowed("pdmodel")
    assert not refused & listed
    assert {_plain(name) for name in registered if name not in listed} - listed - refused == set()


@pytest.mark.parametrize("format", ["pdmodel", "pir", "onnx"])
def test_a_list_is_sorted_out_and_holds_none_that_is_refused(format: str) -> None:
    refused = {name for names in REFUSED.values() for name in names.split()}
    if format != "onnx":
        assert not (refused - {"data", "fetch", "fetch_v2", "feed"}) & allowed(format)
    assert len(allowed(format)) > 300 and all(_plain(name) == name for name in allowed(format))


@pytest.mark.parametrize("operator", ["none", "save_combine", "print"])
def test_a_program_that_writes_or_prints_is_refused(tmp_path: Path, operator: str) -> None:
    path, target = tmp_path / "model.pdmodel", tmp_path / "written"
    python(_WRITES, str(path), operator, str(target))
    if operator == "none":
        assert dict(read_program(path).operators) == {"relu": 1}
        return
    with pytest.raises(BundleError, match=operator):
        read_program(path)
    assert not target.exists()


def onnx_file(folder: Path, *nodes: onnx.NodeProto, domain: str = "", tensor: onnx.TensorProto | None = None) -> Path:
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
    graph = helper.make_graph(list(nodes), "g", value[:1], value[1:], [tensor] if tensor else [])
    opsets = [helper.make_opsetid("", 17), *([helper.make_opsetid(domain, 1)] if domain else [])]
    path = folder / "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=opsets).SerializeToString())
    return path


@pytest.mark.parametrize(
    ("kind", "domain"),
    [("Relu", "a.stranger"), ("EPContext", "com.microsoft"), ("Relu", "ai.onnx.contrib"), ("Shell", "")],
)
def test_an_operator_of_onnx_that_is_not_listed_is_refused(tmp_path: Path, kind: str, domain: str) -> None:
    path = onnx_file(tmp_path, helper.make_node(kind, ["x"], ["y"], domain=domain), domain=domain)
    with pytest.raises(BundleError, match=kind):
        read_program(path)


def test_an_operator_in_a_branch_is_refused_too(tmp_path: Path) -> None:
    inner = helper.make_graph([helper.make_node("Shell", ["x"], ["z"])], "inner", [], [])
    path = onnx_file(tmp_path, helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner))
    with pytest.raises(BundleError, match="Shell"):
        read_program(path)


def test_a_tensor_in_another_file_is_refused(tmp_path: Path) -> None:
    tensor = helper.make_tensor("w", TensorProto.FLOAT, [4], [0.0] * 4)
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="secrets.bin")
    path = onnx_file(tmp_path, helper.make_node("Add", ["x", "w"], ["y"]), tensor=tensor)
    with pytest.raises(BundleError, match=r"secrets\.bin"):
        read_program(path)


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("part", ["node", "graph"])
def test_a_program_without_end_is_refused(tmp_path: Path, part: str) -> None:
    def field(number: int, content: bytes) -> bytes:
        length, size = b"", len(content)
        while size >= 0x80:
            length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + content

    attribute = field(5, field(6, b"")) if part == "graph" else b""  # a node's attribute that is an empty graph
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x08\x08" + field(7, field(1, attribute) * 1_200_000))
    with pytest.raises(BundleError, match="more than any program has"):
        read_program(path)
