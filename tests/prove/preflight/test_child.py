"""A layer is tried at the promised sizes before anything is trained or traced: which, in which order, for how long."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
from safetensors.numpy import save_file

from exporter.base.errors import CannotRun, ExporterError, ModelError, UsageError
from exporter.base.tensors import Array
from exporter.export.lower.child import BuiltLayer
from exporter.process.workers import SINGLE_THREAD, Setting
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.preflight import cases, child
from exporter.prove.preflight.cases import needs_data, observed, trial
from exporter.prove.preflight.child import TryRequest, observe, observe_file, smallest, try_cases, try_layer
from exporter.spec.model import Spec
from exporter.spec.read import validate
from exporter.spec.recipe.base import Recipe, Samples
from exporter.spec.source import FACTORY
from tests.accepts import accepts

BATCH = {"min": 1, "typical": 2, "max": 6}
WIDTH = {"min": 2, "typical": 4, "max": 8, "multiple_of": 2}
HELD: dict[str, Array] = {"x": np.arange(24, dtype="float32").reshape(6, 4), "y": np.arange(6)}


def first_column(x: Array, y: Array) -> float:
    """Be at most 1, and fail on other rows than there are labels."""
    return float((x[:, 0] <= y + 100).mean())


RECIPE = Recipe(
    first_column, lambda: Samples(HELD, HELD), ("x",), ("y",), first_column, first_column, "score", first_column, 1, 1
)


class Noting(paddle.nn.Layer):
    """Keep the shapes of what it is run on, and fail at one."""

    def __init__(self, fails_at: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.fails_at, self.shapes, self.values = fails_at, list[tuple[int, ...]](), list[Array]()

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        shape = tuple(x.shape)
        self.shapes.append(shape)
        self.values.append(x.numpy())
        if shape == tuple(self.fails_at):
            raise ValueError("this size is one too many")
        return x * 2


class Scaled(paddle.nn.Layer):
    """Multiply by a row of weights."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = self.create_parameter([4])

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x * self.scale


class OfTheData(Scaled):
    """Run on rows of the data alone."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        assert {tuple(row) for row in x.numpy().tolist()} <= {tuple(row) for row in HELD["x"].tolist()}
        return super().forward(x)


class Alone(paddle.nn.Layer):
    """Run in one thread."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        assert {name: os.environ.get(name) for name in SINGLE_THREAD} == SINGLE_THREAD
        return x


class Summed(paddle.nn.Layer):
    """Give one number for all rows."""

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x.sum()


def described(**more: Any) -> Spec:
    plain = {
        "name": "n",
        "model": "m:f",
        "weights": "factory",
        "dims": {"batch": BATCH, "width": WIDTH},
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", "width"]}},
    }
    return validate({key: value for key, value in {**plain, **more}.items() if value is not None}, "test")


def with_recipe(layer: type[paddle.nn.Layer] = Scaled, **more: Any) -> Spec:
    """A spec whose rows are the recipe's held-out ones."""
    inputs = {"x": {"dtype": "float32", "shape": ["batch", 4], "values": "dataset"}}
    names = {"model": f"{__name__}:{layer.__name__}", "recipe": f"{__name__}:RECIPE", "weights": None}
    return described(**{"inputs": inputs, "dims": {"batch": BATCH}, **names, **more})


def test_sizes_with_few_rows_are_run_first_and_the_smaller_before_the_larger() -> None:
    layer = Noting()
    seen = try_layer(BuiltLayer(layer, described()))
    few = [(1, 2), (1, 4), (1, 6), (1, 8)]  # 6 is the odd multiple in the middle
    assert layer.shapes[:5] == [*few[:1], (2, 2), *few[1:]] or layer.shapes[:5] == [*few, (2, 2)]
    rows = [rows for rows, _ in layer.shapes[5:]]
    assert min(rows) > 1 and max(rows) == 6
    volumes = [rows * width for rows, width in layer.shapes[5:]]
    assert volumes == sorted(volumes)
    assert len(layer.shapes) == len({*layer.shapes}) > 10
    assert smallest(described()) == {"batch": 1, "width": 2}
    assert seen.outputs is not None and seen.outputs[0].dtype == "float32"


