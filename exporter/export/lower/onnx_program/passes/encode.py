"""An ONNX file piece by piece, so that weights are copied once, from where they lie to the disk.

protobuf copies them into the message, and all of it again to write it. Here the message is written without them, and
they are put behind its graph: fields of a message may come in any order (protobuf.dev, "Encoding"). The numbers of the
fields are those of onnx.proto3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from exporter.base.errors import ModelError
from exporter.base.tensors import Array

if TYPE_CHECKING:
    from onnx import ModelProto

_MODEL_GRAPH, _GRAPH_INITIALIZER, _TENSOR_RAW_DATA = 7, 5, 9
#: No protobuf library reads a message that is larger.
_MOST = (1 << 31) - 1


def pieces(model: ModelProto, constants: Mapping[str, Array]) -> list[bytes | memoryview]:
    """The bytes of a model whose initializers are these constants, in the order of their names.

    Raises:
        ModelError: they are more than one ONNX file can hold.
    """
    graph = model.graph.SerializeToString(deterministic=True)
    stored = [piece for name, value in sorted(constants.items()) for piece in _tensor(name, value)]
    size = len(graph) + sum(map(_size, stored))
    head = type(model)()
    head.CopyFrom(model)
    head.ClearField("graph")
    made = [head.SerializeToString(deterministic=True), _header(_MODEL_GRAPH, size), graph, *stored]
    if (whole := sum(map(_size, made))) > _MOST:
        raise ModelError(
            f"the model takes {whole / 1e9:.1f} GB, and an ONNX file holds 2.1",
            where="onnx",
            hint="leave onnx out of formats",
        )
    return made


def _tensor(name: str, value: Array) -> Iterator[bytes | memoryview]:
    """One initializer: what is said of it, then its numbers."""
    import numpy as np
    from onnx import TensorProto, helper

    little = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
    kind = helper.np_dtype_to_tensor_dtype(little.dtype)
    about = TensorProto(name=name, data_type=kind, dims=value.shape).SerializeToString(deterministic=True)
    raw = _header(_TENSOR_RAW_DATA, little.nbytes)
    yield _header(_GRAPH_INITIALIZER, len(about) + len(raw) + little.nbytes) + about + raw
    if little.nbytes:
        yield little.reshape(-1).view(np.uint8).data


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
