"""A 0-D tensor beside another of its kind: the file has the dtypes of eager, for every operator of the list."""

from pathlib import Path

import numpy as np
import paddle
import pytest
from legacy_judge import compare, load, run

from exporter.export.lower.pdmodel.files import finish
from exporter.export.lower.pdmodel.session import legacy_export

ARITHMETIC = ("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow")
CHOOSING = ("maximum", "minimum", "fmax", "fmin")
COMPARING = ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")


class Both(paddle.nn.Layer):
    """Each operator with the 0-D tensor on either side."""

    def __init__(self, names):
        super().__init__()
        self.names = names

    def forward(self, x, y):
        found = []
        for name in self.names:
            found.append(getattr(paddle, name)(x, y))
            found.append(getattr(paddle, name)(y, x))
        return found


@pytest.mark.parametrize(
    ("names", "dtype", "of_scalar"),
    [
        (ARITHMETIC + CHOOSING, "float32", "float64"),
        (ARITHMETIC, "int32", "int64"),
        (COMPARING, "float32", "float64"),
        (COMPARING, "int64", "int32"),
    ],
)
def test_a_0_d_tensor_takes_the_dtype_of_the_other_where_eager_lets_it(
    names: tuple[str, ...], dtype: str, of_scalar: str, tmp_path: Path
) -> None:
    x = np.linspace(1, 7, 8).reshape(2, 4) + (0.1 if dtype.startswith("float") else 0)
    x, y = x.astype(dtype), np.array(1.1 if dtype.startswith("float") else 2, of_scalar)
    layer = Both(names)
    layer.eval()
    expected = [value.numpy() for value in layer(paddle.to_tensor(x), paddle.to_tensor(y))]
    spec = [paddle.static.InputSpec([None, 4], dtype, "x"), paddle.static.InputSpec([], of_scalar, "y")]
    with legacy_export():
        paddle.jit.save(paddle.jit.to_static(layer, input_spec=spec, full_graph=True), str(tmp_path / "m"))
    finish(tmp_path / "m.pdmodel", tmp_path / "m.pdiparams")
    assert compare(expected, run(load(tmp_path), [x, y]))
