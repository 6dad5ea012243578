"""`.onnx`: a ModelProto (`onnx.proto`, IR versions to 11), read without the onnx package.

Weights are initializers *and* the tensors in attributes of Constant nodes, where paddle2onnx 2.1.0 puts them all. Other
constants, such as the shape given to a Reshape, cannot be told apart from them and count as well.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from exporter.base.files import safe_relative
from exporter.base.readers.base import Content, ModelFacts, Piece, Reader, Weight, checked_shape, damaged, map_file
from exporter.base.readers.wire import Field, Message, root
from exporter.base.tensors import TensorSpec

#: TensorProto.DataType -> dtype name.
DTYPES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: "string",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4_e2m1",
}
#: The fields of a TensorProto that hold numbers; a tensor uses one of them.
_PLAIN = (9, 4, 10)  # raw_data, float_data, double_data
_VARINTS = (5, 7, 11)  # int32_data, int64_data, uint64_data
#: The domains of operators that the standard defines, and those of ONNX Runtime.
_STANDARD = ("", "ai.onnx", "ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview.training", "com.microsoft")
_CONTINUED = bytes(range(0x80, 0x100))


@dataclass
class _Model:
    inputs: list[TensorSpec] = field(default_factory=list)
    outputs: list[TensorSpec] = field(default_factory=list)
    operators: Counter[str] = field(default_factory=Counter)
    weights: list[Weight] = field(default_factory=list)
    producer: list[str] = field(default_factory=lambda: ["", ""])
    versions: dict[str, int | str] = field(default_factory=dict)
    graphs: int = 0


def facts(content: Content, where: str) -> ModelFacts:
    """Facts of a model; weights in the order of the file, subgraphs, functions and training included.

    Raises:
        BundleError: not a ModelProto, a tensor whose data do not fit it, external data outside the model's folder, or a
            function in the place of an operator.
    """
    model = _Model()
    for part in root(content, where):
        if part.number in (2, 3):
            model.producer[part.number - 2] = part.text()
        elif part.number == 7:
            model.graphs += 1
            _graph(part.message(), model, top=True)
        else:
            _beside(part, model)
    if not model.graphs or "ir" not in model.versions:
        raise damaged("no graph or no IR version: not an ONNX model", where)
    stored = {weight.name for weight in model.weights}  # before IR 4 initializers were listed as inputs too
    return ModelFacts(
        "onnx",
        len(content),
        inputs=tuple(spec for spec in model.inputs if spec.name not in stored),
        outputs=tuple(model.outputs),
        operators=dict(sorted(model.operators.items())),
        writer=" ".join(text for text in model.producer if text),
        versions=model.versions,
        weights=tuple(model.weights),
    )


def _beside(part: Field, model: _Model) -> None:
    """What a ModelProto holds beside its graph and its producer."""
    if part.number == 1:
        model.versions["ir"] = part.integer()
    elif part.number == 8:
        model.versions |= _opset(part.message())
    elif part.number == 20:  # TrainingInfoProto, whose first two fields are graphs
        for inner in part.message():
            if inner.number in (1, 2):
                _graph(inner.message(), model)
    elif part.number == 25:
        _function(part.message(), model)


def _opset(message: Message) -> dict[str, int | str]:
    domain, version = "", 0
    for part in message:
        if part.number == 1:
            domain = part.text()
        elif part.number == 2:
            version = part.integer()
    return {f"opset {domain}" if domain else "opset": version}


def _graph(message: Message, model: _Model, *, top: bool = False) -> None:
    for part in message:
        if part.number == 1:
            _node(part.message(), model)
        elif part.number == 5:
            model.weights.append(_tensor(part.message()))
        elif part.number == 15:
            model.weights += _sparse(part.message())
        elif part.number == 11 and top:
            model.inputs.append(_value(part.message()))
        elif part.number == 12 and top:
            model.outputs.append(_value(part.message()))


def _function(message: Message, model: _Model) -> None:
    """A FunctionProto: its nodes (field 7), and the tensors of the defaults of its attributes (field 11).

    One with the name of a standard operator is what some runtimes run in its place, and others do not.
    """
    name, domain = "", ""
    for part in message:
        if part.number == 1:
            name = part.text()
        elif part.number == 10:
            domain = part.text()
        elif part.number == 7:
            _node(part.message(), model)
        elif part.number == 11:
            model.weights += [tensor for tensor in _attribute(part.message(), model) if tensor.file]
    if domain in _STANDARD:
        raise damaged(f"a function in the place of the operator {name!r}", message.where, message.start)


def _sparse(message: Message) -> list[Weight]:
    """The numbers of a SparseTensorProto (field 1) and their places (field 2)."""
    return [_tensor(part.message()) for part in message if part.number in (1, 2)]


def _node(message: Message, model: _Model) -> None:
    outputs, kind, domain, tensors = [], "", "", list[Weight]()
    for part in message:
        if part.number == 2:
            outputs.append(part.text())
        elif part.number == 4:
            kind = part.text()
        elif part.number == 5:
            tensors += _attribute(part.message(), model)
        elif part.number == 7:
            domain = part.text()
    model.operators[f"{domain}.{kind}" if domain else kind] += 1
    if kind == "Constant" and outputs:
        model.weights += [replace(tensor, name=outputs[0]) for tensor in tensors]
    else:
        model.weights += [tensor for tensor in tensors if tensor.file]


def _attribute(message: Message, model: _Model) -> list[Weight]:
    """Walk subgraphs (fields 6 and 11) and return tensors: one, many (10), sparse (22) and many sparse (23).

    They are data of the model only if the node is a Constant; of others only those count that lie in another file.
    """
    tensors = []
    for part in message:
        if part.number in (5, 10):
            tensors.append(_tensor(part.message()))
        elif part.number in (22, 23):
            tensors += _sparse(part.message())
        elif part.number in (6, 11):
            _graph(part.message(), model)
    return tensors


def _value(message: Message) -> TensorSpec:
    name, dtype, shape = "", "", tuple[int | str, ...]()
    for part in message:
        if part.number == 1:
            name = part.text()
        elif part.number == 2:
            for kind in part.message():
                if kind.number == 1:  # tensor_type; sequences, maps and optionals stay without dtype
                    dtype, shape = _tensor_type(kind.message())
    return TensorSpec(name, dtype, shape)


def _tensor_type(message: Message) -> tuple[str, tuple[int | str, ...]]:
    dtype, shape = "", list[int | str]()
    for part in message:
        if part.number == 1:
            dtype = _dtype(part)
        elif part.number == 2:
            shape = [_dimension(dim.message()) for dim in part.message() if dim.number == 1]
    return dtype, tuple(shape)


def _dimension(message: Message) -> int | str:
    for part in message:
        if part.number == 1:
            return part.integer()
        if part.number == 2:
            return part.text()
    return -1


def _dtype(part: Field) -> str:
    if part.integer() not in DTYPES:
        raise damaged(f"unknown dtype {part.integer()}", part.owner.where, part.start)
    return DTYPES[part.integer()]


def _tensor(message: Message) -> Weight:
    name, dtype, dims = "", "", list[int]()
    data, external = dict[int, list[Piece]](), dict[str, str]()
    for part in message:
        if part.number == 1:
            dims.extend(part.integers())
        elif part.number == 2:
            dtype = _dtype(part)
        elif part.number == 8:
            name = part.text()
        elif part.number in _PLAIN or part.number in _VARINTS:
            data.setdefault(part.number, []).append((part.start, part.stop))
        elif part.number == 13:
            external |= _entry(part.message())
    shape = checked_shape(dims, message.where, message.start)
    if not dtype or -1 in shape or len(data) > 1:
        raise damaged(
            f"tensor {name!r} without dtype, of unknown size or with two contents", message.where, message.start
        )
    weight = Weight(name, dtype, shape)
    if external:
        return _external(weight, external, message)
    if dtype == "string":
        return weight
    pieces = tuple(piece for pieces in data.values() for piece in pieces)
    return _checked(replace(weight, pieces=pieces, varints=any(number in _VARINTS for number in data)), message)


def _entry(message: Message) -> dict[str, str]:
    texts = {part.number: part.text() for part in message if part.number in (1, 2)}
    return {texts.get(1, ""): texts.get(2, "")}


def _external(weight: Weight, entries: dict[str, str], message: Message) -> Weight:
    """A weight in another file, which must lie at or below the model's folder."""
    file = safe_relative(entries.get("location", ""), message.where)
    try:
        offset = int(entries.get("offset", "0"))
        length = int(entries.get("length", str(weight.nbytes)))
    except ValueError as error:
        raise damaged(f"tensor {weight.name!r}: external data without a place", message.where) from error
    if offset < 0 or length != weight.nbytes:
        what = f"tensor {weight.name!r}: {length} bytes of external data at {offset}, where {weight.nbytes} are due"
        raise damaged(what, message.where, message.start)
    return replace(weight, pieces=((offset, offset + length),), file=file.as_posix())


def _checked(weight: Weight, message: Message) -> Weight:
    """Refuse a tensor whose data are not as many as its shape says."""
    if weight.varints:
        # The last byte of each number, and only that, is below 0x80.
        have = sum(len(_bytes(message, piece).translate(None, _CONTINUED)) for piece in weight.pieces)
        ends = all(_bytes(message, (stop - 1, stop)) < b"\x80" for start, stop in weight.pieces if stop > start)
        want, unit = weight.elements, "numbers"
    else:
        have, ends = sum(stop - start for start, stop in weight.pieces), True
        want, unit = weight.nbytes, "bytes"
    if have != want or not ends:
        what = f"tensor {weight.name!r} {weight.dtype}{list(weight.shape)} has {have} {unit}, not {want}"
        raise damaged(what, message.where, message.start)
    return weight


def _bytes(message: Message, piece: Piece) -> bytes:
    return message.content[piece[0] : piece[1]]


def read_onnx(path: Path) -> ModelFacts:
    """Facts of a file; raises as :func:`facts`, and `UsageError` where it cannot be opened."""
    return facts(map_file(path), str(path))


plugin: Reader = Reader((".onnx",), facts)
