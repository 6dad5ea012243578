"""Tensors that share their data: in eager mode some operators give a view, in a program nothing does."""

from __future__ import annotations

import ast
from collections.abc import Mapping as Names

from exporter.check.domain.values import Const, Dim, Layer, Scalar, Sequence, Tensor, Value
from exporter.check.source.def_use import read_later

#: Operators that give a view of their tensor in eager mode; `item` is indexing by numbers and slices.
#: Each measured on Paddle 3.3.1: what is written into the result shows in the tensor, and the other way round.
_VIEWS = frozenset(
    "reshape squeeze unsqueeze flatten transpose t T mT moveaxis swapaxes slice strided_slice unbind diagonal detach "
    "item".split()
)


#: Operators behind which Paddle's in-place functions refuse to be traced ('stride_ops' in 'base/framework.py').
_STRIDED = _VIEWS - {"detach", "t", "T", "mT"} | {"index_select", "real", "imag", "as_real"}


#: Layers and functions that end in such an operator (each measured on Paddle 3.3.1).
_ENDS_STRIDED = frozenset(
    "Conv1D Conv1DTranspose MaxPool1D AvgPool1D AdaptiveAvgPool1D AdaptiveMaxPool1D Flatten Unflatten Pad1D Pad2D "
    "conv1d conv1d_transpose max_pool1d avg_pool1d adaptive_avg_pool1d adaptive_max_pool1d unflatten".split()
)


def note_view(value: Value) -> None:
    """Remember that a view of a tensor was made."""
    if isinstance(value, Tensor) and (base := _base(value)) is not None and value.value_number[0] in _STRIDED:
        base.viewed = True


def refuses_in_place(tensor: Tensor) -> bool:
    """Whether an in-place function of this tensor cannot be traced: it is a view, or there is one of it."""
    made_by = tensor.value_number[0] if tensor.value_number else ""
    if made_by == "layer" and isinstance(tensor.value_number[1], Layer):
        made_by = tensor.value_number[1].name.rpartition(".")[2]
    return tensor.viewed or made_by in _ENDS_STRIDED or (_base(tensor) is not None and made_by in _STRIDED)


def still_needed(tensor: Tensor, names: Names[str, Value], function: ast.AST | None, node: ast.Subscript) -> str:
    """A name, read further on, of a tensor that shares its data with one that `node` writes into; or nothing."""
    mine, written = _bases(tensor), node.value.id if isinstance(node.value, ast.Name) else ""
    for name, other in names.items():
        if name == written or not isinstance(other, Tensor) or other is tensor:
            continue
        shared = any(other is each for each in mine) or any(tensor is each for each in _bases(other))
        if shared and read_later(function, name, node):
            return name
    return ""


def _base(tensor: Tensor) -> Tensor | None:
    """The tensor of which this one is a view."""
    if len(tensor.value_number) < 2 or tensor.value_number[0] not in _VIEWS | _STRIDED:
        return None
    base = tensor.value_number[1]
    if tensor.value_number[0] == "item" and not _plain_index(tensor.value_number[2]):
        return None
    return base if isinstance(base, Tensor) else None


def _bases(tensor: Tensor) -> list[Tensor]:
    found: list[Tensor] = []
    base = _base(tensor)
    while base is not None and len(found) < 20:
        found.append(base)
        base = _base(base) if base.value_number and base.value_number[0] in _VIEWS else None
    return found if tensor.value_number and tensor.value_number[0] in _VIEWS else []


def _plain_index(index: object) -> bool:
    """Whether an index is made of numbers and slices; any other makes a copy."""
    if isinstance(index, Sequence):
        return index.kind == "slice" or (index.kind == "tuple" and all(_plain_index(each) for each in index.items))
    whole = isinstance(index, Const) and not isinstance(index.value, (bool, str))
    return whole or isinstance(index, Dim) or (isinstance(index, Scalar) and index.kind == "int")
