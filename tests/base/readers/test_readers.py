"""The readers against what Paddle, paddle2onnx and their own packages say of the same files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from exporter.base.errors import BundleError, UsageError
from exporter.base.readers import named_parameters, read
from exporter.base.readers.base import ModelFacts
from exporter.base.readers.kinds.onnx import read_onnx
from exporter.base.readers.kinds.pdiparams import read_pdiparams, weights
from exporter.base.readers.kinds.pdmodel import read_pdmodel
from exporter.base.readers.kinds.pir import read_pir
from exporter.base.readers.kinds.safetensors import read_safetensors
from exporter.base.tensors import TensorSpec, digest


@pytest.fixture(scope="module")
def checkpoint(artifacts: Path) -> dict[str, Any]:
    return load_file(artifacts / "checkpoint.safetensors")


def shapes(specs: tuple[TensorSpec, ...]) -> list[tuple[str, tuple[int | str, ...]]]:
    return [(one.dtype, one.shape) for one in specs]


@pytest.mark.parametrize("model", ["pir/model.json", "pdmodel/model.pdmodel"])
def test_names_fit_numbers(artifacts: Path, checkpoint: dict[str, Any], model: str) -> None:
    """Twelve tensors of one shape: a wrong order would give each a wrong name, and no error."""
    program = artifacts / model
    named = named_parameters(program, program.with_suffix(".pdiparams"))
    assert len(named) == len(checkpoint) == 29
    assert {digest(one) for one in named.values()} == {digest(one) for one in checkpoint.values()}
    # Paddle numbers layers in the order of their making: head is linear_0, body.0 linear_1 and so on.
    for number in range(12):
        layer = "head" if number == 0 else f"body.{number - 1}"
        for mine, theirs in (("w_0", "weight"), ("b_0", "bias")):
            key = next(name for name in named if re.fullmatch(rf"linear_{number}\.{mine}", name))
            np.testing.assert_array_equal(named[key], checkpoint[f"{layer}.{theirs}"])


def test_the_two_paddle_formats_write_the_same_parameters(artifacts: Path, checkpoint: dict[str, Any]) -> None:
    paths = [artifacts / kind / "model.pdiparams" for kind in ("pir", "pdmodel")]
    contents = [path.read_bytes() for path in paths]
    stored = [[digest(one.array(content)) for one in weights(content, "")] for content in contents]
    assert stored[0] == stored[1]
    assert set(stored[0]) == {digest(one) for one in checkpoint.values()}
    facts = read_pdiparams(paths[0])
    assert [one.name for one in facts.weights] == [f"#{number}" for number in range(29)]


def test_pir(artifacts: Path) -> None:
    facts = read_pir(artifacts / "pir/model.json")
    assert facts.inputs == (TensorSpec("image", "float32", (-1, 1, 8, 8)),)
    assert shapes(facts.outputs) == [("float32", (-1, 10)), ("int64", (-1, 10))]
    assert facts.operators["matmul"] == 12
    assert {"p", "data", "fetch"}.isdisjoint(facts.operators)
    assert (facts.writer, facts.versions) == ("Paddle 3.3", {"pir": 4})


def test_pdmodel(artifacts: Path) -> None:
    facts = read_pdmodel(artifacts / "pdmodel/model.pdmodel")
    assert facts.inputs == (TensorSpec("image", "float32", (-1, 1, 8, 8)),)
    assert shapes(facts.outputs) == [("float32", (-1, 10)), ("int64", (-1, 10))]
    assert facts.operators == {
        "batch_norm": 1,
        "cast": 1,
        "conv2d": 1,
        "elementwise_add": 12,
        "flatten_contiguous_range": 1,
        "matmul_v2": 12,
        "relu": 1,
        "scale": 1,
    }
    assert facts.writer.startswith("Paddle 3.")
    assert facts.versions["operator elementwise_add"] == 1


def test_a_size_that_paddle_multiplied_is_unknown_and_no_weight_has_one(tmp_path: Path) -> None:
    """InstanceNorm's saved statistics, as stock Paddle declares them where the batch varies."""
    import paddle

    from exporter.paddle.private import framework_pb2
    from exporter.paddle.programs import legacy_programs

    with legacy_programs():
        spec = [paddle.static.InputSpec([-1, 4, 3, 3], "float32", "x")]
        layer = paddle.jit.to_static(paddle.nn.InstanceNorm2D(4), input_spec=spec, full_graph=True)
        paddle.jit.save(layer, str(tmp_path / "model"))
    path = tmp_path / "model.pdmodel"
    program = framework_pb2.ProgramDesc.FromString(path.read_bytes())
    variables = program.blocks[0].vars
    assert [-4] in [list(one.type.dense_tensor.tensor.dims) for one in variables]
    facts = read_pdmodel(path)
    assert shapes(facts.outputs) == [("float32", (-1, 4, 3, 3))]
    assert [one.shape for one in facts.weights] == [(4,), (4,)]
    (weight, *_) = (one for one in variables if one.name == facts.weights[0].name)
    weight.type.dense_tensor.tensor.dims[0] = -4
    path.write_bytes(program.SerializeToString())
    with pytest.raises(BundleError, match="a tensor whose shape is not made of sizes"):
        read(path)


