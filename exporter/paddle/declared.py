"""The type that a program declares of a value, where Paddle infers another than its kernels give."""

from __future__ import annotations

from typing import Any, TypeAlias

from exporter.base.tensors import TensorSpec

#: A value of a program, or a dtype of Paddle's.
Value: TypeAlias = Any


def declare(value: Value, dtype: Value, sizes: list[int] | None = None) -> None:
    """Give a value of the PIR program that is being built another dtype, and other sizes if they are told."""
    import paddle

    from exporter.paddle.private import create_shaped_type

    if _name(value.dtype) != _name(dtype):
        like = paddle.cast(value, dtype)  # its type is taken, and it does not stay
        value.set_type(like.type())
        operator = like.get_defining_op()
        operator.get_parent_block().remove_op(operator)
    if sizes is not None:
        value.set_type(create_shaped_type(value.type(), sizes))


def declare_variable(variable: Value, promised: TensorSpec) -> None:
    """Give a variable of a legacy program the dtype of a promise, and its sizes where the number of axes is another."""
    from exporter.paddle.private import convert_to_proto_type

    dtype = convert_to_proto_type(promised.dtype)
    if variable.dtype() != dtype:
        variable.set_dtype(dtype)
    if len(variable.shape()) != len(promised.shape):
        variable.set_shape([-1 for _ in promised.shape])


def _name(dtype: Value) -> str:
    return str(dtype).rpartition(".")[2].lower()
