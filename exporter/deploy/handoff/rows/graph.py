"""Whether an ONNX graph computes each row by itself: where the rows lie is followed from its inputs to its outputs.

Types are inferred for two numbers of rows at once; the axis whose size differs counts them, whatever else is as large.
What is computed from sizes (`Shape`) is computed here too, by ONNX's reference evaluator. The graph is not run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from exporter.base.tensors import Array
from exporter.deploy.handoff.rows.operator import Attribute, Mixes, Operator, Value
from exporter.deploy.handoff.rows.rules import axes_after, draws, fills, rule_of
from exporter.export.lower.onnx_program.passes.graph import Proto
from exporter.process.job import job
from exporter.process.workers import doing

#: Numbers of a constant that may be sizes, axes or bounds; what has more is a weight, whose shape is all that counts.
_FEW = 1024
#: What may be picked from sizes: what is the same for both numbers of rows is so for all. Any other operator may turn
#: different numbers into the same (a quotient, a comparison), and its result hangs on how many rows there are.
_PICKING = ("Cast", "Concat", "Gather", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Unsqueeze")
#: What else is computed with sizes; of other operators of constants the shape is enough.
_COMPUTING = (
    *(
        "Abs",
        "Add",
        "And",
        "Ceil",
        "Div",
        "Equal",
        "Floor",
        "Greater",
        "Less",
        "Max",
        "Min",
        "Mod",
        "Mul",
        "Neg",
        "Not",
    ),
    *("Or", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "Sub", "Where"),
)
_STANDARD = ("", "ai.onnx")


@dataclass(frozen=True)
class GraphRequest:
    """An ONNX file; the shape of each input, by its name, for two numbers of rows, of which its first size is one."""

    onnx: Path
    shapes: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]


@dataclass(frozen=True)
class GraphAnswer:
    """Why a row may follow from others, by the output; empty where none does. Or why the graph cannot be read."""

    mixes: Mapping[str, str] = field(default_factory=dict)
    unread: str = ""


@dataclass(frozen=True)
class _Tensor:
    """A value of the graph for both numbers of rows, with ONNX's type of each; or why its rows may be mixed."""

    values: tuple[Value, Value] | None
    types: tuple[Proto, Proto] | None
    mixed: str = ""


@job
def follow_rows(request: GraphRequest) -> GraphAnswer:
    """Follow rows through a graph."""
    try:
        import onnx
    except ImportError as error:
        return GraphAnswer(unread=f"onnx cannot be imported: {error}")
    doing("onnx: following rows through the graph")
    model = onnx.load(str(request.onnx), load_external_data=False)
    return GraphAnswer(_Follower(model, request.shapes).outputs())


