"""`paddle.jit.to_static` with the spec's inputs, and everything checked that Paddle lets through in silence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from exporter.base.errors import ModelError, NotATensor, UsageError, did_you_mean
from exporter.base.tensors import TensorSpec, split_size
from exporter.export.trace.blame import blamed, placed_at_forward
from exporter.export.trace.called import take_by_position
from exporter.export.trace.copies import with_copies
from exporter.export.trace.fixes import fixes_in_force
from exporter.export.trace.fixes.base import Value
from exporter.export.trace.fixes.settled import declared_sizes
from exporter.export.trace.layer import digests
from exporter.export.trace.owned import refuse_strangers
from exporter.export.trace.structure import leaves, numbered, output_names
from exporter.export.trace.walks import walks_ended
from exporter.paddle.in_place import follow_in_place
from exporter.paddle.unfinished import forget_unfinished_programs
from exporter.paddle.user_line import quoted_line
from exporter.spec.inputs import Dim

if TYPE_CHECKING:
    import paddle


@dataclass(frozen=True)
class Traced:
    """A traced layer. `inputs` and `outputs` are in the spec's order; `-1` in an output's shape is not known.

    `native_outputs[i]` is the name of the i-th output of the program, whose order is Paddle's.
    """

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    native_outputs: tuple[str, ...]
    layer: Any

    @cached_property
    def parameters(self) -> Mapping[str, str]:
        """The digest of each of the layer's tensors; who only runs it hashes nothing."""
        return digests(self.layer)


def specs_from_json(items: Sequence[Mapping[str, Any]]) -> tuple[TensorSpec, ...]:
    """The `TensorSpec`s of a request."""
    return tuple(TensorSpec(one["name"], one["dtype"], tuple(one["shape"])) for one in items)


def bind_inputs(layer: paddle.nn.Layer, inputs: Sequence[TensorSpec]) -> tuple[TensorSpec, ...]:
    """Return the inputs in the order of `forward`'s parameters, and let the layer take them by position in it.

    With `*args` the order of the spec is kept.

    Raises:
        UsageError: `forward` takes no such input, or needs one more.
    """
    signature = inspect.signature(layer.forward)
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return tuple(inputs)
    known = {name: one for name, one in signature.parameters.items() if one.kind is not inspect.Parameter.VAR_KEYWORD}
    where = f"{type(layer).__module__}.{type(layer).__name__}.forward"
    given = {one.name: one for one in inputs}
    takes = ", ".join(known) or "nothing"
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known, f"one of: {takes}")
            raise UsageError(f"forward does not take an input '{name}'", where=where, hint=hint)
    for name, one in known.items():
        if one.default is inspect.Parameter.empty and name not in given:
            raise UsageError(
                f"forward needs an input '{name}'", where=where, hint=f"add it to inputs; it takes: {takes}"
            )
    ordered = [name for name in known if name in given]
    take_by_position(layer, ordered)
    return tuple(given[name] for name in ordered)


def trace(
    layer: paddle.nn.Layer,
    inputs: Sequence[TensorSpec],
    names: tuple[str, ...] | None,
    fixed: Mapping[str, int],
    dims: Mapping[str, Dim] = MappingProxyType({}),
) -> Traced:
    """Trace the layer; `fixed` gives the size of named dims that never vary, all others stay dynamic.

    Where it fails, and `dims` leave conditions on sizes one answer, it is traced once more with the branches that these
    answers take: a file of such a trace is right at the declared sizes alone.

    Raises:
        UsageError: the inputs or output names do not fit `forward`.
        ModelError: Paddle cannot trace it, or the program would lose or confuse an output.
    """
    import paddle

    bound = bind_inputs(layer, inputs)
    # Lists, not tuples: a tuple with None fails in InputSpec (3.3.1).
    shapes = [[_fixed(dim, fixed) for dim in one.shape] for one in bound]
    input_spec = [paddle.static.InputSpec(shape, one.dtype, one.name) for shape, one in zip(shapes, bound, strict=True)]
    own = _attributes(layer)
    # backend and full_graph are given, or SOT or CINN may take over.
    to_static = partial(paddle.jit.to_static, layer, input_spec=input_spec, backend=None, full_graph=True)
    with declared_sizes(bound, dims, settling=False) as branches:
        try:
            outputs, native, static = _traced(layer, bound, names, to_static)
        except ModelError:
            if not branches:
                raise
            _restore(own)
            with declared_sizes(bound, dims, settling=True):
                outputs, native, static = _traced(layer, bound, names, to_static)
    return Traced(tuple(inputs), outputs, native, static)


