"""An ONNX file piece by piece, so that weights are copied once, from where they lie to the disk.

No protobuf library reads a message of more than 2.1 GB. So the large tensors of a larger model lie in a file beside it
(`external data`), each at the beginning of a page, so that an engine can map it.

protobuf copies them into the message, and all of it again to write it. Here the message is written without them, and
they are put behind its graph: fields of a message may come in any order (protobuf.dev, "Encoding"). The numbers of the
fields are those of onnx.proto3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from exporter.base.errors import ModelError
from exporter.base.tensors import Array

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

Pieces: TypeAlias = Sequence[bytes | memoryview]
_MODEL_GRAPH, _GRAPH_INITIALIZER, _TENSOR_RAW_DATA = 7, 5, 9
#: No protobuf library reads a message that is larger.
_MOST = (1 << 31) - 1
#: Where a tensor in the file beside the model begins: at a multiple of this. Smaller tensors stay in the model, since
#: engines read sizes and axes while they load it.
_PAGE = 4096


@dataclass(frozen=True)
class Beside:
    """The name of the file for large tensors, and the bytes of a model from which on there is one.

    Without `most` that is what one ONNX file can hold.
    """

    file: str
    most: int = _MOST


@dataclass(frozen=True)
class Encoded:
    """The bytes of a model, and of the file beside it that holds its large tensors (none: there is no such file)."""

    model: Pieces
    beside: Pieces = ()


def encoded(model: ModelProto, constants: Mapping[str, Array], beside: Beside) -> Encoded:
    """Encode a model whose initializers are these constants, in the order of their names.

    Raises:
        ModelError: what has to stay in the model is more than one file can hold.
    """
    whole = _model(model, [piece for name, value in sorted(constants.items()) for piece in _tensor(name, value)])
    if sum(map(_size, whole)) <= min(beside.most, _MOST):
        return Encoded(whole)
    stored, data, offset = list[bytes | memoryview](), list[bytes | memoryview](), 0
    for name, value in sorted(constants.items()):
        if value.nbytes < _PAGE:
            stored += _tensor(name, value)
            continue
        stored.append(_placed(name, value, beside.file, offset))
        data += [_numbers(value), b"\0" * (-value.nbytes % _PAGE)]
        offset += value.nbytes + -value.nbytes % _PAGE
    apart = _model(model, stored)
    if (taken := sum(map(_size, apart))) > _MOST:
        raise ModelError(
            f"the model takes {taken / 1e9:.1f} GB without its large tensors, and an ONNX file holds 2.1",
            where="onnx",
            hint="leave onnx out of formats",
        )
    return Encoded(apart, data) if data else Encoded(whole)


def _model(model: ModelProto, stored: Pieces) -> Pieces:
    """The bytes of a model, with its initializers behind the rest of its graph."""
    graph = model.graph.SerializeToString(deterministic=True)
    size = len(graph) + sum(map(_size, stored))
    head = type(model)()
    head.CopyFrom(model)
    head.ClearField("graph")
    return [head.SerializeToString(deterministic=True), _header(_MODEL_GRAPH, size), graph, *stored]


def _tensor(name: str, value: Array) -> Iterator[bytes | memoryview]:
    """One initializer: what is said of it, then its numbers."""
    about = _declared(name, value).SerializeToString(deterministic=True)
    raw = _header(_TENSOR_RAW_DATA, value.nbytes)
    yield _header(_GRAPH_INITIALIZER, len(about) + len(raw) + value.nbytes) + about + raw
    if value.nbytes:
        yield _numbers(value)


def _placed(name: str, value: Array, file: str, offset: int) -> bytes:
    """One initializer whose numbers lie in a file."""
    from onnx import StringStringEntryProto, TensorProto

    tensor = _declared(name, value)
    tensor.data_location = TensorProto.EXTERNAL
    place = {"location": file, "offset": str(offset), "length": str(value.nbytes)}
    tensor.external_data.extend(StringStringEntryProto(key=key, value=text) for key, text in place.items())
    about: bytes = tensor.SerializeToString(deterministic=True)
    return _header(_GRAPH_INITIALIZER, len(about)) + about


def _declared(name: str, value: Array) -> TensorProto:
    """One initializer without its numbers."""
    from onnx import TensorProto, helper

    return TensorProto(
        name=name, data_type=helper.np_dtype_to_tensor_dtype(value.dtype.newbyteorder("<")), dims=value.shape
    )


def _numbers(value: Array) -> memoryview:
    """Return the bytes of an array, little-endian, row by row."""
    import numpy as np

    return np.ascontiguousarray(value, value.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data


def _size(piece: bytes | memoryview) -> int:
    return piece.nbytes if isinstance(piece, memoryview) else len(piece)


def _header(field: int, size: int) -> bytes:
    """What stands before `size` bytes of a field: its number and kind (2, bytes), and how many they are."""
    return _varint(field << 3 | 2) + _varint(size)


def _varint(number: int) -> bytes:
    low = bytearray()
    while number > 0x7F:
        low.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*low, number])