class _Follower:
    """Follows rows from operator to operator, in the order of the file."""

    def __init__(self, model: Proto, shapes: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
        self._model, self._graph = model, model.graph
        opsets = [entry.version for entry in model.opset_import if entry.domain in _STANDARD]
        self._opset = max(opsets, default=1)
        self._tensors: dict[str, _Tensor] = {}
        for tensor in model.graph.initializer:
            self._tensors[tensor.name] = _constant(tensor)
        for declared in model.graph.input:
            if declared.name in shapes:
                self._tensors[declared.name] = _input(declared, shapes[declared.name])

    def outputs(self) -> dict[str, str]:
        """Return why each output's rows may be mixed; empty where they are not."""
        for number, node in enumerate(self._graph.node):
            for at, name in enumerate(node.output):
                node.output[at] = name or f"{number}:{at}"  # so that its type is inferred, too
            self._tensors.update(zip(node.output, self._after(node), strict=True))
        return {output.name: self._of_output(output.name) for output in self._graph.output}

    def _of_output(self, name: str) -> str:
        tensor = self._tensors.get(name, _mixed(f"nothing computes {name}"))
        if tensor.values is None:
            return tensor.mixed
        if tensor.values[0].axis != 0:
            return "its first size does not count the rows"
        return ""

    def _after(self, node: Proto) -> Sequence[_Tensor]:
        """Return what a node gives, for each of its outputs."""
        taken = [self._tensors.get(name, _mixed(f"nothing computes {name}")) if name else None for name in node.input]
        where = f"{node.op_type} {node.name or node.output[0]!r}"
        mixed = next((tensor.mixed for tensor in taken if tensor is not None and tensor.values is None), "")
        try:
            if mixed:
                return [_mixed(mixed)] * len(node.output)
            if node.domain not in _STANDARD:
                raise Mixes(f"nothing is known of operators of the domain {node.domain}")
            return self._computed(node, taken)
        except Mixes as error:
            return [_mixed(f"{where}: {error}")] * len(node.output)

    def _computed(self, node: Proto, taken: Sequence[_Tensor | None]) -> Sequence[_Tensor]:
        if draws(node.op_type) or any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute):
            rule_of(node.op_type)  # there is none, and it says why
        if node.op_type in ("Shape", "Size") and taken[0] is not None and taken[0].values is not None:
            return [self._sizes(node, taken[0].values)]
        rows = any(value is not None and value.axis is not None for value in _at(taken, 0))
        if rows:
            rule_of(node.op_type)
        data = (None, None) if rows else (self._evaluated(node, _at(taken, 0)), self._evaluated(node, _at(taken, 1)))
        types = [self._types(node, taken, number) for number in (0, 1)]
        if rows:
            return self._with_rows(node, taken, types)
        counted = any(value is not None and value.counted for value in _at(taken, 0))
        if counted and data[0] is None:
            operator = self._operator(node, taken, types)
            if not fills(operator):
                raise Mixes("its result follows from how many rows there are")
            return self._with_rows(node, taken, types)
        computed = counted and node.op_type not in _PICKING
        computed = computed or any(value is not None and value.computed for value in _at(taken, 0))
        return [
            _Tensor(_valued(pair, data, at, (counted, computed)), pair)
            for at, pair in enumerate(zip(*types, strict=True))
        ]

    def _with_rows(
        self, node: Proto, taken: Sequence[_Tensor | None], types: Sequence[Sequence[Proto]]
    ) -> list[_Tensor]:
        operator = self._operator(node, taken, types)
        axes = axes_after(operator)
        tensors = [
            _Tensor((Value(_shape(few), axis), Value(_shape(more), axis)), (few, more))
            for axis, few, more in zip(axes, *types, strict=False)
        ]
        beyond = len(node.output) - len(tensors)
        return [*tensors, *[_mixed(f"{node.op_type} {node.name}: an output that mixes rows")] * beyond]

    def _operator(self, node: Proto, taken: Sequence[_Tensor | None], types: Sequence[Sequence[Proto]]) -> Operator:
        shapes = [[_shape(kind) for kind in kinds] for kinds in types]
        grown = [_grown(few, more) for few, more in zip(*shapes, strict=True)]
        return Operator(node.op_type, _attributes(node), _at(taken, 0), shapes[0], grown, self._opset)

    def _sizes(self, node: Proto, values: tuple[Value, Value]) -> _Tensor:
        import numpy as np
        from onnx import TensorProto, helper

        attributes, both = _attributes(node), []
        for value in values:
            start, end = attributes.get("start", 0), attributes.get("end")
            sizes = value.shape[start if isinstance(start, int) else 0 : end if isinstance(end, int) else None]
            both.append(np.array(sizes if node.op_type == "Shape" else int(np.prod(value.shape)), np.int64))
        counted = bool((both[0] != both[1]).any())
        kind = helper.make_tensor_type_proto(TensorProto.INT64, both[0].shape)
        first, second = (Value(tuple(data.shape), None, counted, data) for data in both)
        return _Tensor((first, second), (kind, kind))

    def _evaluated(self, node: Proto, inputs: Sequence[Value | None]) -> list[Array] | None:
        """Return what a node of few known numbers gives; None where it is of others, or gives more."""
        from onnx import helper
        from onnx.reference import ReferenceEvaluator

        if node.op_type == "Constant":
            return _held(node)
        unknown = any(value is not None and value.data is None for value in inputs)
        if unknown or node.op_type not in (*_PICKING, *_COMPUTING):
            return None
        feeds = {name: value.data for name, value in zip(node.input, inputs, strict=True) if value is not None}
        undefined = [helper.make_value_info(name, helper.make_tensor_type_proto(0, None)) for name in feeds]
        results = [helper.make_value_info(name, helper.make_tensor_type_proto(0, None)) for name in node.output]
        model = helper.make_model(
            helper.make_graph([node], "node", undefined, results), opset_imports=self._model.opset_import
        )
        return [array for array in ReferenceEvaluator(model).run(None, feeds)]

    def _types(self, node: Proto, taken: Sequence[_Tensor | None], number: int) -> list[Proto]:
        """Return ONNX's types of a node's outputs for one of both numbers of rows.

        Raises:
            Mixes: it cannot say them.
        """
        import onnx
        from onnx import numpy_helper

        types, data = {}, {}
        for name, tensor in zip(node.input, taken, strict=True):
            if tensor is not None and tensor.types is not None and tensor.values is not None:
                types[name] = tensor.types[number]
                if (held := tensor.values[number].data) is not None:
                    data[name] = numpy_helper.from_array(held, name)
        try:
            schema = onnx.defs.get_schema(node.op_type, self._opset, "")
            opsets = list(self._model.opset_import)
            inferred = onnx.shape_inference.infer_node_outputs(
                schema, node, types, data, opset_imports=opsets, ir_version=self._model.ir_version
            )
        except (onnx.checker.ValidationError, onnx.defs.SchemaError, onnx.shape_inference.InferenceError) as error:
            raise Mixes(f"its type cannot be inferred: {str(error).strip()[:200]}") from error
        kinds = [inferred.get(name) for name in node.output]
        if any(kind is None for kind in kinds):
            raise Mixes("its type cannot be inferred")
        return kinds


