"""Programs with loops and branches as they are written, in both engines that run them: against eager."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest

from exporter.base.errors import ModelError
from exporter.base.readers.kinds.pdmodel import read_pdmodel
from exporter.base.tensors import TensorSpec
from exporter.engines.base import Runnable
from exporter.engines.kinds.jit_load import plugin as loaded
from exporter.engines.kinds.paddle_inference import plugin as predictor
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.pdmodel import plugin as pdmodel
from exporter.export.trace.traced import Traced, trace
from exporter.paddle.refusal import CannotLower


def counter():
    return paddle.zeros([1], "int64")


class Carried(paddle.nn.Layer):
    """What a loop carries is returned as it is, and so is its counter."""

    def forward(self, x):
        h, i = x * 2, counter()
        while i < 3:
            h = h + x
            i = i + 1
        return h, i


class Computed(paddle.nn.Layer):
    """As many turns as there are rows."""

    def forward(self, x):
        h = x * 2
        for t in range(x.shape[0]):
            h = h + x * t
        return h


class Branched(paddle.nn.Layer):
    def forward(self, x):
        h = x * 2
        if paddle.mean(x) > 0:
            h = h + x
        return h


class BranchedWithin(paddle.nn.Layer):
    def forward(self, x):
        h, i = x * 2, counter()
        while i < 10:
            if paddle.mean(h) > 0:
                h = h - x
            else:
                h = h + x * 2
            i = i + 1
            if paddle.mean(h) > 0.5:
                break
        return h, i


class Nested(paddle.nn.Layer):
    """Two loops carry `h`, the outer one carries `g` too."""

    def forward(self, x):
        h, g, i = x * 2, x * 3, counter()
        while i < 3:
            g, j = g - h, counter()
            while j < 2:
                h = h + g
                j = j + 1
            i = i + 1
        return {"g": g, "h": h}


class Twice(paddle.nn.Layer):
    def forward(self, x):
        h, i, j = x * 2, counter(), counter()
        while i < 3:
            h = h + x
            i = i + 1
        while j < 2:
            h = h * 2
            j = j + 1
        return h


class Parts(paddle.nn.Layer):
    """A loop, and a branch in a loop, read what lists hold: of two parts, of one, and the states of an LSTM."""

    def __init__(self):
        super().__init__()
        self.lstm = paddle.nn.LSTM(4, 4)

    def forward(self, x):
        a, b = paddle.unbind(x, axis=1)
        (c,) = paddle.split(x[:, 0], 1)
        d, e = self.lstm(x)[1]
        h, i = x[:, 1] * 2, counter()
        while i < 3:
            if h.mean() > 0:
                h = h - a * b
            else:
                h = h + c + d[0] * e[0]
            i = i + 1
        return h


class PartsWithin(paddle.nn.Layer):
    """A loop in a loop reads the parts that the outer one makes anew; one of the other list is an output."""

    def forward(self, x):
        (a, b), h, i = paddle.meshgrid(x[0, 0], x[0, 1]), x[:, 0], counter()
        while i < 3:
            c, d = paddle.split(x + h.mean(), 2, axis=1)
            j = counter()
            while j < 2:
                h = h + c[:, 0] - d[:, 0] * a[0]
                j = j + 1
            i = i + 1
        return h, b


class SetBefore(paddle.nn.Layer):
    """Set in place before loops, in both of two, and behind them."""

    def forward(self, x):
        h, i = x * 2, counter()
        h[:, 1] = 7.0
        while i < 3:
            j = counter()
            while j < 2:
                h[:, 0] = h[:, 0] + 3
                j = j + 1
            h[:, 1] = h[:, 0] + h[:, 1]
            h = h + 1
            i = i + 1
        h[:, 0] = h[:, 1]
        return h


class SetInOne(paddle.nn.Layer):
    """A name that one branch alone sets, in turns of a loop."""

    def forward(self, x):
        h = x * 2
        for i in range(2):
            if h[:, :, i].mean() > 0:
                part = h.sum(axis=0)
                h = h + part
            else:
                h = h - 1.0
        return h


class Cached(paddle.nn.Layer):
    """A buffer that `forward` makes anew where there are more rows than it has, and another beside it."""

    def __init__(self):
        super().__init__()
        self._fill(2)

    def _fill(self, rows):
        self.most = rows
        places = paddle.arange(rows, dtype="float32")
        self.cos, self.sin = places.cos(), places.sin()

    def forward(self, x):
        rows = x.shape[0]
        if rows > self.most:
            self._fill(rows)
        return x * self.cos[:rows].reshape([-1, 1, 1]) + self.sin[:rows].reshape([-1, 1, 1])


class Listed(paddle.nn.Layer):
    """A list that branches append to: both, or one of them, within a loop and behind it."""

    def forward(self, x):
        rows, some = [], [x[0]]
        for t in range(x.shape[0]):
            if x[t].sum() > 0:
                rows.append(x[t])
            else:
                rows.append(-x[t])
                some.append(x[t] * 2)
        if x.sum() > 0:
            some.append(x[0] * 3)
        return paddle.stack(rows), paddle.stack(some)


def written(make: Any, folder: Path, outputs: tuple[str, ...] | None = None) -> tuple[Any, Traced]:
    """A new layer, and how another one that is equal was traced and written."""
    paddle.seed(3)
    layer = make()
    layer.eval()
    with pdmodel.session(None):
        traced = trace(layer, [TensorSpec("x", "float32", ("n", 2, 4))], outputs, {})
        pdmodel.write(traced, None, folder, Wish())
    paddle.seed(3)
    return make(), traced  # to_static has changed the first one


def variables(folder: Path) -> dict[str, list[int]]:
    """The declared shape of each variable of the program."""
    from exporter.paddle.private import framework_pb2

    program = framework_pb2.ProgramDesc.FromString((folder / pdmodel.model).read_bytes())
    return {one.name: list(one.type.dense_tensor.tensor.dims) for block in program.blocks for one in block.vars}


@pytest.mark.parametrize(
    "make",
    [
        Carried,
        Computed,
        Branched,
        BranchedWithin,
        Nested,
        Twice,
        Parts,
        PartsWithin,
        SetBefore,
        SetInOne,
        Cached,
        Listed,
    ],
)
def test_a_program_with_blocks_computes_what_eager_computes(make: Any, tmp_path: Path) -> None:
    layer, traced = written(make, tmp_path)
    artifact = Runnable("pdmodel", tmp_path, pdmodel.model, ("x",), traced.native_outputs, None, 1)
    random = np.random.default_rng(3)
    batches = [random.standard_normal((rows, 2, 4)).astype("float32") for rows in (2, 3, 2)]
    expected = [[one.numpy() for one in paddle.utils.flatten(layer(paddle.to_tensor(x)))] for x in batches]
    for engine in (predictor, loaded):
        with engine.open(artifact, "cpu") as session:
            for x, values in zip(batches, expected, strict=True):
                found = session.run({"x": x})
                for value, name in zip(values, traced.native_outputs, strict=True):
                    np.testing.assert_array_equal(found[name], value)


def test_an_output_called_like_a_variable_of_a_loop_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="output name 'tmp_6' is already that of a variable"):
        written(Carried, tmp_path, ("tmp_6", "i"))


class InPlace(paddle.nn.Layer):
    def forward(self, x):
        h, i = x * 2, counter()
        while i < 3:
            h.tanh_()
            i = i + 1
        return h


class Along(paddle.nn.Layer):
    """The counter is an axis, which a program of this kind holds as a number."""

    def forward(self, x):
        h, i = x.mean(), paddle.zeros([], "int64")
        while i < 3:
            h = h + paddle.argmax(x, axis=i).astype("float32").mean()
            i = i + 1
        return h


@pytest.mark.parametrize(("make", "why"), [(InPlace, "while: .* in place"), (Along, "argmax: `axis` is a Tensor")])
def test_a_loop_that_would_be_another_one_is_refused(make: Any, why: str, tmp_path: Path) -> None:
    with pytest.raises(CannotLower, match=why) as refused:
        written(make, tmp_path)
    assert refused.value.where.startswith(f"{__file__}:")


class Normed(paddle.nn.Layer):
    """Paddle declares the saved statistics of InstanceNorm as [-3]."""

    def __init__(self):
        super().__init__()
        self.norm = paddle.nn.InstanceNorm1D(2)

    def forward(self, x):
        return paddle.nn.functional.relu(self.norm(x))


def test_sizes_that_paddle_multiplied_are_written_as_unknown(tmp_path: Path) -> None:
    test_a_program_with_blocks_computes_what_eager_computes(Normed, tmp_path)
    shapes = variables(tmp_path).values()
    assert [-1] in shapes and min(size for shape in shapes for size in shape) == -1
    assert read_pdmodel(tmp_path / pdmodel.model).outputs[0].shape == (-1, 2, 4)


def test_only_parts_that_a_body_reads_are_copied(tmp_path: Path) -> None:
    written(PartsWithin, tmp_path)
    copied = [name for name in variables(tmp_path) if name.endswith(".part")]
    assert len(copied) == 3 and "output_1" in variables(tmp_path)  # a, c and d
