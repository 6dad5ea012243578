"""In a child: the layer of a program that exists as a file; the factory of specs whose model is such a file."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING

from exporter.base.errors import ModelError
from exporter.base.readers import named_parameters, read_program
from exporter.base.readers.program import Block, Operator, TensorType, read_operators
from exporter.base.tensors import Array
from exporter.export.sources.fits import refuse_misfits
from exporter.export.sources.in_place import without_writes
from exporter.export.sources.legacy import translated
from exporter.export.sources.recorded import note_place, with_recorded_lines
from exporter.export.sources.replay import run_block

if TYPE_CHECKING:
    import paddle


def build(program: str, inputs: Sequence[str], parameters: str = "") -> paddle.nn.Layer:
    """Return a layer that computes what a Paddle program says, with the parameters of a `.pdiparams` file.

    `forward` takes the program's inputs in its order, under the names `inputs`. Parameters keep the program's names, as
    in `conv2d_0.w_0`. What a batch norm keeps of its training is a buffer, as in a layer.

    Raises:
        UsageError: a file is missing, or of another kind.
        BundleError: a file is damaged, or the parameters are another program's.
        ModelError: a run changes what the next one reads.
    """
    path = Path(program)
    facts = read_program(path)
    block = block_of(path)
    stored = named_parameters(path, Path(parameters)) if facts.weights else {}
    return _layer(block, stored, tuple(inputs), program)


def block_of(path: Path) -> Block:
    """Return the operators that :func:`build` replays, as a PIR program; raises as that does."""
    with tempfile.TemporaryDirectory(prefix="exporter-") as place:
        if path.suffix == ".pdmodel":
            block = with_recorded_lines(read_operators(translated(path, Path(place))), path)
        else:
            block = read_operators(path)
    refuse_misfits(block, str(path))
    block = without_writes(block)
    _refuse_state(block, str(path))
    return block


def _refuse_state(block: Block, program: str) -> None:
    """Refuse what writes into a parameter that it also reads; what nobody reads is left over from the model's code.

    Raises:
        ModelError: the program changes such a parameter, so that each run would depend on those before.
    """
    read = {str(operator.attributes["name"]) for operator in _parameters(block)}
    for operator in block.operators:
        if operator.name == "builtin.set_parameter" and (name := str(operator.attributes["parameter_name"])) in read:
            what = f"it changes its parameter '{name}' while it runs, so each answer depends on the runs before"
            raise ModelError(what, where=program, hint="export the model in evaluation mode, or without what it keeps")


def _layer(block: Block, stored: Mapping[str, Array], inputs: Sequence[str], program: str) -> paddle.nn.Layer:
    import paddle

    layer = paddle.nn.Layer()
    statistics = _statistics(block)
    held = {operator.results[0].id: str(operator.attributes["name"]) for operator in _parameters(block)}
    for name, value in {**_state(block, stored), **stored}.items():
        _hold(layer, name, value, trainable=name not in {held[number] for number in statistics if number in held})
    numbers = _inputs(block)

    def forward(self: paddle.nn.Layer, *arguments: paddle.Tensor) -> object:
        values = {number: _held(self, name) for number, name in held.items()}
        values.update(zip(numbers, arguments, strict=True))
        try:
            results = run_block(block, values)
        except Exception as error:
            note_place(error, program)
            raise
        return results[0] if len(results) == 1 else tuple(results)

    # `to_static` wants the inputs by name (Paddle 3.3.1, `FunctionSpec`).
    named_inputs = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in ("self", *inputs)]
    forward.__signature__ = inspect.Signature(named_inputs)  # type: ignore[attr-defined]  # what `inspect` looks for
    layer.forward = MethodType(paddle.jit.not_to_static(forward), layer)
    return layer


def _state(block: Block, stored: Mapping[str, Array]) -> dict[str, Array]:
    """Return what is declared as a parameter and never stored: where a recurrent layer keeps its dropout."""
    import numpy as np

    declared = {str(operator.attributes["name"]): operator.results[0].type for operator in _parameters(block)}
    return {
        name: np.zeros([max(size, 0) for size in kind.shape], kind.dtype)
        for name, kind in declared.items()
        if name not in stored and isinstance(kind, TensorType)
    }


def _inputs(block: Block) -> list[int]:
    """Return the numbers of the program's inputs; a translated `.pdmodel` has feeds, in the order of their columns."""
    data = [operator for operator in block.operators if operator.name == "data"]
    feeds = [operator for operator in block.operators if operator.name == "feed"]
    feeds.sort(key=lambda feed: int(feed.attributes["col"]))
    return [operator.results[0].id for operator in (*data, *feeds)]


def _parameters(block: Block) -> list[Operator]:
    return [operator for operator in block.operators if operator.name == "parameter"]


def _statistics(block: Block) -> frozenset[int]:
    """Return the values that batch norms read as mean and variance: numbers that no training step moves."""
    norms = [operator for operator in block.operators if operator.name in ("batch_norm_", "batch_norm")]
    return frozenset(number for norm in norms for number in norm.operands[1:3])


def _hold(layer: paddle.nn.Layer, name: str, value: Array, *, trainable: bool) -> None:
    """Give a layer a parameter or buffer under a dotted name; what stands between dots is a sublayer."""
    import paddle

    owner, last = _owner(layer, name, make=True)
    if trainable and value.dtype.kind == "f":
        # Not `Assign`: it makes a Python list of the numbers first (3.3.1), of VGG11 some gigabytes.
        about = paddle.ParamAttr(name=name, initializer=paddle.nn.initializer.Constant(0.0))
        parameter = owner.create_parameter(list(value.shape), attr=about, dtype=str(value.dtype))
        parameter.set_value(value)
        owner.add_parameter(last, parameter)
        return
    buffer = paddle.to_tensor(value)
    buffer.name = name
    owner.register_buffer(last, buffer)


def _held(layer: paddle.nn.Layer, name: str) -> paddle.Tensor:
    owner, last = _owner(layer, name, make=False)
    return getattr(owner, last)


def _owner(layer: paddle.nn.Layer, name: str, *, make: bool) -> tuple[paddle.nn.Layer, str]:
    import paddle

    *path, last = name.split(".")
    for part in path:
        if make and part not in layer._sub_layers:
            layer.add_sublayer(part, paddle.nn.Layer())
        layer = layer._sub_layers[part]
    return layer, last
