"""A program that is a file, replayed as a layer: what the eager layer gave, bit for bit, in every form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import paddle
import pytest

from exporter.base.errors import BundleError, ModelError
from exporter.base.readers.kinds.pir import read_pir
from exporter.base.readers.program import Block, Operator, TensorType, Value
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.export.sources.program import _refuse_state, build
from exporter.export.sources.replay import _numbers, run_block
from exporter.export.trace.blame import blamed
from exporter.paddle.names import forget_parameter_names
from tests.export.sources.networks import NETWORKS, saved

INPUTS = {
    "picture": np.random.default_rng(0).normal(size=(2, 3, 16, 16)).astype("float32"),
    "text": np.random.default_rng(0).integers(0, 11, (2, 5)),
    "deciding": np.random.default_rng(0).normal(size=(2, 4)).astype("float32"),
}


def arrays(result: object) -> list[np.ndarray]:
    return [one.numpy() for one in (result if isinstance(result, (list, tuple)) else [result])]


def replayed(name: str, folder: Path) -> paddle.nn.Layer:
    forget_parameter_names()
    program = folder / "inference.json"
    names = [one.name for one in read_pir(program).inputs]
    parameters = str(program.with_suffix(".pdiparams")) if read_pir(program).weights else ""
    layer = build(str(program), names, parameters)
    layer.eval()
    return layer


@pytest.mark.parametrize("name", NETWORKS)
def test_a_program_gives_what_its_layer_gave(name: str, tmp_path: Path) -> None:
    layer = saved(name, tmp_path)
    again = replayed(name, tmp_path)
    for values in (INPUTS[name], -INPUTS[name] if name == "deciding" else INPUTS[name][:1]):
        with paddle.no_grad():
            wanted, got = (arrays(one(paddle.to_tensor(values))) for one in (layer, again))
        assert [one.dtype for one in got] == [one.dtype for one in wanted]
        assert all(np.array_equal(one, other) for one, other in zip(wanted, got, strict=True))


def test_parameters_keep_the_names_of_the_program(tmp_path: Path) -> None:
    saved("picture", tmp_path)
    layer = replayed("picture", tmp_path)
    declared = {weight.name for weight in read_pir(tmp_path / "inference.json").weights}
    assert set(layer.state_dict()) == declared
    statistics = {name for name, _ in layer.named_buffers()}
    assert len(statistics) == 2 and len(list(layer.parameters())) == len(declared) - 2


def test_the_parameters_of_another_program_are_refused(tmp_path: Path) -> None:
    for name in ("picture", "text"):
        (tmp_path / name).mkdir()
        saved(name, tmp_path / name)
    with pytest.raises(BundleError, match="but the program"):
        build(str(tmp_path / "picture/inference.json"), ["x"], str(tmp_path / "text/inference.pdiparams"))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_pdmodel_is_read_as_the_json_is(name: str, tmp_path: Path) -> None:
    """Written by the legacy writer, from the replayed layer, and read again by Paddle's own translation."""
    layer = saved(name, tmp_path)
    forget_parameter_names()
    _, inputs = NETWORKS[name]
    again = replayed(name, tmp_path)
    specs = [paddle.static.InputSpec(*one) for one in inputs]
    with legacy_export():
        paddle.jit.save(again, str(tmp_path / "old"), input_spec=specs)
    assert (tmp_path / "old.pdmodel").is_file()
    forget_parameter_names()
    parameters = tmp_path / "old.pdiparams"
    third = build(str(tmp_path / "old.pdmodel"), [one.name for one in specs], str(parameters))
    third.eval()
    with paddle.no_grad():
        wanted, got = (arrays(one(paddle.to_tensor(INPUTS[name]))) for one in (layer, third))
    assert all(np.array_equal(one, other) for one, other in zip(wanted, got, strict=True))


def test_what_is_no_program_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "x.pdmodel").write_bytes(b"\x00\x01nothing")
    with pytest.raises((BundleError, ModelError)):
        build(str(tmp_path / "x.pdmodel"), ["x"])


def test_an_operator_that_paddle_has_no_function_for_is_named() -> None:
    block = Block((), (Operator("of_the_future", 7, (), (), {}),))
    with pytest.raises(ModelError, match="'of_the_future' has no function here") as error:
        run_block(block, {})
    assert "operator 7" in error.value.where


def test_what_paddle_refuses_of_a_file_is_told_by_file_and_operator(tmp_path: Path) -> None:
    saved("picture", tmp_path)
    layer = replayed("picture", tmp_path)
    with pytest.raises(ModelError) as error, blamed("forward", layer):
        layer(paddle.zeros([1, 2, 16, 16]))
    assert error.value.where == f"{tmp_path / 'inference.json'}, operator 11, conv2d"
    assert "`exporter inspect`" in error.value.hint


@pytest.mark.parametrize("operator", ["save", "print", "py_func", "run_program"])
def test_a_program_that_does_more_than_compute_is_never_run(operator: str, tmp_path: Path) -> None:
    saved("deciding", tmp_path)
    program = tmp_path / "inference.json"
    content = program.read_text()
    assert '"1.mean"' in content
    program.write_text(content.replace('"1.mean"', f'"1.{operator}"'))
    with pytest.raises(BundleError, match=f"the operator '{operator}'"):
        build(str(program), ["x"])


def test_what_a_loop_sets_first_has_the_dtype_that_the_loop_gives() -> None:
    """dy2static writes a number of float64 where nothing is set before the loop; ONNX wants one dtype of all turns."""
    attributes = {"values": [1.77e27], "dtype": "float64", "shape": [1]}
    declared = Value(1, TensorType("float32", (-1, 4)))
    (number,) = _numbers(Operator("assign_value", 0, (), (declared,), attributes), {})
    assert number.dtype == "float32"
    declared = Value(1, TensorType("int64", (-1,)))
    (number,) = _numbers(Operator("assign_value", 0, (), (declared,), attributes), {})
    assert number.dtype == "int64" and number.number == 0


def test_what_the_program_keeps_is_refused_where_it_reads_it() -> None:
    """A `.pdmodel` that sets a variable of its own: a cache that the model's code filled while it was traced."""
    kept = Operator("builtin.set_parameter", 1, (1,), (), {"parameter_name": "cache"})
    _refuse_state(Block((), (kept,)), "model.pdmodel")
    read = Operator("parameter", 0, (), (Value(1, TensorType("float32", (4,))),), {"name": "cache"})
    with pytest.raises(ModelError, match="it changes its parameter 'cache' while it runs"):
        _refuse_state(Block((), (read, kept)), "model.pdmodel")
    assert run_block(Block((), (kept,)), {1: paddle.ones([4])}) == []
