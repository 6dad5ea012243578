"""What Paddle breaks while it traces, mended in both of its formats: the files against eager, on two batches."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import TensorSpec
from exporter.engines.base import Runnable
from exporter.engines.kinds.paddle_inference import plugin as predictor
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.pdmodel import plugin as pdmodel
from exporter.export.lower.kinds.pir import plugin as pir
from exporter.export.trace.fixes import fixes_in_force
from exporter.export.trace.fixes.base import Fix
from exporter.export.trace.traced import trace
from exporter.paddle import private
from exporter.paddle.refusal import CannotLower

FORMATS = {"pir": pir, "pdmodel": pdmodel}


class Fold(paddle.nn.Layer):
    def forward(self, x):
        patches = F.unfold(x, [2, 2], strides=[2, 2])
        return F.fold(patches * 2, x.shape[2:], kernel_sizes=2, strides=2)


class Unpool1(paddle.nn.Layer):
    def forward(self, x):
        y, places = F.max_pool1d(x, 2, 2, return_mask=True)
        return F.max_unpool1d(y, places, 2, 2, output_size=x.shape)


class Unpool2(paddle.nn.Layer):
    def forward(self, x):
        y, places = F.max_pool2d(x, 2, 2, return_mask=True)
        size = y.shape
        z, more = F.max_pool2d(y, 2, 2, return_mask=True)
        return F.max_unpool2d(F.max_unpool2d(z, more, 2, 2, output_size=size), places, 2)


class Unpool3(paddle.nn.Layer):
    def forward(self, x):
        y, places = F.max_pool3d(x, 2, 2, return_mask=True)
        return F.max_unpool3d(y, places, 2, 2)


class Signs(paddle.nn.Layer):
    def forward(self, x):
        far = x * 1e38 * 1e38  # infinite, with x's sign
        return paddle.signbit(x * 0.0), paddle.isneginf(far), paddle.signbit(x.astype("int32"))


class Steps(paddle.nn.Layer):
    """A cell of the user's between Paddle's, forwards and backwards, over as many steps as there are."""

    def __init__(self):
        super().__init__()
        self.one = paddle.nn.BiRNN(paddle.nn.LSTMCell(4, 6), paddle.nn.LSTMCell(4, 6))
        self.two = paddle.nn.RNN(paddle.nn.SimpleRNNCell(12, 3), is_reverse=True)
        self.three = paddle.nn.LSTM(3, 5, proj_size=2)

    def forward(self, x):
        hidden, states = self.one(x)
        hidden, last = self.two(hidden)
        hidden, ended = self.three(hidden)
        return hidden, ended[0], ended[1], last, states[1][1]


class Turned(paddle.nn.Layer):
    """A spatial transformer, whose sizes are those of its input, with a convolution behind."""

    def __init__(self):
        super().__init__()
        self.conv = paddle.nn.Conv2D(3, 2, 3)

    def forward(self, x):
        theta = paddle.to_tensor([[[0.5, 0.1, 0.1], [0.0, 0.7, 0.2]]]).expand([x.shape[0], 2, 3]) * x[
            :, :1, :2, :3
        ].sum([1])
        grid = F.affine_grid(theta, x.shape)
        return self.conv(F.grid_sample(x, grid)), F.affine_grid(
            theta, paddle.shape(x).astype("int32"), align_corners=False
        )


class Lengths(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.one = paddle.nn.RNN(paddle.nn.GRUCell(4, 6), is_reverse=True)

    def forward(self, x):
        return self.one(x, sequence_length=(x[:, 0, 0] > 0).astype("int64") + 2)


class Banked(paddle.nn.Layer):
    """Products with a batch of 1, whose sizes are asked for: the middle dim varies, each side has the 1."""

    def __init__(self):
        super().__init__()
        self.one, self.row = paddle.rand([3, 1, 4, 5]), paddle.rand([1, 4, 5])

    def forward(self, x):
        rows, keys = x.transpose([1, 0, 2, 3])[:, 0], F.linear(x[0], self.row)
        found = [x @ self.one, paddle.matmul(self.one, x, transpose_x=True, transpose_y=True), keys]
        found.append(paddle.einsum("bij,bjk,bkl->bil", rows, self.row, self.row.transpose([0, 2, 1])))
        found.append(F.scaled_dot_product_attention(rows.unsqueeze(1), *[self.row[None, :, :2, :4]] * 2))
        return [y.reshape([*y.shape[:2], -1]) for y in found]


class Appended(paddle.nn.Layer):
    """As PaddleDetection's operators are wrapped, which know eager mode and legacy programs."""

    def forward(self, x, y):
        boxes = paddle.concat([y[:, :, :2], y[:, :, :2] + paddle.abs(y[:, :, 2:]) + 1], axis=-1)
        return suppressed(boxes, F.sigmoid(x))


