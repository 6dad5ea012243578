"""The table of small layers is read as it is written, the cells say what they should, and a sample of it holds."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evals.small.__main__ import Truth, measured
from evals.small.catalogue import UNSOUND, SmallLayer, families, layers, sample
from evals.small.cells import Row, report
from evals.small.truth import cases, difference

EVERY = {layer.name: layer for family in families() for layer in layers(family)}
#: A layer of eight families at least, of the kinds that once went wrong among them.
SAMPLE = (
    "nested_branches",
    "sorted_and_reversed",
    "dict_nested",
    "keyword_only",
    "assign_step",
    "zero_d_scale",
    "causal_mask",
    "cast_uint8_image",
    "pylayer_two_results",
)
#: An unsound one of each way to be refused: by reading, by the trace.
REFUSED = ("random_numpy", "numpy_function", "state_counter")


def test_the_table_has_two_hundred_layers_and_forty_unsound_ones() -> None:
    table = [layer for family in families() for layer in layers(family)]
    assert max(Counter(layer.name for layer in table).values()) == 1
    unsound = [layer for layer in table if layer.family == UNSOUND]
    assert len(unsound) >= 40
    assert len(table) - len(unsound) >= 200
    assert all(layer.marked for layer in unsound)
    for layer in table:
        names = {
            node.name for node in ast.parse(layer.source).body if isinstance(node, (ast.ClassDef, ast.FunctionDef))
        }
        assert {"Net", "build"} <= names, layer.name


def test_inputs_are_drawn_at_the_ends_of_the_dims_and_the_first_comes_again() -> None:
    layer = EVERY["length_mask"]
    least, most, between, again = cases(layer, 0)
    assert [case["x"].shape for case in (least, most, between)] == [(1, 2, 2), (4, 6, 2), (3, 4, 2)]
    assert all(np.array_equal(least[name], again[name]) for name in least)
    assert least["n"].dtype == np.int64
    assert all(case["n"].min() >= 1 and case["n"].max() <= case["x"].shape[1] for case in (least, most, between))


def test_a_sample_is_the_same_for_its_seed() -> None:
    first, again, other = (sample(families(), 1, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert [layer.family for layer in first] == [*families()]


def test_a_difference_is_one_of_number_dtype_shape_or_value() -> None:
    right = [[np.ones([2, 3], "float32"), np.array(3)]]
    assert not difference(right, [[np.full([2, 3], 1 + 1e-6, "float32"), np.array(3)]])
    for wrong in (
        [[np.ones([2, 3], "float32")]],
        [[np.ones([2, 3]), np.array(3)]],
        [[np.ones([3, 2], "float32"), np.array(3)]],
        [[np.full([2, 3], 1.01, "float32"), np.array(3)]],
        [[np.full([2, 3], np.nan, "float32"), np.array(3)]],
        [[np.ones([2, 3], "float32"), np.array(4)]],
    ):
        assert difference(right, wrong)


def test_sound_and_passed_are_told_apart() -> None:
    rows = [
        Row("nn", "passed", "runs", "sound", files={"pir": "right"}),
        Row("nn", "refused", "runs", "sound", exit=1),
        Row("nn", "wrong", "runs", "sound", files={"pir": "right", "onnx": "off by 1"}),
        Row("nn", "better", "runs", "ValueError", files={"pir": "right"}),
        Row("nn", "neither", "runs", "ValueError", exit=4),
        Row(UNSOUND, "planted", "runs", "sound", exit=1),
        Row(UNSOUND, "kept", "runs", "sound", files={"pir": "right"}),
    ]
    assert [row.cell for row in rows] == [
        "sound, passed",
        "sound, refused",
        "wrong, passed",
        "stock fails, passed and right",
        "stock fails, refused",
        "unsound, refused",
        "unsound, passed and right",
    ]
    assert not report(rows).holds
    assert not report(rows[:2]).holds
    assert report([rows[0], *rows[3:]]).holds
    assert not report([]).holds
    narrowed = report([rows[0], Row("nn", "spectral", "runs", "sound", files={"pir": "right"}, without="onnx: svd")])
    assert narrowed.holds and "1 without ONNX, which stock does not write either: spectral" in narrowed.lines


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Truth, Path]]:
    folder = tmp_path_factory.mktemp("small")
    judge = Truth(folder, 0)
    yield judge, folder
    judge.close()


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sound_layer_passes_and_its_files_are_right(name: str, truth: tuple[Truth, Path]) -> None:
    row = measured(EVERY[name], truth[1], truth[0])
    assert row.cell in ("sound, passed", "stock fails, passed and right"), row
    assert len(row.files) == 3, row


@pytest.mark.parametrize("name", REFUSED)
def test_an_unsound_layer_is_refused_at_its_line(name: str, truth: tuple[Truth, Path]) -> None:
    layer: SmallLayer = EVERY[name]
    row = measured(layer, truth[1], truth[0])
    assert (row.cell, row.at_line) == ("unsound, refused", True), row