def _traced(
    layer: paddle.nn.Layer,
    bound: Sequence[TensorSpec],
    names: tuple[str, ...] | None,
    to_static: Callable[[], Value],
) -> tuple[tuple[TensorSpec, ...], tuple[str, ...], Value]:
    """Trace; return the outputs, their names in the program's order, and the traced layer."""
    forget_unfinished_programs()
    with (
        blamed("trace", layer),
        fixes_in_force("pir"),
        walks_ended(),
    ):  # a legacy program's session has its own in force
        static = to_static()
        program = static.forward.concrete_program
        if not hasattr(program.main_program, "desc"):  # a legacy program has a map of its own
            follow_in_place(static)
        program.outputs = with_copies(program.outputs, program.main_program, {spec.name for spec in bound})
    refuse_strangers(static)
    structure = program.outputs
    if isinstance(structure, (list, tuple)) and len(structure) == 1:
        structure = structure[0]
    with placed_at_forward(layer):
        outputs, native = _outputs(structure, names)
    return outputs, native, static


def _attributes(layer: paddle.nn.Layer) -> list[tuple[dict[str, Value], dict[str, Value]]]:
    """Copy the attributes of a layer and its sublayers: a trace that fails may leave its own there."""
    tables = [
        table
        for sublayer in layer.sublayers(include_self=True)
        for table in (vars(sublayer), sublayer._buffers, sublayer._parameters)
    ]
    return [(table, dict(table)) for table in tables]


def _restore(tables: Sequence[tuple[dict[str, Value], dict[str, Value]]]) -> None:
    for table, own in tables:
        table.clear()
        table.update(own)


def _fixed(size: int | str, fixed: Mapping[str, int]) -> int | None:
    """A size of an InputSpec; None where it varies."""
    dim, more = split_size(size)
    return more if not dim else fixed[dim] + more if dim in fixed else None


def _outputs(structure: Any, names: tuple[str, ...] | None) -> tuple[tuple[TensorSpec, ...], tuple[str, ...]]:
    import paddle

    try:
        named = output_names(structure, names)
    except ValueError as error:
        raise UsageError(
            str(error), where="outputs", hint="name each value that forward returns, in its order"
        ) from error
    specs: list[TensorSpec] = []
    for name, (path, leaf) in zip(named, leaves(structure), strict=True):
        if not hasattr(leaf, "shape") or not hasattr(leaf, "stop_gradient"):
            kind = "None" if leaf is None else type(leaf).__name__
            raise NotATensor(
                f"output '{path or name}' is {kind}, not a tensor, and would be dropped without a word",
                hint="return tensors only; numbers can be made tensors, None and dataclasses must go",
            )
        _refuse_list(leaf, name)
        dtype = str(leaf.dtype).rpartition(".")[2].lower()
        specs.append(TensorSpec(name, _dtype_name(dtype), tuple(leaf.shape)))
    order = [int(number) for number in paddle.utils.flatten(numbered(structure))]
    return tuple(specs), tuple(named[number] for number in order)


def _refuse_list(leaf: Any, name: str) -> None:
    """A list to which a loop of the program appends is an array of tensors there, which no file gives (3.3.1)."""
    if hasattr(leaf, "is_dense_tensor_array_type") and leaf.is_dense_tensor_array_type():
        operator = leaf.get_defining_op()
        raise ModelError(
            f"output '{name}' is a list that grows in a loop of the program, not a tensor",
            where=quoted_line("\n".join(operator.callstack)) if operator else "",
            hint="compute on the whole tensor; or make a tensor of the list, by `paddle.stack` or `paddle.concat`",
        )


def _dtype_name(text: str) -> str:
    """`paddle.float32`, `DataType.FLOAT32` and `VarType.FP32` all name one dtype."""
    legacy = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64"}
    return legacy.get(text, text)