@paddle.jit.not_to_static
def suppressed(boxes, scores):
    limits = {"score_threshold": 0.4, "nms_top_k": 10, "keep_top_k": 5, "nms_threshold": 0.5}
    if paddle.in_dynamic_mode():
        found = paddle._C_ops.multiclass_nms3(boxes, scores, None, *limits.values(), True, 1.0, -1)
        return found[0], found[2]
    from paddle.common_ops_import import LayerHelper

    helper = LayerHelper("multiclass_nms3", **locals())
    out = helper.create_variable_for_type_inference(dtype="float32")
    index, count = (helper.create_variable_for_type_inference(dtype="int32") for _ in range(2))
    helper.append_op(
        type="multiclass_nms3",
        inputs={"BBoxes": boxes, "Scores": scores},
        attrs={**limits, "background_label": -1, "nms_eta": 1.0, "normalized": True},
        outputs={"Out": out, "Index": index, "NmsRoisNum": count},
    )
    return out, count


CASES = {
    "fold": (Fold, [("n", 3, 8, 6)]),
    "unpool1": (Unpool1, [("n", 3, 8)]),
    "unpool1, any length": (Unpool1, [("n", 3, "w")]),
    "unpool2": (Unpool2, [("n", 3, 8, 8)]),
    "unpool2, any size": (Unpool2, [("n", 3, "h", "w")]),
    "unpool3, any size": (Unpool3, [("n", 3, "d", "h", "w")]),
    "turned": (Turned, [("n", 3, 8, 8)]),
    "turned, any size": (Turned, [("n", 3, "h", "w")]),
    "signs": (Signs, [("n", 3)]),
    "steps": (Steps, [("n", 5, 4)]),
    "steps, any number": (Steps, [("n", "w", 4)]),
    "lengths": (Lengths, [("n", 5, 4)]),
    "banked": (Banked, [(3, "n", 2, 4)]),
    "appended": (Appended, [("n", 4, 12), ("n", 12, 4)]),
}


def written(make, shapes, name: str, folder: Path):
    paddle.seed(3)
    layer = make()
    layer.eval()
    names = list(inspect.signature(layer.forward).parameters)
    specs = [TensorSpec(one, "float32", shape) for one, shape in zip(names, shapes, strict=True)]
    plugin = FORMATS[name]
    with plugin.session(None):
        traced = trace(layer, specs, None, {})
        plugin.write(traced, None, folder, Wish())
    paddle.seed(3)
    return make(), specs, traced  # to_static has changed the first one


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("case", CASES)
def test_a_mended_function_computes_what_eager_computes(case, name, tmp_path):
    layer, specs, traced = written(*CASES[case], name, tmp_path)
    names = tuple(one.name for one in specs)
    artifact = Runnable(name, tmp_path, FORMATS[name].model, names, traced.native_outputs, None, 1)
    random = np.random.default_rng(3)
    with predictor.open(artifact, "cpu") as session:
        for rows in (2, 3, 2):
            sizes = {"n": rows, "d": 4, "h": 8, "w": 4 * rows}
            shapes = [[sizes.get(size, size) for size in one.shape] for one in specs]
            values = [random.standard_normal(shape).astype("float32") for shape in shapes]
            expected = layer(*map(paddle.to_tensor, values))
            found = session.run(dict(zip(names, values, strict=True)))
            for one, output in zip(paddle.utils.flatten(expected), traced.native_outputs, strict=True):
                np.testing.assert_array_equal(found[output], one.numpy())