def test_onnx_agrees_with_the_onnx_package(artifacts: Path) -> None:
    import onnx
    from onnx import numpy_helper

    path = artifacts / "onnx/model.onnx"
    facts, model, content = read_onnx(path), onnx.load(path), path.read_bytes()
    assert [one.name for one in facts.inputs] == [one.name for one in model.graph.input]
    assert [one.name for one in facts.outputs] == [one.name for one in model.graph.output]
    assert sum(facts.operators.values()) == len(model.graph.node)
    assert (facts.versions["ir"], facts.versions["opset"]) == (model.ir_version, 17)
    constants = {node.output[0]: node.attribute[0].t for node in model.graph.node if node.op_type == "Constant"}
    assert {one.name for one in facts.weights} == set(constants)
    for weight in facts.weights:
        np.testing.assert_array_equal(weight.array(content), numpy_helper.to_array(constants[weight.name]))


def test_onnx_in_all_its_ways_of_storing(tmp_path: Path) -> None:
    """Initializers, typed fields, packed varints with negative numbers, half floats as numbers, subgraphs."""
    import onnx
    from onnx import TensorProto, helper

    stored = [
        helper.make_tensor("f", TensorProto.FLOAT, [2, 2], [1.5, -2, 3, 4]),
        helper.make_tensor("d", TensorProto.DOUBLE, [2], [1.5, -2]),
        helper.make_tensor("i", TensorProto.INT64, [3], [1, -1, 2**40]),
        helper.make_tensor("j", TensorProto.INT32, [2], [-7, 300]),
        helper.make_tensor("h", TensorProto.FLOAT16, [2], [0.5, -2]),
        helper.make_tensor("b", TensorProto.BOOL, [2], [True, False]),
        helper.make_tensor("u", TensorProto.UINT64, [1], [2**63 + 5]),
        helper.make_tensor("raw", TensorProto.FLOAT, [1], np.array([9], "<f4").tobytes(), raw=True),
        helper.make_tensor("empty", TensorProto.FLOAT, [0], []),
        helper.make_tensor("s", TensorProto.STRING, [1], [b"text"]),
    ]
    value = helper.make_tensor_value_info
    inner = helper.make_graph(
        [helper.make_node("Identity", ["f"], ["y"])], "inner", [], [value("y", TensorProto.FLOAT, [2, 2])]
    )
    graph = helper.make_graph(
        [
            helper.make_node("If", ["c"], ["o"], then_branch=inner, else_branch=inner),
            helper.make_node("Odd", [], ["z"], domain="mine"),
        ],
        "g",
        [value("c", TensorProto.BOOL, []), value("f", TensorProto.FLOAT, [2, 2])],
        [value("o", TensorProto.FLOAT, ["n", None])],
        stored,
    )
    path = tmp_path / "m.onnx"
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16), helper.make_opsetid("mine", 3)]), path
    )
    facts, content = read(path), path.read_bytes()
    assert facts.operators == {"If": 1, "Identity": 2, "mine.Odd": 1}
    assert {name: facts.versions[name] for name in ("opset", "opset mine")} == {"opset": 16, "opset mine": 3}
    assert facts.inputs == (TensorSpec("c", "bool", ()),), "an initializer is no input"
    assert facts.outputs == (TensorSpec("o", "float32", ("n", -1)),)
    for weight, tensor in zip(facts.weights, stored, strict=True):
        if weight.dtype != "string":
            np.testing.assert_array_equal(weight.array(content), onnx.numpy_helper.to_array(tensor))
    with pytest.raises(UsageError, match="as string"):
        facts.weights[-1].array(content)


