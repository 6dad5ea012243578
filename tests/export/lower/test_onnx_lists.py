"""Lists that grow in a loop of the program, as ONNX: joined, stacked, of members of any size, and in nested loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import ModelError
from tests.export.lower import growing
from tests.export.lower.as_onnx import AsOnnx

ROWS: Any = {"x": ("float32", ("n", 3, "w"))}


def rows(count: int, width: int) -> dict[str, Any]:
    return {"x": np.random.default_rng(count).standard_normal((count, 3, width)).astype("float32")}


def test_what_a_loop_appends(tmp_path: Path) -> None:
    both = AsOnnx(growing.kinds, ROWS, tmp_path)
    for count, width in ((2, 4), (1, 1), (5, 3)):
        both.must_equal_eager(rows(count, width))


def test_members_of_several_lengths(tmp_path: Path) -> None:
    both = AsOnnx(growing.lengths, {"x": ("float32", ("n", 3)), "counts": ("int64", ("k",))}, tmp_path)
    x = np.random.default_rng(0).standard_normal((6, 3)).astype("float32")
    for counts in ([2, 6, 1], [4], [3, 3]):
        both.must_equal_eager({"x": x, "counts": np.array(counts, "int64")})


def test_a_list_in_a_loop_of_a_loop(tmp_path: Path) -> None:
    both = AsOnnx(growing.nested, ROWS, tmp_path)
    for count, width in ((2, 4), (3, 1)):
        both.must_equal_eager(rows(count, width))


def test_members_are_joined_along_their_first_axis_only(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="along their first axis only"):
        AsOnnx(growing.second_axis, ROWS, tmp_path)


@pytest.mark.parametrize(
    "body",
    [
        growing.in_a_branch,
        growing.in_one_branch,
        growing.in_a_branch_alone,
        growing.in_a_branch_of_an_inner_loop,
    ],
    ids=lambda body: body.__name__,
)
def test_what_branches_append(body: Any, tmp_path: Path) -> None:
    both = AsOnnx(body, ROWS, tmp_path)
    for count, width in ((2, 4), (1, 1), (5, 3), (6, 2)):
        both.must_equal_eager(rows(count, width))
