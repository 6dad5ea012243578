"""ONNX straight from the program: what is written, what is refused, and a sample of the tables."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import paddle
import pytest

from evals.lower import onnx_table
from exporter.base.errors import ModelError, UsageError
from exporter.base.readers.program import Operator, TensorType, Value
from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Artifact, Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.lower.onnx_program.call import Call, wide
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops import OPERATORS
from exporter.export.lower.onnx_program.passes.opset import IR_VERSIONS
from exporter.export.lower.stored import stored_digests
from exporter.export.trace.traced import Traced, trace
from exporter.prove.proofs.kinds.weights import prove_trained
from exporter.prove.verdict.claim import Outcome
from tests.command import ROOT
from tests.export.lower.as_onnx import AsOnnx

X = TensorSpec("x", "float32", ("batch", 3, 8, 8))
#: Of the table of kinds, in the order of the file: each API once, and of these each form.
SAMPLED = ("computed", "LSTM", "GRU", "SimpleRNN")


class Small(paddle.nn.Layer):
    """A batch norm that is folded, a weight that is stored, control flow, and a setitem."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(0)
        self.conv, self.norm, self.head = paddle.nn.Conv2D(3, 6, 3), paddle.nn.BatchNorm2D(6), paddle.nn.Linear(6, 4)
        self.norm._mean.set_value(paddle.rand([6]))
        self.norm._variance.set_value(paddle.rand([6]) + 0.5)

    def forward(self, x: Any) -> Any:
        y = paddle.nn.functional.relu(self.norm(self.conv(x))).mean([2, 3])
        if y.sum() > 3.0:
            y = y * 2.0
        turn = paddle.zeros([1], "int64")
        while turn < 3:
            y = y + 0.25
            turn = turn + 1
        y[:, 1:3] = 0.5
        return self.head(y)