def test_where_no_dim_counts_rows_each_promised_size_is_run_once() -> None:
    layer = Noting()
    fixed = {"x": {"dtype": "float32", "shape": [3, "width"]}}
    try_layer(BuiltLayer(layer, described(inputs=fixed, dims={"width": WIDTH})))
    assert layer.shapes == [(3, 2), (3, 4), (3, 6), (3, 8)]


def test_where_there_is_one_number_of_rows_no_other_is_tried() -> None:
    layer = Noting()
    try_layer(BuiltLayer(layer, described(dims={"batch": {"min": 2, "typical": 2, "max": 2}, "width": WIDTH})))
    assert {rows for rows, _ in layer.shapes} == {2}
    layer = Noting()
    try_layer(BuiltLayer(layer, described(dims={"batch": {"min": 1, "typical": 1, "max": 2}, "width": WIDTH})))
    assert {rows for rows, _ in layer.shapes} == {1, 2}


def test_two_sizes_are_observed_of_a_layer_that_was_tried_before() -> None:
    layer = Noting()
    assert observe(BuiltLayer(layer, described())).outputs is not None
    assert len(layer.shapes) == 2


def test_two_sizes_are_observed_of_a_file() -> None:
    taken: list[Mapping[str, Array]] = []

    def run(inputs: Mapping[str, Array]) -> paddle.Tensor:
        taken.append(inputs)
        return paddle.to_tensor(inputs["x"])

    assert observe_file(BuiltLayer(run, described())).outputs is not None
    assert [{name: value.shape for name, value in inputs.items()} for inputs in taken] == [{"x": (1, 2)}, {"x": (1, 4)}]


def test_a_size_that_fails_is_named_with_the_dims() -> None:
    with pytest.raises(ModelError, match="this size is one too many") as failure:
        try_layer(BuiltLayer(Noting((1, 6)), described()))
    assert "forward at batch=1, width=6" in str(failure.value)
    fixed = {"x": {"dtype": "float32", "shape": [3, 4]}}
    with pytest.raises(ModelError) as failure:
        try_layer(BuiltLayer(Noting((3, 4)), described(inputs=fixed, dims={})))
    assert "forward:" in str(failure.value) and "forward at" not in str(failure.value)


def test_inputs_are_handed_over_in_the_order_of_forward() -> None:
    class Pair(paddle.nn.Layer):
        def forward(self, first: paddle.Tensor, second: paddle.Tensor) -> paddle.Tensor:
            assert first.dtype == paddle.float32 and second.dtype == paddle.int64
            return first

    second = {"dtype": "int64", "shape": ["batch"], "values": "integers(0,3)"}
    inputs = {"second": second, "first": {"dtype": "float32", "shape": ["batch", 2]}}
    try_layer(BuiltLayer(Pair(), described(inputs=inputs, dims={"batch": BATCH})))


def test_a_size_whose_inputs_are_large_is_the_recording_s_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert child._MOST_BYTES == 2**26
    monkeypatch.setattr(child, "_MOST_BYTES", 4 * 6)
    layer = Noting()
    try_layer(BuiltLayer(layer, described()))
    assert layer.shapes and all(rows * width <= 6 for rows, width in layer.shapes)
    assert (1, 6) in layer.shapes


class Clock:
    """Processor time that goes by in `forward` alone: a second for each number."""

    def __init__(self, layer: Noting, monkeypatch: pytest.MonkeyPatch) -> None:
        self._layer = layer
        monkeypatch.setattr(child.time, "process_time", self)

    def __call__(self) -> float:
        return float(sum(rows * width for rows, width in self._layer.shapes))


