"""Linear layers of a `.pdmodel` written as convolutions of 1x1, which oneDNN computes rightly in int8.

Paddle's passes give int8 `fc` wrong steps (`compute_propagate_scales_onednn_pass.cc`, 3.3.1: for axis 0 it takes the
largest of consecutive stored weights, not of an output's), so weights are cut off; where a weight is square,
`quant_dequant_onednn_pass.cc` multiplies the steps along the wrong axis as well. Served in int8, random weights of
64x24 have 29 dB and 64x64 14 dB, where the simulated file has 39 and 42. And where its input is signed, a CPU without
VNNI multiplies nearly all of it wrongly, since unlike for convolutions oneDNN does not halve the weights there.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.files import write_draft
from exporter.base.readers.base import map_file
from exporter.base.readers.kinds import pdiparams
from exporter.base.readers.kinds.pdmodel import read_pdmodel
from exporter.base.tensors import Array

_PARAMETERS = "model.pdiparams"
#: VarType.INT32 and FP32 in framework.proto.
INT32, FLOAT32 = 2, 5
_CONVOLUTION = {
    **{"strides": [1, 1], "paddings": [0, 0], "dilations": [1, 1], "groups": 1},
    **{"padding_algorithm": "EXPLICIT", "data_format": "NCHW"},
}


@dataclass(frozen=True)
class _Linear:
    """One product: its place among the operators, what it takes and gives, its weight, how that is stored.

    `source` holds what it takes, before it was flattened.
    """

    index: int
    taken: str
    source: str
    given: str
    weight: str
    transposed: bool


@dataclass(frozen=True)
class Linears:
    """What became convolutions: by weight whether it had to be transposed, and which value each image is made from."""

    transposed: Mapping[str, bool]
    images: Mapping[str, str]


def as_convolutions(source: Path, model: str, into: Path) -> Linears:
    """Write both files with linear layers as convolutions.

    A weight keeps its name, and becomes [outputs, inputs, 1, 1].
    """
    import paddle

    program = paddle.static.Program.parse_from_string((source / model).read_bytes())
    content = map_file(source / _PARAMETERS)
    stored = pdiparams.named(content, _PARAMETERS, read_pdmodel(source / model).weights)
    block = program.global_block()
    products = _products(block)
    values: dict[str, Array] = {}
    images = {}
    for product in reversed(products):
        images[_replace(block, product)] = product.taken
        value = stored[product.weight].array(content)
        values[product.weight] = (value.T if product.transposed else value)[..., None, None]
    for name, value in values.items():
        block.var(name).desc.set_shape(list(value.shape))
    write_draft(into / model, program.desc.serialize_to_string())
    start, parts = 0, []
    for name, weight in stored.items():  # one tensor after the other, in the order of their names
        stop = weight.pieces[-1][1]
        parts.append(_tensor(values[name]) if name in values else bytes(content[start:stop]))
        start = stop
    write_draft(into / _PARAMETERS, b"".join(parts))
    return Linears({product.weight: product.transposed for product in products}, images)


def _products(block: Any) -> list[_Linear]:
    """Every product of an activation and a stored matrix, where nothing else reads that matrix."""
    found: list[_Linear] = []
    flattened = {
        operator.output("Out")[0]: operator.input("X")[0]
        for operator in block.ops
        if operator.type == "flatten_contiguous_range" and operator.attr("start_axis") == 1
    }
    readers: dict[str, int] = {}
    for index, operator in enumerate(block.ops):
        for name in operator.desc.input_arg_names():
            readers[name] = readers.get(name, 0) + 1
        product = _product(block, index, operator, flattened)
        found += [product] if product else []
    uses: dict[str, int] = {}
    for product in found:
        uses[product.weight] = uses.get(product.weight, 0) + 1
    return [product for product in found if uses[product.weight] == readers[product.weight]]


def _product(block: Any, index: int, operator: Any, flattened: Mapping[str, str]) -> _Linear | None:
    if operator.type not in ("mul", "matmul_v2"):
        return None
    taken, weight, given = operator.input("X")[0], operator.input("Y")[0], operator.output("Out")[0]
    rank, matrix = len(block.var(taken).shape), block.var(weight)
    if not matrix.persistable or len(matrix.shape) != 2 or rank < 2:
        return None
    # A reshape hands the sign of a relu's codes on, and a flattening does not.
    source = flattened.get(taken, taken) if rank == 2 else taken
    if operator.type == "mul":
        plain = operator.attr("x_num_col_dims") == rank - 1 and operator.attr("y_num_col_dims") == 1
        return _Linear(index, taken, source, given, weight, True) if plain else None
    if operator.attr("trans_x"):
        return None
    return _Linear(index, taken, source, given, weight, not operator.attr("trans_y"))


def _replace(block: Any, product: _Linear) -> str:
    """Rows of features as images of one pixel, the convolution, and back; the name of the images.

    Transposing instead, or a convolution of the layout NHWC, is served wrongly (3.3.1: 1.6 dB, and an error).
    """
    insert = _Inserter(block, product)
    rank = len(block.var(product.taken).shape)
    stored = block.var(product.weight).shape
    features, columns = stored if product.transposed else reversed(stored)
    image = insert("reshape2", "image", {"X": product.source}, {"shape": [-1, features, 1, 1]})
    convolved = insert("conv2d", "convolved", {"Input": image, "Filter": product.weight}, _CONVOLUTION)
    if rank == 2:
        insert("squeeze2", "", {"X": convolved}, {"axes": [2, 3]})
        return image
    whole = insert("shape", "sizes", {"Input": product.taken}, {}, INT32)
    first = {"axes": [0], "starts": [0], "ends": [rank - 1], "infer_flags": [1], "decrease_axis": []}
    sizes = insert("slice", "rows_sizes", {"Input": whole}, first, INT32)
    last = {"shape": [1], "value": float(columns), "dtype": INT32, "str_value": str(columns), "force_cpu": False}
    columns_size = insert("fill_constant", "columns", {}, last, INT32)
    shape = insert("concat", "shape_back", {"X": [sizes, columns_size]}, {"axis": 0}, INT32)
    insert("reshape2", "", {"X": convolved, "Shape": shape}, {"shape": [-1] * (rank - 1) + [columns]})
    return image


class _Inserter:
    """Puts operators where a product was, one after the other."""

    def __init__(self, block: Any, product: _Linear) -> None:
        self._block, self._product, self._next = block, product, product.index
        # By the description: Paddle's own list of operators does not follow what is inserted there.
        block.desc._remove_op(product.index, product.index + 1)

    def __call__(
        self, kind: str, name: str, inputs: Mapping[str, Any], attributes: Mapping[str, Any], dtype: int = FLOAT32
    ) -> str:
        """Add one operator; the name of what it gives, which is the product's own where none is said."""
        given = f"{self._product.given}.{name}" if name else self._product.given
        outputs = {"Output" if kind == "conv2d" else "Out": given}
        for value in outputs.values():
            if not self._block.has_var(value):
                self._block.create_var(name=value, dtype=_dtype(dtype), shape=[-1])
        operator = self._block.desc._insert_op(self._next)
        self._next += 1
        operator.set_type(kind)
        for slot, value in inputs.items():
            operator.set_input(slot, value if isinstance(value, list) else [value])
        for slot, value in outputs.items():
            operator.set_output(slot, [value])
        for key, value in {**attributes, "op_role": 0}.items():  # the quantizer asks every operator for its role
            operator._set_attr(key, value)
        return given


def _dtype(number: int) -> Any:
    from exporter.paddle.private import core

    return core.VarDesc.VarType(number)


def _tensor(value: Array) -> bytes:
    """One float32 tensor as save_combine writes it (framework/lod_tensor.cc and tensor_util.cc)."""
    about = b"\x08" + bytes([FLOAT32]) + b"".join(b"\x10" + _varint(size) for size in value.shape)
    return struct.pack("<IQIi", 0, 0, 0, len(about)) + about + np.ascontiguousarray(value, "<f4").tobytes()


def _varint(number: int) -> bytes:
    head = bytearray()
    while number > 0x7F:  # seven bits a byte
        head.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*head, number])
