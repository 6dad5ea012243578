"""Python's walks along a dimension that varies end, and a list that a loop fills is no output; both at their line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import paddle
import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import TensorSpec
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.export.trace.traced import trace

X = [TensorSpec("x", "float32", ("n", 4))]


class Counted(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        parts = [x * turn for turn in range(int(x.sum()))]  # <- here
        return paddle.stack(parts, 0)


class Rows(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        y = x * 2.0
        return paddle.add_n([*y])  # <- here


class Filled(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        best = []
        for row in x * 2.0:  # <- here
            best.append(row.max())
        return paddle.to_tensor(best)


class Few(paddle.nn.Layer):
    """Takes as many rows as it needs, and those of a size that is fixed."""

    def forward(self, x: Any) -> Any:
        first = next(iter(x * 1.0))
        columns = sum(column for column in x.t() * 2.0)
        left, _, _, right = x.t()
        return first, columns, left + right


@pytest.mark.parametrize("session", [nullcontext, legacy_export])
@pytest.mark.parametrize(("make", "said"), [(Counted, "did not end it"), (Rows, "did not end it")])
def test_a_walk_that_would_never_end_is_refused_at_its_line(
    session: Callable[[], Any], make: Callable[[], paddle.nn.Layer], said: str
) -> None:
    with session(), pytest.raises(ModelError, match=said) as refused:
        trace(make().eval(), X, None, {})
    assert refused.value.where == line_of(make)


def test_a_list_that_grows_in_a_loop_of_the_program_is_no_output() -> None:
    with pytest.raises(ModelError, match="output 'output_0' is a list that grows in a loop") as refused:
        trace(Filled().eval(), X, None, {})
    assert refused.value.where == line_of(Filled)
    assert "paddle.stack" in refused.value.hint


@pytest.mark.parametrize("session", [nullcontext, legacy_export])
def test_a_few_rows_are_taken_and_nothing_stays_patched(session: Callable[[], Any]) -> None:
    with session():
        outputs = trace(Few().eval(), [TensorSpec("x", "float32", ("n", 4))], None, {}).outputs
    assert len(outputs) == 3
    assert not hasattr(paddle.pir.Value, "__iter__") and not hasattr(paddle.static.Variable, "__iter__")


def line_of(kind: Any) -> str:
    lines, first = inspect.getsourcelines(kind)
    return f"{__file__}:{first + next(at for at, line in enumerate(lines) if '# <- here' in line)}"
