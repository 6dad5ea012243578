"""The language of the case tables: one call of an API, its inputs, and the layer that makes it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: dtypes that a predictor can be fed and can return; the others travel as one of these and are cast in the program.
_CARRIED = {
    "bool": "bool",
    "int32": "int32",
    "int64": "int64",
    "float32": "float32",
    "float64": "float64",
    "uint8": "int32",
    "int8": "int32",
    "int16": "int32",
    "float16": "float32",
    "bfloat16": "float32",
    "complex64": "float32",
    "complex128": "float64",
}
_SHORT = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool", "bf": "bfloat"}


@dataclass(frozen=True)
class Input:
    """`values`: n (normal), u(a,b) or i(a,b). A shape begins with `b` if its first dim is dynamic."""

    dtype: str
    shape: tuple[int, ...]
    values: str
    dynamic: bool

    @property
    def carrier(self) -> str:
        return _CARRIED[self.dtype]

    @property
    def is_complex(self) -> bool:
        return self.dtype.startswith("complex")


def read_input(text: str) -> Input:
    """`f32[b2,3]@u(0,1)`, `bool[2,3]`, `f32[]`; without values: u(0.1,0.9) for floats, i(0,9) for integers."""
    match = re.fullmatch(r"(bool|bf16|[fiuc]\d+)\[(b?)([\d,]*)\](?:@(.+))?", text)
    assert match, text
    dtype, dynamic, shape, values = match.groups()
    if dtype != "bool":
        letter = "bf" if dtype.startswith("bf") else dtype[0]
        dtype = _SHORT[letter] + dtype[len(letter) :]
    default = "i(0,2)" if dtype == "bool" else "i(0,9)" if "int" in dtype else "u(0.1,0.9)"
    return Input(dtype, tuple(int(size) for size in shape.split(",") if size), values or default, bool(dynamic))


@dataclass(frozen=True)
class Case:
    """`body` is an expression of the inputs x, y, z, w, or statements that return it."""

    api: str
    form: str
    body: str
    inputs: tuple[Input, ...]
    init: str = ""
    number: int = field(default=0, compare=False)

    @property
    def dtype(self) -> str:
        return "+".join(one.dtype for one in self.inputs)

    @property
    def name(self) -> str:
        return f"{self.api} {self.form} {self.dtype}"

    def source(self, class_name: str) -> str:
        """The layer: inputs out of their carriers, the call, outputs into theirs."""
        names = "xyzw"[: len(self.inputs)]
        lines = [f"class {class_name}(nn.Layer):"]
        if self.init:
            lines += ["    def __init__(self):", "        super().__init__()"]
            lines += [f"        {line}" for line in self.init.splitlines()]
        lines += [f"    def forward(self, {', '.join(names)}):"]
        for name, one in zip(names, self.inputs, strict=True):
            if one.is_complex:
                lines += [f"        {name} = paddle.as_complex({name})"]
            elif one.carrier != one.dtype:
                lines += [f"        {name} = {name}.astype('{one.dtype}')"]
        body = self.body.splitlines()
        body[-1] = body[-1] if body[-1].strip().startswith("return ") else f"return {body[-1]}"
        *before, last = body
        lines += [f"        {line}" for line in before]
        lines += [f"        return carried(({last.strip().removeprefix('return ')}))"]
        return "\n".join(lines)


def case(api: str, form: str, body: str, *inputs: str, init: str = "") -> Case:
    return Case(api, form, body, tuple(read_input(text) for text in inputs), init)


PRELUDE = '''
import functools
import math
import operator
import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle import matmul as matmul_from_paddle
from paddle.tensor.math import multiply as raw_multiply
from paddle.tensor.math import sum as raw_sum
from paddle.tensor.ops import exp as raw_exp

HELD_LIST = [raw_multiply]
HELD_DICT = {"exp": raw_exp}
HELD_PARTIAL = functools.partial(raw_sum, axis=0)
HELD_FUNCTION = paddle.tanh
HELD_METHOD = paddle.Tensor.abs
HELD_DTYPE = paddle.float32
HELD_DTYPE64 = paddle.int64


def make_closure():
    held = raw_multiply
    return lambda a, b: held(a, b)


HELD_CLOSURE = make_closure()


class HeldInClass:
    op = raw_multiply


@paddle.jit.not_to_static  # traced a second time in one process, its recursion is written wrong (dy2static, 3.3.1)
def carried(value):
    """Each output in a dtype that a predictor returns."""
    if isinstance(value, (list, tuple)):
        return [carried(one) for one in value]
    if value.dtype in (paddle.complex64, paddle.complex128):
        return paddle.as_real(value)
    if value.dtype in (paddle.float16, paddle.bfloat16):
        return value.astype("float32")
    if value.dtype in (paddle.int8, paddle.uint8, paddle.int16):
        return value.astype("int32")
    return value
'''
