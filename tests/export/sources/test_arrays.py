"""Programs that grow an array in a loop: replayed with the bits of the file, and written as each format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.static import InputSpec

from evals.sources.operators import predictor_of, run
from exporter.base.errors import ModelError
from exporter.base.readers import read_program
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.export.sources.program import build
from exporter.paddle.names import forget_parameter_names
from exporter.paddle.refusal import CannotLower


class Grown(nn.Layer):
    """A decoder: each turn makes a state of the last one, and `end` makes the outputs of all of them."""

    def __init__(self, end: Callable[[paddle.Tensor], object]) -> None:
        super().__init__()
        self.step, self.end = nn.Linear(4, 4), end

    def forward(self, x, turns):
        parts = []
        state = x
        for _ in range(turns):
            state = paddle.tanh(self.step(state) + x)
            parts.append(state)
        return self.end(parts)


class Read(Grown):
    """The list is read while it grows, from both ends."""

    def forward(self, x, turns):
        parts = [x]
        turn = paddle.zeros([], "int64")
        while turn < turns:
            parts.append(self.step(parts[turn]) + parts[-1])
            turn = turn + 1
        return parts[-1], paddle.tensor.array_length(parts)


class Chosen(Grown):
    """A branch decides what is written."""

    def forward(self, x, turns):
        parts = paddle.tensor.create_array("float32", [x])
        if turns > 2:
            y = self.step(x)
            paddle.tensor.array_write(y, paddle.ones([1], "int64"), parts)
        else:
            y = self.step(x) - x
            paddle.tensor.array_write(y, paddle.zeros([1], "int64"), parts)
        return paddle.concat(parts, 0), y


class Appended(Grown):
    """Two branches append, and give nothing else."""

    def forward(self, x, turns):
        parts = [x]
        if turns > 2:
            parts.append(self.step(x))
        else:
            parts.append(x * 2)
        return paddle.concat(parts, 0)


class Sometimes(Grown):
    """A branch in a loop appends, and the other one does not."""

    def forward(self, x, turns):
        parts = [x]
        turn = paddle.zeros([], "int64")
        while turn < turns:
            if turn > 1:
                parts.append(self.step(x) + turn.astype("float32"))
            turn = turn + 1
        return paddle.concat(parts, 0)


LAYERS: dict[str, Callable[[], Grown]] = {
    "stacked": lambda: Grown(lambda parts: paddle.stack(parts, 1)),
    "joined": lambda: Grown(lambda parts: paddle.concat(parts, -1)),
    "chosen_letters": lambda: Grown(lambda parts: paddle.argmax(paddle.stack(parts, 1), -1)),
    "read": lambda: Read(lambda parts: parts),
    "chosen": lambda: Chosen(lambda parts: parts),
    "appended": lambda: Appended(lambda parts: parts),
    "sometimes": lambda: Sometimes(lambda parts: parts),
}
POPPED: Callable[[], Grown] = lambda: Grown(lambda parts: (parts.pop(), paddle.concat(parts, 0)))  # noqa: E731
SPECS = [InputSpec([None, 4], "float32", "x"), InputSpec([], "int64", "turns")]
X = np.random.default_rng(0).normal(size=(2, 4)).astype("float32")


def saved(make: Callable[[], Grown], folder: Path) -> Path:
    paddle.seed(0)
    layer = make()
    layer.eval()
    paddle.jit.save(paddle.jit.to_static(layer, input_spec=SPECS, full_graph=True), str(folder / "given"))
    return folder / "given.json"


def replayed(program: Path) -> nn.Layer:
    forget_parameter_names()
    names = [one.name for one in read_program(program).inputs]
    layer = build(str(program), names, str(program.with_suffix(".pdiparams")))
    layer.eval()
    return layer


def outputs(layer: nn.Layer, turns: int) -> list[np.ndarray]:
    x = paddle.to_tensor(X)
    with paddle.no_grad():
        result = layer(x, paddle.to_tensor(turns, "int64"))
    assert np.array_equal(x.numpy(), X), "an input was written into"
    return [one.numpy() for one in (result if isinstance(result, (list, tuple)) else [result])]


def by_file(program: Path, turns: int) -> list[np.ndarray]:
    data = {"0.in.x": X, "0.in.turns": np.array(turns, "int64")}
    return list(run(predictor_of(program), data, "0").values())


def same(left: list[np.ndarray], right: list[np.ndarray]) -> bool:
    return [one.dtype for one in left] == [one.dtype for one in right] and all(
        np.array_equal(one, other) for one, other in zip(left, right, strict=True)
    )


@pytest.mark.parametrize("name", LAYERS)
def test_the_replay_and_both_of_paddles_formats_give_what_the_file_gives(name: str, tmp_path: Path) -> None:
    program = saved(LAYERS[name], tmp_path)
    layer = replayed(program)
    paddle.jit.save(layer, str(tmp_path / "again"), input_spec=SPECS)
    forget_parameter_names()
    with legacy_export():
        paddle.jit.save(replayed(program), str(tmp_path / "old"), input_spec=SPECS)
    of_old = replayed(tmp_path / "old.pdmodel")
    for turns in (1, 4):
        wanted = by_file(program, turns)
        assert same(outputs(layer, turns), wanted)
        assert same(by_file(tmp_path / "again.json", turns), wanted)
        assert same(by_file(tmp_path / "old.pdmodel", turns), wanted)
        assert same(outputs(of_old, turns), wanted)


def test_what_no_legacy_operator_says_is_refused_by_name(tmp_path: Path) -> None:
    program = saved(POPPED, tmp_path)
    assert same(outputs(replayed(program), 4), by_file(program, 4))
    with pytest.raises(CannotLower, match="array_pop"), legacy_export():
        paddle.jit.save(replayed(program), str(tmp_path / "old"), input_spec=SPECS)


def test_two_branches_that_give_two_arrays_are_refused() -> None:
    from exporter.base.readers.program import Block, Operator, Value
    from exporter.export.sources.arrays import TensorArray
    from exporter.export.sources.replay import run_block

    arrays = {1: TensorArray(), 2: TensorArray()}
    branches = tuple(Block((), (Operator("cf.yield", at, (at,), (), {}),)) for at in arrays)
    choice = Operator("if", 0, (3,), (Value(4, None),), {}, branches)
    assert run_block(Block((), (choice,)), {**arrays, 3: paddle.to_tensor(True)}) == []

    def traced(which: paddle.Tensor) -> object:
        return run_block(Block((), (choice,)), {**arrays, 3: which})

    program = paddle.jit.to_static(traced, input_spec=[InputSpec([], "bool", "which")], full_graph=True)
    with pytest.raises(ModelError, match="two branches give two arrays"):
        program.concrete_program  # noqa: B018 - what traces it
