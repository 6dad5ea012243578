"""What a file says and a legacy program says otherwise, or not at all: right in the predictor, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest
from paddle.static import InputSpec

from evals.sources.operators import predictor_of, run
from exporter.base.readers import read_program
from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.export.sources.program import build
from exporter.export.trace.traced import trace
from exporter.paddle.names import forget_parameter_names
from exporter.paddle.refusal import CannotLower

X = np.random.default_rng(0).normal(size=(2, 3, 4, 4)).astype("float32")
IDS = np.array([[1, 3], [0, 2]])


class Calling(paddle.nn.Layer):
    def __init__(self, call: Callable[..., object]) -> None:
        super().__init__()
        self.call = call
        if "norm" in call.__code__.co_names:
            self.norm = paddle.nn.BatchNorm2D(3, use_global_stats=False)

    def forward(self, x):
        return self.call(self, x)


def branch(condition, ids):
    return paddle.static.nn.cond(condition, lambda: ids + 1, lambda: ids * 2)


#: Functions of floats, of floats of any size, or of ids, that `_C_ops` alone knows, once they stand in a file.
OF_FLOATS: dict[str, Callable[..., object]] = {
    "a tensor of none": lambda layer, x: x @ paddle.eye(4),
    "statistics of the batch": lambda layer, x: layer.norm(x),
    "noise while it trains": lambda layer, x: F.rrelu(x, training=False),
    "a count of floats": lambda layer, x: x + paddle.arange(0.0, 2.0, 0.5, dtype="float32"),
    "a resize by a factor that float32 holds": lambda layer, x: F.interpolate(x, scale_factor=1.5, mode="bilinear"),
}
OF_SIZES: dict[str, Callable[..., object]] = {
    "a deconvolution to computed sizes": lambda layer, x: F.conv2d_transpose(
        x, paddle.ones([3, 2, 2, 2]), stride=2, output_size=paddle.shape(x)[2:] * 2 + 1
    ),
    "a median without NaN": lambda layer, x: paddle.nanmedian(x, axis=1),
}
OF_IDS: dict[str, Callable[..., object]] = {
    "one hot": lambda layer, ids: F.one_hot(ids, 5),
    "an axis that a tensor holds": lambda layer, ids: paddle.argmax(ids, paddle.assign(np.array(1))),
    "a cast of int8": lambda layer, ids: paddle.sum(ids.astype("int8")),
    "distinct ids": lambda layer, ids: paddle.unique(ids),
    "distinct ids and where they stand": lambda layer, ids: paddle.unique(ids, return_inverse=True)[1] + 1,
    "distinct rows": lambda layer, ids: paddle.unique(ids, axis=0),
    "neighbours that differ": lambda layer, ids: paddle.unique_consecutive(ids, return_counts=True)[1] * 2,
    "a branch on all": lambda layer, ids: branch(paddle.all(ids), ids),
    "a branch on equality": lambda layer, ids: branch(paddle.equal_all(ids, ids * 1), ids),
    "an exponential": lambda layer, ids: paddle.exp(ids) * 0.5,
    "repeated as often as computed": lambda layer, ids: paddle.repeat_interleave(ids, ids.flatten()[:2], axis=1),
    "rolled by a computed number": lambda layer, ids: paddle.roll(ids, ids[0, 0], axis=1),
    "an identity of computed size": lambda layer, ids: paddle.eye(ids[0, 1], dtype="float32") + 1,
    "counted to a computed length": lambda layer, ids: paddle.bincount(ids.flatten(), minlength=ids[0, 1] + 4),
    "one more": lambda layer, ids: paddle.increment(ids[0, :1] * 1),
    "the rank of a matrix": lambda layer, ids: paddle.linalg.matrix_rank(ids.astype("float32")) + 1,
    "a mask of computed length": lambda layer, ids: F.sequence_mask(ids.flatten(), ids.max() + 1),
}
OPEN = InputSpec([None, 3, None, None], "float32", "x")
FLOATS, WHOLE = InputSpec([None, 3, 4, 4], "float32", "x"), InputSpec([None, 2], "int64", "x")


def written(layer: paddle.nn.Layer, spec: InputSpec, folder: Path) -> None:
    """Write `folder/model.json`."""
    sizes = tuple(f"open_{at}" if size in (None, -1) else size for at, size in enumerate(spec.shape))
    folder.mkdir()
    with pir_format.session(None):
        traced = trace(layer, (TensorSpec("x", str(spec.dtype).rpartition(".")[2], sizes),), None, {})
        pir_format.write(traced, None, folder, Wish())


def replayed(call: Callable[..., object], spec: InputSpec, folder: Path) -> paddle.nn.Layer:
    forget_parameter_names()
    layer = Calling(call)
    layer.eval()
    written(layer, spec, folder / "given")
    forget_parameter_names()
    program = folder / "given/model.json"
    parameters = str(program.with_suffix(".pdiparams")) if read_program(program).weights else ""
    again = build(str(program), [one.name for one in read_program(program).inputs], parameters)
    again.eval()
    return again


@pytest.mark.parametrize("name", [*OF_FLOATS, *OF_SIZES, *OF_IDS])
def test_a_file_becomes_a_pdmodel_that_computes_the_same(name: str, tmp_path: Path) -> None:
    spec, values = (FLOATS, X) if name in OF_FLOATS else (OPEN, X) if name in OF_SIZES else (WHOLE, IDS)
    again = replayed((OF_FLOATS | OF_SIZES | OF_IDS)[name], spec, tmp_path)
    with legacy_export():
        paddle.jit.save(again, str(tmp_path / "old"), input_spec=[spec])
    files = ("given/model.json", "old.pdmodel")
    (wanted,), (got,) = (run(predictor_of(tmp_path / file), {"0.in.x": values}, "0").values() for file in files)
    assert wanted.dtype == got.dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6 if name == "statistics of the batch" else 0)


@pytest.mark.parametrize("name", OF_IDS)
def test_a_file_becomes_a_json_that_computes_the_same(name: str, tmp_path: Path) -> None:
    written(replayed(OF_IDS[name], WHOLE, tmp_path), WHOLE, tmp_path / "again")
    files = ("given/model.json", "again/model.json")
    (wanted,), (got,) = (run(predictor_of(tmp_path / file), {"0.in.x": IDS}, "0").values() for file in files)
    assert wanted.dtype == got.dtype and np.array_equal(wanted, got)


def test_sizes_some_of_which_are_computed_stay_known(tmp_path: Path) -> None:
    """A legacy reshape has each number as a tensor; what stands behind it, as an unpooling, asks for the sizes."""
    again = replayed(lambda layer, x: x.reshape([x.shape[0], 3, 16]), FLOATS, tmp_path)
    with legacy_export():
        paddle.jit.save(again, str(tmp_path / "old"), input_spec=[FLOATS])
    forget_parameter_names()
    third = build(str(tmp_path / "old.pdmodel"), ["x"])
    paddle.jit.save(paddle.jit.to_static(third, input_spec=[FLOATS], full_graph=True), str(tmp_path / "third"))
    (output,) = read_program(tmp_path / "third.json").outputs
    assert output.shape == (-1, 3, 16)


def test_a_median_that_a_legacy_kernel_lacks_is_refused_by_name(tmp_path: Path) -> None:
    again = replayed(lambda layer, x: paddle.nanmedian(x, axis=1, mode="min")[0], FLOATS, tmp_path)
    with pytest.raises(CannotLower, match=r"nanmedian: mode='min' has no legacy form"), legacy_export():
        paddle.jit.save(again, str(tmp_path / "old"), input_spec=[FLOATS])


def test_what_is_written_into_a_slice_does_not_reach_the_tensor_behind_it(tmp_path: Path) -> None:
    """A program's slice has memory of its own; in eager code it is a view, also of the input."""

    def call(layer, x):
        part = paddle.static.setitem(x[:, 0], (slice(None), 0), 7.0)
        return part.sum() + x

    again = replayed(call, FLOATS, tmp_path)
    (wanted,) = run(predictor_of(tmp_path / "given/model.json"), {"0.in.x": X}, "0").values()
    x = paddle.to_tensor(X)
    assert np.array_equal(again(x).numpy(), wanted) and np.array_equal(x.numpy(), X)


def test_a_factor_that_no_float32_holds_is_refused_by_name(tmp_path: Path) -> None:
    again = replayed(lambda layer, x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), FLOATS, tmp_path)
    with pytest.raises(CannotLower, match=r"bilinear_interp: its factor 1.7 is no float32"), legacy_export():
        paddle.jit.save(again, str(tmp_path / "old"), input_spec=[FLOATS])
