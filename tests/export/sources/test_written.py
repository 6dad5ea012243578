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
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.export.sources.program import build
from exporter.paddle.names import forget_parameter_names
from exporter.paddle.refusal import CannotLower

X = np.random.default_rng(0).normal(size=(2, 3, 4, 4)).astype("float32")
IDS = np.array([[1, 3], [0, 2]])


class Calling(paddle.nn.Layer):
    def __init__(self, call: Callable[..., object]) -> None:
        super().__init__()
        self.call = call
        self.norm = paddle.nn.BatchNorm2D(3, use_global_stats=False)

    def forward(self, x):
        return self.call(self, x)


#: Functions of floats, or of ids, that `_C_ops` alone knows, once they stand in a file.
OF_FLOATS: dict[str, Callable[..., object]] = {
    "a tensor of none": lambda layer, x: x @ paddle.eye(4),
    "statistics of the batch": lambda layer, x: layer.norm(x),
    "noise while it trains": lambda layer, x: F.rrelu(x, training=False),
    "a count of floats": lambda layer, x: x + paddle.arange(0.0, 2.0, 0.5, dtype="float32"),
    "a resize by a factor that float32 holds": lambda layer, x: F.interpolate(x, scale_factor=1.5, mode="bilinear"),
}
OF_IDS: dict[str, Callable[..., object]] = {
    "one hot": lambda layer, ids: F.one_hot(ids, 5),
    "a mask of computed length": lambda layer, ids: F.sequence_mask(ids.flatten(), ids.max() + 1),
}
FLOATS, WHOLE = InputSpec([None, 3, 4, 4], "float32", "x"), InputSpec([None, 2], "int64", "x")


def replayed(call: Callable[..., object], spec: InputSpec, folder: Path) -> paddle.nn.Layer:
    layer = Calling(call)
    layer.eval()
    paddle.jit.save(paddle.jit.to_static(layer, input_spec=[spec], full_graph=True), str(folder / "given"))
    forget_parameter_names()
    program = folder / "given.json"
    parameters = str(program.with_suffix(".pdiparams")) if read_program(program).weights else ""
    again = build(str(program), [one.name for one in read_program(program).inputs], parameters)
    again.eval()
    return again


@pytest.mark.parametrize("name", [*OF_FLOATS, *OF_IDS])
def test_a_file_becomes_a_pdmodel_that_computes_the_same(name: str, tmp_path: Path) -> None:
    spec, values = (FLOATS, X) if name in OF_FLOATS else (WHOLE, IDS)
    again = replayed((OF_FLOATS | OF_IDS)[name], spec, tmp_path)
    with legacy_export():
        paddle.jit.save(again, str(tmp_path / "old"), input_spec=[spec])
    files = ("given.json", "old.pdmodel")
    (wanted,), (got,) = (run(predictor_of(tmp_path / file), {"0.in.x": values}, "0").values() for file in files)
    assert wanted.dtype == got.dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6 if name == "statistics of the batch" else 0)


def test_a_factor_that_no_float32_holds_is_refused_by_name(tmp_path: Path) -> None:
    again = replayed(lambda layer, x: F.interpolate(x, scale_factor=1.7, mode="bilinear"), FLOATS, tmp_path)
    with pytest.raises(CannotLower, match=r"bilinear_interp: its factor 1.7 is no float32"), legacy_export():
        paddle.jit.save(again, str(tmp_path / "old"), input_spec=[FLOATS])