def test_what_would_take_longer_than_there_is_time_for_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """By what a number took in the run before: sizes with few rows have more time than those with many."""
    assert (child._SECONDS, child._SECONDS_OF_ROWS) == (2.0, 0.5)
    layer = Noting()
    Clock(layer, monkeypatch)
    monkeypatch.setattr(child, "_SECONDS", 20.0)
    monkeypatch.setattr(child, "_SECONDS_OF_ROWS", 1000.0)
    try_layer(BuiltLayer(layer, described()))
    assert sum(rows * width for rows, width in layer.shapes) <= 20
    assert len(layer.shapes) == 4  # 2 + 4 + 4 + 6; with 8 it were 24
    layer = Noting()
    Clock(layer, monkeypatch)
    monkeypatch.setattr(child, "_SECONDS", 24.0)
    monkeypatch.setattr(child, "_SECONDS_OF_ROWS", 24.5)
    try_layer(BuiltLayer(layer, described()))
    assert len(layer.shapes) == 5 and sum(rows * width for rows, width in layer.shapes) == 24


@pytest.mark.parametrize("values", ["integers(0,width-2)", "missing.npy"])
def test_values_that_lack_at_some_size_are_told_before_the_layer_runs(values: str) -> None:
    layer = Noting()
    with pytest.raises(UsageError):
        try_layer(BuiltLayer(layer, described(inputs={"x": {"dtype": "int64", "shape": ["width"], "values": values}})))
    assert not layer.shapes


