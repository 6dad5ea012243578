"""The parts of Paddle's `framework.proto` (2.0 to 3.3) that `.pdmodel` and `.pdiparams` share."""

from __future__ import annotations

from exporter.base.readers.base import checked_shape, damaged
from exporter.base.readers.wire import Message

#: VarType.Type -> dtype name. The other values are containers (feed lists, step scopes), never tensors.
DTYPES = {
    0: "bool",
    1: "int16",
    2: "int32",
    3: "int64",
    4: "float16",
    5: "float32",
    6: "float64",
    20: "uint8",
    21: "int8",
    22: "bfloat16",
    23: "complex64",
    24: "complex128",
    32: "float8_e4m3fn",
    33: "float8_e5m2",
}


def tensor_desc(message: Message, *, computed: bool = False) -> tuple[str, tuple[int, ...]]:
    """Read VarType.TensorDesc (data_type = 1, dims = 2): dtype name and shape (-1: unknown).

    Where a program computes the tensor, any negative size is an unknown one: Paddle multiplies -1 by what it knows.
    InstanceNorm's saved statistics of 4 channels are declared as [-4] where the batch varies (3.3.1).

    Raises:
        BundleError: no dtype, an unknown one, or a shape that cannot be.
    """
    kind, dims = -1, list[int]()
    for field in message:
        if field.number == 1:
            kind = field.integer()
        elif field.number == 2:
            dims.extend(max(size, -1) if computed else size for size in field.integers())
    if kind not in DTYPES:
        raise damaged(f"unknown dtype {kind}", message.where, message.start)
    return DTYPES[kind], checked_shape(dims, message.where, message.start)