class Lengths(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = paddle.nn.LSTM(4, 6, 2, direction="bidirect")

    def forward(self, x: Any, lengths: Any) -> Any:
        return self.lstm(x, sequence_length=lengths)[0]


class Poisson(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        return paddle.poisson(x)


class Banked(paddle.nn.Layer):
    """Labels that are 1 in the operand which comes first, and the batch behind."""

    def __init__(self) -> None:
        super().__init__()
        self.bank, self.scale = paddle.rand([1, 2, 8, 8]), paddle.rand([1])

    def forward(self, x: Any) -> Any:
        y, z = paddle.einsum("bhij,bkij->bhk", self.bank, x), paddle.einsum("b,b...->b...", self.scale, x)
        return y.reshape([y.shape[0], -1]), z.reshape([z.shape[0], -1])


class Deformable(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        weight = paddle.ones([2, 3, 3, 3])
        return paddle.vision.ops.deform_conv2d(x, paddle.zeros_like(x)[:, :1, :6, :6].tile([1, 18, 1, 1]) + 0.3, weight)


def traced_to_pir(layer: Any, folder: Path, inputs: Sequence[TensorSpec] = (X,)) -> Traced:
    (folder / "pir").mkdir()
    (folder / "onnx").mkdir()
    layer.eval()
    with pir_format.session(None):
        traced = trace(layer, tuple(inputs), None, {})
        pir_format.write(traced, None, folder / "pir", Wish())
    return traced


def write_program(folder: Path, opset: int | None = None, inputs: tuple[TensorSpec, ...] = (X,)) -> dict[str, Any]:
    wish = Wish(opset, inputs=inputs)
    return dict(onnx_format.write(None, folder / "pir", folder / "onnx", wish))


def session_of(folder: Path) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(folder / "onnx/model.onnx", providers=["CPUExecutionProvider"])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Traced]:
    folder, layer = tmp_path_factory.mktemp("small"), Small()
    return folder, layer, traced_to_pir(layer, folder)


@pytest.mark.parametrize("opset", IR_VERSIONS)
def test_each_opset_computes_what_eager_does_in_both_branches(small: tuple[Path, Any, Traced], opset: int) -> None:
    folder, layer, _ = small
    details = write_program(folder, opset)
    assert (details["opset_asked"], details["opset"], details["writer_asked"]) == (opset, opset, "program")
    for size, batch in ((0.01, 1), (3.0, 5)):
        x = np.random.default_rng(0).standard_normal([batch, 3, 8, 8]).astype("float32") * size
        (got,) = session_of(folder).run(None, {"x": x})
        np.testing.assert_allclose(got, layer(paddle.to_tensor(x)).numpy(), rtol=1e-5, atol=1e-6)


def test_weights_keep_their_names_and_the_proof_by_content_holds(small: tuple[Path, Any, Traced]) -> None:
    folder, layer, traced = small
    details = write_program(folder)
    files = ("onnx/model.onnx",)
    weights = stored_digests(files, folder)
    names = {tensor.name: name for name, tensor in layer.state_dict().items()}
    origins = {stored: names[stored] for stored in weights if stored in names}
    assert set(origins.values()) == {"head.weight", "head.bias"}
    artifact = Artifact("onnx", "fp32", files, ("x",), ("output_0",), ("output_0",), details, weights, origins)
    at_hand = {traced.parameters[name]: tensor.numpy() for name, tensor in layer.state_dict().items()}
    evidence = prove_trained(artifact, folder, traced.parameters, at_hand)
    assert evidence.outcome is Outcome.MATCH and "2 folded out of trained ones, computed again" in evidence.reason


def test_nodes_say_which_operator_and_sublayer_they_come_from(small: tuple[Path, Any, Traced]) -> None:
    folder, _, _ = small
    write_program(folder)
    model = onnx.load(folder / "onnx/model.onnx")
    assert model.producer_name == "exporter"
    assert [dim.dim_param or dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim] == [
        "batch", 3, 8, 8
    ]  # fmt: skip
    (conv,) = [node for node in model.graph.node if node.op_type == "Conv"]
    about = {entry.key: entry.value for entry in conv.metadata_props}
    assert about["pir_operator"].endswith(" conv2d")
    # Paddle numbers a scope by how often this process has opened one of its name: other tests of it did.
    assert re.fullmatch(r"Conv2D(_\d+)?", about["sublayer"])


def test_lengths_are_where_onnx_has_them(tmp_path: Path) -> None:
    layer, rows = (
        Lengths(),
        (TensorSpec("x", "float32", ("batch", "seq", 4)), TensorSpec("lengths", "int64", ("batch",))),
    )
    traced_to_pir(layer, tmp_path, rows)
    write_program(tmp_path, inputs=rows)
    nodes = [node for node in onnx.load(tmp_path / "onnx/model.onnx").graph.node if node.op_type == "LSTM"]
    assert len(nodes) == 2 and all(node.input[4] for node in nodes)
    x = np.random.default_rng(0).standard_normal([3, 5, 4]).astype("float32")
    lengths = np.array([5, 1, 3])
    (got,) = session_of(tmp_path).run(None, {"x": x, "lengths": lengths})
    want = layer(paddle.to_tensor(x), paddle.to_tensor(lengths)).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert not got[1, 1:].any() and got[0].any(axis=-1).all()


def test_what_has_no_conversion_is_refused_by_name(tmp_path: Path) -> None:
    traced_to_pir(Poisson(), tmp_path)
    with pytest.raises(ModelError, match=r"operator poisson \(number 1\): has no conversion") as refusal:
        write_program(tmp_path)
    assert "pir and pdmodel hold it" in refusal.value.hint
    assert not list((tmp_path / "onnx").iterdir()), "no file is left"


def test_what_onnx_runtime_lacks_in_float64_is_refused_at_its_operator(tmp_path: Path) -> None:
    shapes = {"x": ("float64", ("n", 2, 5, 5)), "moves": ("float64", ("n", 8, 4, 4))}
    weight: Any = lambda: paddle.ones([3, 2, 2, 2], "float64")  # noqa: E731
    with pytest.raises(ModelError, match=r"deformable_conv.*ONNX Runtime does not compute DeformConv in float64; cast"):
        AsOnnx(lambda x, moves: paddle.vision.ops.deform_conv2d(x, moves, weight()), shapes, tmp_path)


def test_a_1_in_einsum_meets_the_batch(tmp_path: Path) -> None:
    layer = Banked()
    traced_to_pir(layer, tmp_path)
    write_program(tmp_path)
    for batch in (2, 3):
        x = np.random.default_rng(0).standard_normal([batch, 3, 8, 8]).astype("float32")
        want = layer(paddle.to_tensor(x))
        for got, expected in zip(session_of(tmp_path).run(None, {"x": x}), want, strict=True):
            np.testing.assert_allclose(got, expected.numpy(), rtol=1e-5, atol=1e-5)


def test_a_later_opset_is_written_only_where_none_was_asked_for(tmp_path: Path) -> None:
    layer = Deformable()
    traced_to_pir(layer, tmp_path)
    details = write_program(tmp_path)
    assert (details["opset_asked"], details["opset"]) == (17, 19)
    x = np.random.default_rng(0).standard_normal([2, 3, 8, 8]).astype("float32")
    (got,) = session_of(tmp_path).run(None, {"x": x})
    np.testing.assert_allclose(got, layer(paddle.to_tensor(x)).numpy(), rtol=1e-4, atol=1e-5)
    with pytest.raises(ModelError, match="ONNX has deformable convolutions since opset 19"):
        write_program(tmp_path, 17)


@pytest.mark.parametrize("opset", [10, 26])
def test_an_opset_that_is_not_written_is_a_usage_error(small: tuple[Path, Any, Traced], opset: int) -> None:
    with pytest.raises(UsageError, match=f"opset {opset} is not written"):
        write_program(small[0], opset)


def called(name: str, attributes: dict[str, Any], operands: int = 1) -> Call:
    x = Tensor("x", "float32", (2, 3))
    result = Value(9, TensorType("float32", (2, 3)))
    return Call(Operator(name, 4, tuple(range(1, operands + 1)), (result,), attributes), [x] * operands, Builder(17))


def test_an_attribute_or_an_operand_that_a_lowering_never_read_is_told() -> None:
    """A newer Paddle may add one; it must not be dropped in silence."""
    for call, left in (
        (called("relu", {}), ""),
        (called("relu", {"place": [0]}), ""),
        (called("relu", {"slope": 0.1}), "attribute slope is not written"),
        (called("relu", {}, operands=2), "operand 1 is not written"),
    ):
        OPERATORS["relu"](call)
        assert call.unread() == left
    with pytest.raises(ModelError, match=r"number 4.*mode = 'odd' is not written"):
        called("pool", {"mode": "odd"}).insist("mode", "even")


def test_narrow_numbers_are_computed_in_wider_ones_and_come_back() -> None:
    assert [wide(name) for name in ("uint8", "int16", "bfloat16", "float64")] == [
        "int32",
        "int32",
        "float32",
        "float64",
    ]


def test_a_sample_of_the_table_of_kinds(tmp_path: Path) -> None:
    """One case of each API, recorded and judged as the whole table is."""
    from legacy_judge import load_module

    cases: dict[str, Any] = {}
    for case in onnx_table.cases_of("kind"):
        key = f"{case.api} {case.form}" if case.api in SAMPLED else case.api
        cases.setdefault(key, case)
    chosen = list(cases.values())[::12]
    assert len(chosen) > 8
    module = load_module(chosen, tmp_path)
    wrong = {}
    for index, case in enumerate(chosen):
        folder = tmp_path / f"{index}"
        onnx_table.record_case(case, getattr(module, f"Case{index}"), folder)
        outcome, why = onnx_table.judge(folder)
        if outcome not in ("right", "not finite"):
            wrong[case.name] = f"{outcome}: {why}"
    # Paddle's own file rounds numbers to float32, so that it is not eager either.
    assert not {name: why for name, why in wrong.items() if not name.startswith("number")}


@pytest.mark.slow
@pytest.mark.parametrize(("table", "least"), [("kind", 311), ("further", 551), ("sunk", 1328)])
def test_the_whole_table_has_nothing_wrong(table: str, least: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evals.lower.onnx_table", "--cases", table, "--recorded", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=3600, check=False)
    assert int(done.stdout.splitlines()[-1].split("/")[0]) >= least, done.stdout


def test_a_layer_norm_along_an_open_size_takes_it_from_its_scale(tmp_path: Path) -> None:
    """A program that is a file may compute the size that its norm goes along; a `.pdmodel` mostly does."""
    shapes: dict[str, tuple[str, Sequence[int | str]]] = {
        "x": ("float32", ("n", "m")),
        "scale": ("float32", (7,)),
        "bias": ("float32", (7,)),
    }
    as_onnx = AsOnnx(lambda x, scale, bias: paddle._C_ops.layer_norm(x, scale, bias, 1e-5, 1), shapes, tmp_path)
    model = onnx.load(tmp_path / "onnx/model.onnx")
    assert [node.op_type for node in model.graph.node] == ["LayerNormalization"]
    draw = np.random.default_rng(0)
    as_onnx.must_equal_eager({name: draw.normal(size=size).astype("float32") for name, size in
                              (("x", (3, 7)), ("scale", 7), ("bias", 7))})  # fmt: skip