@pytest.mark.parametrize(
    ("values", "dtype", "lacks"),
    [("normal", "float32", False), ("uniform(0,1)", "float32", False), ("integers(0,3)", "int64", True)],
)
def test_only_values_that_can_lack_are_drawn_for_every_case(
    values: str, dtype: str, lacks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    draw = child.draw
    monkeypatch.setattr(child, "draw", lambda spec, case, rows: drawn.append(case.name) or draw(spec, case, rows))
    spec = described(inputs={"x": {"dtype": dtype, "shape": ["batch", "width"], "values": values}})
    try_layer(BuiltLayer(Noting(), spec))
    assert {name for name in drawn if name} == ({case.name for case in plan_cases(spec)} if lacks else set())


def test_an_id_that_no_table_has_is_told_by_its_input() -> None:
    class Table(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.words = paddle.nn.Embedding(4, 2)

        def forward(self, x: paddle.Tensor) -> paddle.Tensor:
            return self.words(x)

    inputs = {"x": {"dtype": "int64", "shape": ["batch", "width"], "values": "integers(0,99)"}}
    with pytest.raises(UsageError, match="the table of 4 rows") as refusal:
        try_layer(BuiltLayer(Table(), described(inputs=inputs)))
    assert refusal.value.where == "inputs.x, case batch=1,width=2"


def test_the_layer_is_tried_with_its_checkpoint_or_the_initial_weights(tmp_path: Path) -> None:
    spec = with_recipe()
    save_file({"scale": np.ones(4, "float32")}, tmp_path / "right.safetensors")
    save_file({"scale": np.ones(3, "float32")}, tmp_path / "wrong.safetensors")
    request = TryRequest(spec, None, None, rated=False)
    try_cases(request)
    try_cases(replace(request, checkpoint=tmp_path / "right.safetensors"))
    try_cases(replace(request, initial=tmp_path / "right.safetensors"))
    with pytest.raises(UsageError) as refusal:
        try_cases(replace(request, checkpoint=tmp_path / "wrong.safetensors"))
    assert "what the recipe trains" not in refusal.value.what
    with pytest.raises(UsageError, match="what the recipe trains does not fit the model") as refusal:
        try_cases(replace(request, initial=tmp_path / "wrong.safetensors"))
    assert refusal.value.where == f"model: {spec.model}, recipe: {spec.recipe}"
    with pytest.raises(ExporterError) as failure:
        try_cases(replace(request, spec=with_recipe(model="nowhere:Net"), initial=tmp_path / "right.safetensors"))
    assert "what the recipe trains" not in failure.value.what


def test_the_metric_is_asked_about_what_the_model_gives_where_it_will_be(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def metric(x: Array, y: Array) -> float:
        asked.append(len(x))
        return first_column(x, y)

    monkeypatch.setattr(f"{__name__}.RECIPE", replace(RECIPE, metric=metric))
    try_cases(TryRequest(with_recipe(), None, None, rated=False))
    assert not asked
    try_cases(TryRequest(with_recipe(), None, None, rated=True))
    assert asked == [6]
    with pytest.raises(UsageError, match="the recipe's metric does not rate what this model gives") as refusal:
        try_cases(TryRequest(with_recipe(Summed), None, None, rated=True))
    assert "for 2 of the samples" in refusal.value.what, "of a single row nobody sees whether it is the sample's"
    assert refusal.value.where.startswith(f"model: {__name__}:Summed")
    try_cases(TryRequest(with_recipe(OfTheData), None, None, rated=False))
    drawn = {"x": {"dtype": "float32", "shape": ["batch", 4]}}
    try_cases(TryRequest(with_recipe(inputs=drawn), None, None, rated=True))
    assert asked == [6], "without the data's own inputs there is nothing to rate"


@pytest.mark.parametrize(
    ("rows", "dims", "count"),
    [
        ("batch", {"batch": {"min": 1, "typical": 1, "max": 1}}, 1),
        ("batch", {"batch": {"min": 1, "typical": 1, "max": 2}}, 2),
        ("batch", {"batch": {"min": 2, "typical": 2, "max": 4, "multiple_of": 2}}, 4),
        (3, {}, 3),
    ],
)
def test_the_metric_is_asked_about_as_many_samples_as_the_spec_promises(rows: Any, dims: Any, count: int) -> None:
    inputs = {"x": {"dtype": "float32", "shape": [rows, 4], "values": "dataset"}}
    with pytest.raises(UsageError, match=f"for {count} of the samples"):
        try_cases(TryRequest(with_recipe(Summed, inputs=inputs, dims=dims), None, None, rated=True))


def test_an_array_that_the_held_out_data_lack_is_named() -> None:
    inputs = {"z": {"dtype": "float32", "shape": ["batch", 4], "values": "dataset"}}
    names = {"model": f"{__name__}:Scaled", "recipe": f"{__name__}:RECIPE", "weights": None}
    spec = described(inputs=inputs, dims={"batch": BATCH}, **names)
    with pytest.raises(UsageError, match="the recipe's held-out data has no array 'z'") as refusal:
        try_cases(TryRequest(spec, None, None, rated=False))
    assert refusal.value.where == "inputs.z.values: dataset" and "x" in refusal.value.hint


def test_a_recipe_whose_data_no_input_takes_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost() -> Samples:
        raise AssertionError("its data were asked for")

    monkeypatch.setattr(f"{__name__}.RECIPE", replace(RECIPE, data=lost))
    inputs = {"x": {"dtype": "float32", "shape": ["batch", 4]}}
    assert accepts(lambda: try_cases(TryRequest(with_recipe(inputs=inputs), None, None, rated=False)))


def test_a_child_tries_the_cases_and_a_failure_is_the_model_s() -> None:
    said: list[str] = []
    doings: list[str] = []
    setting = Setting(say=said.append, on_event=lambda event: doings.append(event["doing"]))
    cases.try_cases(described(model=f"{__name__}:Noting"), None, None, setting)
    assert said == ["trying the planned cases"] and "running forward at batch=1, width=2" in doings
    cases.try_cases(described(model=f"{__name__}:Alone"), None, None, setting)
    failing = described(model=f"{__name__}:Noting", args={"fails_at": [1, 4]})
    with pytest.raises(CannotRun, match="this size is one too many"):
        cases.try_cases(failing, None, None, setting)


def test_whether_the_metric_is_asked_is_as_the_spec_promises() -> None:
    half = {"fp32": {}, "fp16": {"budget": {"max_metric_loss": 0.1}}}
    with pytest.raises(UsageError, match="does not rate"):
        cases.try_cases(with_recipe(Summed, precisions=half), None, None, Setting())
    cases.try_cases(with_recipe(Summed), None, None, Setting())


def test_a_conversion_tries_the_layer_that_it_builds_unless_that_needs_data() -> None:
    plain, of_rows = described(), with_recipe()
    assert needs_data(of_rows) and not needs_data(plain)
    assert trial(of_rows) is None
    tried = trial(plain)
    assert tried is not None and (tried.job, tried.of_file) == (try_layer.address, "")
    assert (observed(of_rows).job, observed(of_rows).of_file) == (observe.address, "")
    file = trial(described(model=FACTORY))
    assert file is not None and (file.job, file.of_file) == (observe.address, observe_file.address)
    assert trial(plain) != observed(plain)