@pytest.mark.parametrize("location", ["/etc/passwd", "../outside", "a/../../b", ""])
def test_onnx_external_data_stays_below_the_model(tmp_path: Path, location: str) -> None:
    import onnx
    from onnx import TensorProto, helper

    tensor = helper.make_tensor("w", TensorProto.FLOAT, [2], [0, 0])
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    model = helper.make_model(helper.make_graph([], "g", [], [], [tensor]))
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    weight = read(path).weights[0]
    assert (weight.file, weight.pieces) == ("weights.bin", ((0, 8),))
    with pytest.raises(UsageError, match=r"in weights\.bin"):
        weight.array(path.read_bytes())
    model.graph.initializer[0].external_data[0].value = location
    path.write_bytes(model.SerializeToString())
    with pytest.raises(BundleError, match="unsafe path"):
        read(path)


def test_safetensors(artifacts: Path, checkpoint: dict[str, Any]) -> None:
    path = artifacts / "checkpoint.safetensors"
    facts, content = read_safetensors(path), path.read_bytes()
    assert {one.name for one in facts.weights} == set(checkpoint)
    for weight in facts.weights:
        np.testing.assert_array_equal(weight.array(content), checkpoint[weight.name])


def pdiparams(*tensors: tuple[int, bytes, bytes]) -> bytes:
    """A .pdiparams of (dtype number, TensorDesc dims field, numbers)."""
    whole = b""
    for kind, dims, numbers in tensors:
        described = bytes([8, kind]) + dims
        whole += bytes(16) + len(described).to_bytes(4, "little") + described + numbers
    return whole


def test_dtypes_that_numpy_lacks_come_as_bit_patterns(tmp_path: Path) -> None:
    path = tmp_path / "m.pdiparams"
    path.write_bytes(
        pdiparams((22, b"\x10\x02", b"\x80\x3f\x00\xc0"), (4, b"\x12\x01\x01", b"\x00\x3c"), (5, b"", bytes(4)))
    )
    facts, content = read(path), path.read_bytes()
    assert [(one.dtype, one.shape) for one in facts.weights] == [("bfloat16", (2,)), ("float16", (1,)), ("float32", ())]
    assert [one.array(content).tolist() for one in facts.weights] == [[0x3F80, 0xC000], [1.0], 0.0]


HUGE = b"\x10" + b"\xff" * 8 + b"\x7f"  # a dim of 2**63 - 1


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (pdiparams((5, b"\x10\x02", bytes(7))), "at byte 24: 8 bytes wanted, 7 are left"),
        (pdiparams((5, b"\x10\x01", bytes(4))) + b"\0", "at byte 28: 4 bytes wanted, 1 are left"),
        (pdiparams((5, HUGE, b"")), "at byte 20: a tensor of [9223372036854775807], larger than any memory"),
        (pdiparams((5, HUGE * 64, b"")), "a tensor of 64 dimensions"),
        (pdiparams((5, HUGE * 65, b"")), "a tensor of 65 dimensions"),
        (pdiparams((5, b"\x10" + b"\xff" * 9 + b"\x01", b"")), "unknown size [-1]"),
        (pdiparams((99, b"", b"")), "unknown dtype 99"),
        (b"\x01" + bytes(30), "at byte 0: version 1"),
        (bytes(4) + b"\xff" * 8 + bytes(30), "bytes wanted"),
        (bytes(16) + b"\xff\xff\xff\xff", "4294967295 bytes wanted"),
    ],
)
def test_hostile_parameters_are_refused_at_the_byte(tmp_path: Path, content: bytes, word: str) -> None:
    path = tmp_path / "m.pdiparams"
    path.write_bytes(content)
    with pytest.raises(BundleError) as caught:
        read(path)
    assert word in caught.value.what
    assert caught.value.where == str(path)