@pytest.mark.parametrize("name", FORMATS)
def test_what_cannot_be_mended_is_refused_with_the_users_line(name, tmp_path):
    with pytest.raises(CannotLower, match=r"nn\.functional\.fold: output_sizes has to be known") as refused:
        written(Fold, [("n", 3, "h", "w")], name, tmp_path)
    line = (
        Path(__file__)
        .read_text()
        .splitlines()
        .index("        return F.fold(patches * 2, x.shape[2:], kernel_sizes=2, strides=2)")
    )
    assert refused.value.where == f"{__file__}:{line + 1}"
    assert "height and width" in refused.value.hint
    assert not list(tmp_path.iterdir())


class Soft(paddle.nn.Layer):
    def forward(self, x):
        return F.softmax(x, axis=1)


def test_another_function_that_a_package_put_at_an_api_keeps_its_own_arguments(monkeypatch, tmp_path):
    """ppdiffusers sets `paddle.Tensor.softmax = paddle.nn.functional.softmax`, which takes `axis`, not `dim`."""
    monkeypatch.setattr(paddle.Tensor, "softmax", F.softmax)
    layer, _, traced = written(Soft, [("n", 3, 4)], "pdmodel", tmp_path)
    x = np.random.default_rng(3).standard_normal((2, 3, 4)).astype("float32")
    artifact = Runnable("pdmodel", tmp_path, pdmodel.model, ("x",), traced.native_outputs, None, 1)
    with predictor.open(artifact, "cpu") as session:
        (output,) = session.run({"x": x}).values()
    np.testing.assert_array_equal(output, layer(paddle.to_tensor(x)).numpy())


def test_all_is_put_back_after_an_exception():
    functions = (F.fold, F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)
    before = [(inspect.unwrap(one).__code__, set(one.__globals__)) for one in functions]
    with pytest.raises(ZeroDivisionError), fixes_in_force("pir"):
        assert inspect.unwrap(F.fold).__code__ is not before[0][0]
        raise ZeroDivisionError
    assert [(inspect.unwrap(one).__code__, set(one.__globals__)) for one in functions] == before


class Gone(Fix):
    """An API that the installed Paddle does not have, as `F.swiglu` before 3.3."""

    apis = ("paddle.nn.functional.gone", "paddle.gone.too")


def test_a_fix_of_what_this_paddle_does_not_have_changes_nothing():
    Gone().install(None, None)
    assert private.found("paddle.nn.functional.gone") is None is private.found("paddle.gone.too")
    assert private.found("paddle.nn.functional.fold") is F.fold


class Table(paddle.nn.Layer):
    """It binds its table anew where the rows are more, and `broken` raises behind that."""

    def __init__(self, broken: bool = False):
        super().__init__()
        self.register_buffer("table", paddle.arange(2, dtype="float32").unsqueeze(1))
        self.broken = broken

    def forward(self, x):
        if self.table.shape[0] < x.shape[0]:
            self.table = paddle.arange(x.shape[0], dtype="float32").unsqueeze(1)
        if self.broken:
            raise ZeroDivisionError
        return x + self.table[: x.shape[0]]


@pytest.mark.parametrize("broken", [False, True])
def test_a_buffer_that_forward_binds_anew_is_the_layers_own_again_after_a_trace(broken):
    layer = Table(broken)
    buffer = layer.table
    with pytest.raises(ModelError, match="ZeroDivisionError") if broken else nullcontext():
        trace(layer, [TensorSpec("x", "float32", ("n", 4))], None, {})
    assert layer.table is buffer and not dict(layer.named_parameters())


class Left(paddle.nn.Layer):
    """A tensor ends a loop over layers: a loop of the program has no number of Python's to take one by."""

    def __init__(self):
        super().__init__()
        self.layers = paddle.nn.LayerList([paddle.nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if x.mean() > 1.0:
                break
        return x


def test_a_loop_over_layers_that_a_tensor_ends_is_refused_at_its_line():
    first = inspect.getsourcelines(Left.forward)[1]
    with pytest.raises(CannotLower, match="a tensor ends a loop") as refused:
        trace(Left(), [TensorSpec("x", "float32", ("n", 4))], None, {})
    path, _, line = refused.value.where.rpartition(":")
    assert path == __file__ and first < int(line) <= first + 2
    assert "paddle.where" in refused.value.hint


def test_check_knows_which_functions_of_math_are_computed() -> None:
    """Their names stand in the rule as well, which imports nothing of a trace."""
    from exporter.check.rules.kinds import python_function
    from exporter.export.trace.fixes import FIXES

    assert set(python_function._COMPUTED) == set(FIXES["scalar_math"].apis)
