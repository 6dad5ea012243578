"""ONNX of what paddle2onnx gets wrong, judged in ONNX Runtime against eager."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import legacy_kind_cases
import legacy_sunk_cases
import numpy as np
import paddle
import pytest
from legacy_judge import How, load_onnx, run_cases
from legacy_onnx import export_onnx

from exporter.errors import ModelError
from exporter.lower._paddle2onnx import readable
from exporter.trace.legacy.onnx import DETOURS, REWRITES, convertible
from exporter.trace.legacy.onnx.supported import SUPPORTED

HERE = Path(__file__).parent
#: By the dtypes that a network of today computes in; the whole table is a slow test.
DTYPES = {"float32", "int32", "int64", "bool"}


#: Positions between pixels are rounded otherwise, to some ratios above the budget in twelve numbers; of equal and of
#: missing numbers ONNX Runtime chooses others than Paddle.
DIFFERENT = ("interpolate bilinear, scale_factor=", "argmax to a scalar", "shape paddle.argsort")


def _misses(cases):
    outcomes = [one for one in run_cases(cases, How("onnx")) if not one.passed and one.stage != "eager"]
    return [f"{one.name}: {one.stage}: {one.detail}" for one in outcomes if not one.name.startswith(DIFFERENT)]


def test_a_kind_of_each():
    """Cases of each API, of other kinds of form each: at most three, and of recurrent layers nine."""
    seen, chosen, taken = set(), [], Counter()
    for case in legacy_kind_cases.cases():
        key = (case.api, case.form.split(",")[0] if case.api not in ("LSTM", "GRU", "SimpleRNN") else case.form[-16:])
        if key not in seen and taken[case.api] < (9 if case.api in ("LSTM", "GRU", "SimpleRNN") else 3):
            chosen.append(case)
            seen.add(key)
            taken[case.api] += 1
    assert len(chosen) > 100 and len(taken) > 60
    assert _misses(chosen) == []


def test_each_rewritten_api():
    cases = [case for case in legacy_sunk_cases.cases() if set(case.dtype.split("+")) <= DTYPES and not case.init]
    # Of integers they are infinite or NaN in eager mode, which proves nothing.
    cases = [case for case in cases if case.api not in ("acos", "asin", "atanh") or "int" not in case.dtype]
    first = {
        (case.api, case.dtype): case for case in cases if case.api in REWRITES and case.form in ("function", "0-D")
    }
    assert len(first) > 50
    assert _misses(list(first.values())) == []


def test_what_has_no_conversion_is_refused_at_the_users_line(tmp_path):
    with pytest.raises(ModelError, match="operator erfinv has no conversion") as refusal:
        _export(_Erfinv(), tmp_path)
    line = _Erfinv.forward.__code__.co_firstlineno + 1
    assert refusal.value.where == f"{__file__}:{line}"
    assert "pir and pdmodel hold it" in refusal.value.hint


def test_complex_outputs_and_int16_are_refused_before_paddle2onnx_sees_them(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with pytest.raises(ModelError, match="operator cast gives int16"):
        _export(_Int16(), tmp_path / "a")
    with pytest.raises(ModelError, match="operator complex gives complex64") as refusal:
        _export(_Fourier(), tmp_path / "b")
    assert "put out its real and imaginary parts" in refusal.value.hint
    assert refusal.value.where.startswith(__file__)


def test_a_call_that_cannot_be_rewritten_names_the_api_the_line_and_what_works(tmp_path):
    with pytest.raises(ModelError, match=r"paddle\.acos: ONNX Runtime does not compute it in float64") as refusal:
        _export(_Acos(), tmp_path, "float64")
    assert refusal.value.where.startswith(__file__)
    assert refusal.value.hint == "cast the tensor to float32"


def test_lengths_stand_where_onnx_has_them(tmp_path):
    onnx = pytest.importorskip("onnx")
    _export(_Lengths(), tmp_path)
    model = onnx.load(tmp_path / "onnx" / "model.onnx")
    (node,) = [one for one in model.graph.node if one.op_type == "GRU"]
    assert node.input[4]
    assert not [one for one in model.graph.node if one.op_type == "Sum"]
    x = np.random.default_rng(0).standard_normal([3, 5]).astype("float32")
    x[1, 0] = -2.0  # the row of length 1
    (found,) = load_onnx(tmp_path).run(None, {"x": x})
    assert not found[1, 1:].any()
    assert found[0].any(axis=-1).all()


def test_attributes_that_are_float64_since_paddle_3_3_are_read(tmp_path):
    program = b'{"program":{"regions":[{"blocks":[{"ops":[{"#":"1.leaky_relu","A":[{"N":"negative_slope","AT":'
    program += b'{"#":"0.a_f64","D":0.3}}],"I":[{"%":1}],"O":[{"%":2}]}]}]}]}}'
    assert b'"0.a_f32"' in readable(program)
    assert b'"0.a_f64"' in readable(program.replace(b"negative_slope", b"value"))


def test_what_an_operator_in_place_gave_is_what_its_operand_means_from_then_on():
    operators = b'{"#":"1.relu_","A":[],"I":[{"%":1}],"O":[{"%":2}]},{"#":"1.exp","A":[],"I":[{"%":1}],"O":[{"%":3}]}'
    found = readable(b'{"program":{"regions":[{"blocks":[{"ops":[' + operators + b"]}]}]}}")
    assert b'"#":"1.relu"' in found
    assert found.count(b'"I":[{"%":2}]') == 1


def test_everything_is_put_back():
    def entries():
        """By identity: a dict that held the entries would be changed with all else that refers to them."""
        return {name: id(vars(paddle._C_ops).get(name)) for name in names}

    names = {*REWRITES, *(name for detour in DETOURS for name in detour.names)}
    before = entries()
    with convertible():
        assert entries() != before
    assert entries() == before


def test_the_operators_said_to_be_supported_are_registered_in_paddle2onnx():
    """The library's own converters, by the symbols that register them."""
    import paddle2onnx.paddle2onnx_cpp2py_export as library

    content = Path(library.__file__).read_bytes()
    renamed = {"topk", "expand", "flatten", "unsqueeze", "arange", "argmax", "argmin", "numel", "add_n", "grid_sample"}
    plain = [name for name in SUPPORTED if f"{name}PirGenerator".encode() in content]
    assert len(plain) > 150
    assert renamed <= SUPPORTED