def test_parameters_of_another_program_are_refused(artifacts: Path, tmp_path: Path) -> None:
    program = artifacts / "pir/model.json"
    alien = tmp_path / "m.pdiparams"
    alien.write_bytes(pdiparams((5, b"\x10\x01", bytes(4))))
    with pytest.raises(BundleError, match="1 tensors, but the program declares 29"):
        named_parameters(program, alien)
    whole = (artifacts / "pir/model.pdiparams").read_bytes()
    first = read(artifacts / "pir/model.pdiparams").weights[0].pieces[0][1]
    alien.write_bytes(
        whole[:24].replace(b"\x08\x05\x10\x04", b"\x08\x05\x10\x03") + whole[24 : first - 4] + whole[first:]
    )
    with pytest.raises(
        BundleError, match=r"tensor #0 is float32\[3\], but the program's 'batch_norm2d_0\.b_0' is float32\[4\]"
    ):
        named_parameters(program, alien)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("m.json", b'{"base_code": {"magic": "pir", "version": 4}, "program": {"regions": 3}}', BundleError),
        ("m.json", b'{"base_code": {"magic": "pir", "version": 1e999}, "program": {}}', BundleError),
        ("m.json", b'{"name": "package.json"}', UsageError),
        ("m.json", b"[" * 1_000_000, BundleError),
        ("m.json", b"\xff\xfe", BundleError),
        ("m.json", b"9" * 100_000, BundleError),
        ("m.pdmodel", b"", BundleError),
        ("m.onnx", b"", BundleError),
        ("m.onnx", b"\x3a\x00", BundleError),
        ("m.onnx", b"\x80" * 100, BundleError),
        ("m.safetensors", b"", BundleError),
        ("m.safetensors", b"\xff" * 8, BundleError),
        ("m.safetensors", (2).to_bytes(8, "little") + b"[]", BundleError),
        ("m.safetensors", (2).to_bytes(8, "little") + b"{}" + b"left over", BundleError),
        ("m.pkl", b"cos\nsystem\n", UsageError),
    ],
)
def test_what_is_no_artifact_is_refused(tmp_path: Path, name: str, content: bytes, error: type[Exception]) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(error):
        read(path)


def test_messages_nested_without_end_are_refused(tmp_path: Path) -> None:
    """An ONNX graph whose node holds a graph whose node holds …: the stack is ours, not the file's."""
    message = b""
    for _ in range(2000):  # graph.node (1) . attribute (5) . g (6)
        for number in (6, 5, 1):
            message = bytes([number << 3 | 2]) + varint(len(message)) + message
    path = tmp_path / "m.onnx"
    path.write_bytes(b"\x08\x08\x3a" + varint(len(message)) + message)
    with pytest.raises(BundleError, match="nested more than 100 deep"):
        read(path)


def varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def test_a_path_that_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.onnx").mkdir()
    os.mkfifo(tmp_path / "pipe.onnx")
    for name, word in {"folder.onnx": "not a file", "pipe.onnx": "not a file", "nix.onnx": "no such file"}.items():
        with pytest.raises(UsageError, match=word):
            read(tmp_path / name)
    with pytest.raises(UsageError, match=r"cannot be read|no such file"):
        read(tmp_path / "a\0b.onnx")


def test_facts_need_no_engine(artifacts: Path) -> None:
    heavy = ["paddle", "onnx", "onnxruntime", "paddle2onnx", "numpy"]
    script = (
        "import sys, pathlib, exporter.base.readers as r\n"
        "[r.read(pathlib.Path(p)) for p in sys.argv[1:]]\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    files = [artifacts / name for name in ("pir/model.json", "pdmodel/model.pdmodel", "onnx/model.onnx")]
    done = subprocess.run([sys.executable, "-c", script, *map(str, files)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_facts_as_json(artifacts: Path) -> None:
    told = json.loads(json.dumps(read(artifacts / "pir/model.json").as_json()))
    assert told["inputs"] == [{"name": "image", "dtype": "float32", "shape": [-1, 1, 8, 8]}]
    assert told["parameters"] == {"count": 29, "elements": 3832}
    assert ModelFacts("onnx", 0).as_json()["parameters"] == {"count": 0, "elements": 0}
