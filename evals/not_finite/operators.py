"""The operators that are asked, as code of x, y and ids, and what they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from exporter.base.tensors import Array

NAN, INF = float("nan"), float("inf")


@dataclass(frozen=True)
class Operator:
    """An expression, and the inputs that it is tried on."""

    code: str
    draws: Sequence[Mapping[str, Array]]


def _of(*numbers: float, dtype: str = "float32") -> Array:
    return np.array(numbers, dtype)


EACH = {"x": _of(NAN, INF, -INF, -1, 0, 2)}
PAIRS = {"x": _of(NAN, 1, INF, -INF, NAN, 0), "y": _of(1, NAN, 1, INF, NAN, -0.0)}
#: A row with NaN, with infinities, and with nothing else.
ROWS = tuple({"x": np.array([row], "float32")} for row in ((1, NAN, 3, 2), (1, INF, -INF, 2), (NAN, 1, 2, 3)))
NOTHING = tuple({"x": np.full((1, size), -INF, "float32")} for size in (7, 8))
SAME = ({"x": np.array([[-INF] * 4], "float32")}, {"x": np.array([[INF, INF, 1, 2]], "float32")})
IMAGE = ({"x": np.array([[[[1, NAN], [3, 2]]]], "float32")}, {"x": np.full((1, 1, 2, 2), -INF, "float32")})
TABLE = np.array([[1, 2], [3, 4], [5, 6]], "float32")
INSIDE = ({"x": TABLE, "ids": _of(-1, 0, 2, dtype="int64")}, {"x": TABLE, "ids": _of(-3, 1, dtype="int64")})
BESIDE = {"x": TABLE, "ids": np.array([[-1, 0], [1, -2], [-1, -1]], "int64")}

_EACH = """F.relu(x) F.relu6(x) F.leaky_relu(x) F.elu(x) F.gelu(x) F.silu(x) F.sigmoid(x) F.hardsigmoid(x)
F.hardswish(x) F.softplus(x) F.tanh(x) F.log_sigmoid(x) F.hardtanh(x) paddle.clip(x,-1.0,1.0) paddle.clip(x,min=0.0)
paddle.sign(x) paddle.abs(x) paddle.sqrt(x) paddle.log(x) paddle.exp(x) paddle.floor(x) paddle.round(x) paddle.square(x)
paddle.reciprocal(x) paddle.rsqrt(x) paddle.sin(x) paddle.erf(x) paddle.isnan(x) paddle.isinf(x) x.astype('int32')
x.astype('int64') x.astype('bool') paddle.nan_to_num(x) paddle.pow(x,2.0) paddle.pow(x,0.5) x*0.0 x>0.0 x==x
paddle.where(x>0.0,x,paddle.zeros_like(x)) paddle.logical_not(x)""".split()
_PAIRS = """paddle.maximum(x,y) paddle.minimum(x,y) paddle.fmax(x,y) paddle.fmin(x,y) x+y x-y x*y x/y paddle.pow(x,y)
x>y x<y x>=y x==y x!=y paddle.remainder(x,y) paddle.atan2(x,y) paddle.where(x>y,x,y)""".split()
_ROWS = """paddle.max(x,-1) paddle.min(x,-1) paddle.amax(x,-1) paddle.sum(x,-1) paddle.mean(x,-1) paddle.prod(x,-1)
paddle.argmax(x,-1) paddle.argmin(x,-1) paddle.sort(x,-1) paddle.argsort(x,-1) paddle.topk(x,2)[0] paddle.topk(x,2)[1]
paddle.cumsum(x,-1) F.softmax(x,-1) F.log_softmax(x,-1) paddle.logsumexp(x,-1) paddle.any(x>0.0,-1) paddle.std(x,-1)
F.layer_norm(x,4)""".split()

OPERATORS: list[Operator] = [
    *(Operator(code, [EACH]) for code in _EACH),
    *(Operator(code, [PAIRS]) for code in _PAIRS),
    *(Operator(code, ROWS) for code in _ROWS),
    *(
        Operator(code, [*NOTHING, SAME[1]])
        for code in ("F.softmax(x,-1)", "F.log_softmax(x,-1)", "paddle.logsumexp(x,-1)")
    ),
    *(Operator(code, SAME) for code in ("paddle.argmax(x,-1)", "paddle.max(x,-1)")),
    *(Operator(code, IMAGE) for code in ("F.max_pool2d(x,2)", "F.avg_pool2d(x,2)", "F.adaptive_max_pool2d(x,1)")),
    Operator("F.interpolate(x,scale_factor=2,mode='bilinear')", IMAGE[:1]),
    *(
        Operator(code, INSIDE)
        for code in (
            "paddle.gather(x,ids,0)",
            "paddle.index_select(x,ids,0)",
            "x[ids]",
            "paddle.gather_nd(x,ids.unsqueeze(-1))",
        )
    ),
    Operator("paddle.take_along_axis(x,ids,1)", [BESIDE]),
    Operator("F.one_hot(ids,3)", [{"ids": _of(-1, 0, 2, dtype="int64")}]),
    Operator("F.embedding(ids,x)", INSIDE[:1]),
    Operator("ids//2", [{"ids": _of(-3, -1, 3, dtype="int64")}]),
    Operator("ids%2", [{"ids": _of(-3, -1, 3, dtype="int64")}]),
    Operator("ids.astype('uint8')", [{"ids": _of(-1, 256, 3, dtype="int64")}]),
    Operator("F.sequence_mask(ids,3,'int64')", [{"ids": _of(-1, 0, 4, dtype="int64")}]),
]
