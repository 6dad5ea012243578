"""A `.pdmodel` that Paddle wrote, with one thing wrong in each: told by the operator, and never given to Paddle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import TypeAlias

import paddle
import pytest
from paddle.base.proto import framework_pb2

from exporter.base.errors import BundleError
from exporter.base.readers import read
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.paddle.names import forget_parameter_names
from tests.export.sources.networks import NETWORKS, saved

_Program: TypeAlias = "framework_pb2.ProgramDesc"
_Operator: TypeAlias = "framework_pb2.OpDesc"


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A network that decides and loops."""
    folder = tmp_path_factory.mktemp("legacy")
    layer = saved("deciding", folder)
    forget_parameter_names()
    specs = [paddle.static.InputSpec(*one) for one in NETWORKS["deciding"][1]]
    with legacy_export():
        paddle.jit.save(layer, str(folder / "model"), input_spec=specs)
    return (folder / "model.pdmodel").read_bytes()


def _first(program: _Program, kind: str) -> _Operator:
    return next(operator for operator in program.blocks[0].ops if operator.type == kind)


def _again(kind: str) -> Callable[[_Program], None]:
    def change(program: _Program) -> None:
        operators = program.blocks[0].ops
        operators.insert(list(operators).index(_first(program, kind)) + 1, deepcopy(_first(program, kind)))

    return change


def _last(program: _Program) -> None:
    operators = program.blocks[0].ops
    mean = deepcopy(_first(program, "reduce_mean"))
    operators.remove(_first(program, "reduce_mean"))
    operators.insert(len(operators) - 1, mean)


def _of_nothing(program: _Program) -> None:
    _first(program, "reduce_mean").inputs[0].arguments[0] = "nowhere"


def _undeclared(program: _Program) -> None:
    (name,) = _first(program, "reduce_mean").outputs[0].arguments
    variables = program.blocks[0].vars
    variables.remove(next(variable for variable in variables if variable.name == name))


def _sub_blocks(program: _Program) -> Iterator[framework_pb2.OpDesc.Attr]:
    for operator in program.blocks[0].ops:
        yield from (attribute for attribute in operator.attrs if attribute.name == "sub_block")


def _another_block(index: int) -> Callable[[_Program], None]:
    return lambda program: next(_sub_blocks(program)).__setattr__("block_idx", index)


def _same_block(program: _Program) -> None:
    first, second, *_ = _sub_blocks(program)
    second.block_idx = first.block_idx


def _no_blocks(program: _Program) -> None:
    del program.blocks[1:]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_of_nothing, "reduce_mean, reads the variable 'nowhere', which is declared nowhere"),
        (_undeclared, "greater_than, reads the variable"),
        (_last, "which nothing before it gives"),
        (_again("feed"), "two of its inputs have the place 0, the second by operator 1, feed"),
        (_again("fetch"), "two of its outputs have the place 0, the second by operator"),
        (_another_block(77), "conditional_block, has the block 77, which is none of its own"),
        (_another_block(0), "conditional_block, has the block 0, which is none of its own"),
        (_same_block, "conditional_block, has the block 1, which is none of its own"),
        (_no_blocks, "conditional_block, has the block 1, which is none of its own"),
    ],
)
def test_what_does_not_hold_together_is_told_by_its_operator(
    change: Callable[[_Program], None], said: str, content: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "model.pdmodel"
    file.write_bytes(content)
    assert read(file).format == "pdmodel"
    program = framework_pb2.ProgramDesc()
    program.ParseFromString(content)
    change(program)
    file.write_bytes(program.SerializeToString())
    with pytest.raises(BundleError) as error:
        read(file)
    assert said in error.value.what and error.value.where == str(file)