def test_the_page_names_every_rewritten_entry():
    page = (HERE.parents[2] / "docs" / "onnx.md").read_text()
    assert sorted(name for name in REWRITES if f"`{name}`" not in page) == []


class _Erfinv(paddle.nn.Layer):
    def forward(self, x):
        return paddle.erfinv(x)


class _Int16(paddle.nn.Layer):
    def forward(self, x):
        return x.astype("int16").astype("int32")


class _Fourier(paddle.nn.Layer):
    def forward(self, x):
        return paddle.fft.fft(x)


class _Acos(paddle.nn.Layer):
    def forward(self, x):
        return paddle.acos(x)


class _Lengths(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        paddle.seed(0)
        self.gru = paddle.nn.GRU(1, 3)

    def forward(self, x):
        lengths = paddle.where(x[:, 0] < -1.5, paddle.to_tensor(1), paddle.to_tensor(5))
        return self.gru(x.unsqueeze(-1), sequence_length=lengths)[0]


def _export(layer, folder, dtype="float32"):
    layer.eval()
    return export_onnx(layer, [paddle.static.InputSpec([None, 5], dtype, "x")], folder)


@pytest.mark.slow
@pytest.mark.parametrize(("cases", "least"), [("kind", 240), ("sunk", 1200), ("further", 430)])
def test_the_whole_table(cases, least):
    command = [sys.executable, str(HERE / "legacy_table.py"), "--cases", cases, "--way", "onnx"]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[2])}
    said = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=3600, check=False).stdout
    passed = int(said.splitlines()[-1].split("/")[0])
    assert passed >= least, said
