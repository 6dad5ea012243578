from __future__ import annotations

import pytest

from exporter.base.errors import UsageError
from exporter.export.lower.precision.keep import Kept, Named

NAMED = Named({"conv2d_0": "Conv.0", "linear_0": "MatMul.0"}, {"Conv.0": "Conv", "Add.0": "Add", "MatMul.0": "MatMul"})


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ((), Kept(())),
        (("linear_0",), Kept(("linear_0",))),
        (("Conv.0", "conv2d_0"), Kept(("conv2d_0",))),
        (("Add", "MatMul"), Kept(("linear_0",), ("Add.0",))),
    ],
)
def test_layers_operators_and_kinds_are_kept(keep: tuple[str, ...], kept: Kept) -> None:
    assert NAMED.resolve(keep) == kept


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("conv2d_1", "did you mean 'conv2d_0'? Near are also 'Conv'."),
        ("matmul", "did you mean 'MatMul'? Near are also 'MatMul.0'."),
        ("softmax", "name a layer of the report, an operator, or one of the kinds Add, Conv, MatMul"),
    ],
)
def test_what_is_unknown_is_refused_with_what_is_near(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"no layer '{name}' with weights, no operator and no kind") as caught:
        NAMED.resolve([name])
    assert caught.value.hint == hint