def _at(taken: Sequence[_Tensor | None], number: int) -> list[Value | None]:
    return [tensor.values[number] if tensor is not None and tensor.values else None for tensor in taken]


def _mixed(why: str) -> _Tensor:
    return _Tensor(None, None, why)


def _constant(tensor: Proto) -> _Tensor:
    from onnx import helper

    kind = helper.make_tensor_type_proto(tensor.data_type, tuple(tensor.dims))
    value = Value(tuple(tensor.dims), data=_small(tensor))
    return _Tensor((value, value), (kind, kind))


def _small(tensor: Proto) -> Array | None:
    """Return the numbers of a tensor that has few of them, and holds them itself."""
    import numpy as np
    from onnx import TensorProto, numpy_helper

    if tensor.data_location == TensorProto.EXTERNAL or np.prod(tensor.dims, dtype=np.int64) > _FEW:
        return None
    array: Array = numpy_helper.to_array(tensor)
    return array


def _held(node: Proto) -> list[Array] | None:
    """Return what a Constant holds, where it is small."""
    import numpy as np
    from onnx import AttributeProto, helper

    attribute = node.attribute[0]
    if attribute.type == AttributeProto.TENSOR:
        small = _small(attribute.t)
        return None if small is None else [small]
    held = helper.get_attribute_value(attribute)
    return [np.array(held, np.float32 if attribute.name.startswith("value_float") else np.int64)]


def _input(declared: Proto, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> _Tensor:
    from onnx import helper

    dtype = declared.type.tensor_type.elem_type
    first, second = (Value(shape, 0) for shape in shapes)
    kinds = [helper.make_tensor_type_proto(dtype, shape) for shape in shapes]
    return _Tensor((first, second), (kinds[0], kinds[1]))


def _valued(
    kinds: tuple[Proto, Proto], data: Sequence[list[Array] | None], at: int, follows: tuple[bool, bool]
) -> tuple[Value, Value]:
    """Return a value without rows, for both numbers of rows; `follows`: whether it is counted, and computed."""
    arrays = [held[at] if held is not None else None for held in data]
    counted, computed = follows
    if counted and not computed and arrays[0] is not None and arrays[1] is not None:
        counted = arrays[0].tolist() != arrays[1].tolist()
    few = [array if array is None or array.size <= _FEW else None for array in arrays]
    first, second = (
        Value(_shape(kind) if array is None else tuple(array.shape), None, counted, array, computed)
        for kind, array in zip(kinds, few, strict=True)
    )
    return first, second


def _shape(kind: Proto) -> tuple[int, ...]:
    """Return the sizes of a type.

    Raises:
        Mixes: it has one that hangs on values.
    """
    held = kind.tensor_type
    sizes = [size.dim_value if size.HasField("dim_value") else -1 for size in held.shape.dim]
    if not held.HasField("shape") or -1 in sizes:
        raise Mixes("its shape is not known beforehand")
    return tuple(sizes)


def _grown(few: tuple[int, ...], more: tuple[int, ...]) -> int | None:
    """Return the only axis whose sizes differ."""
    if len(few) != len(more):
        return None
    differing = [at for at, (size, larger) in enumerate(zip(few, more, strict=True)) if size != larger]
    return differing[0] if len(differing) == 1 else None


def _attributes(node: Proto) -> dict[str, Attribute]:
    return dict(_plain(node))


def _plain(node: Proto) -> Iterator[tuple[str, Attribute]]:
    from onnx import AttributeProto, helper

    for attribute in node.attribute:
        if attribute.type in (AttributeProto.INT, AttributeProto.FLOAT):
            yield attribute.name, helper.get_attribute_value(attribute)
        elif attribute.type == AttributeProto.STRING:
            yield attribute.name, attribute.s.decode(errors="replace")
        elif attribute.type == AttributeProto.INTS:
            yield attribute.name, list(attribute.ints)
