"""One tensor in, one of the same shape out."""

from __future__ import annotations

from typing import Any

from exporter.export.lower.pdmodel.attributes import LEAVE_OUT, computed, constant, integer, number
from exporter.export.lower.pdmodel.call import Call
from exporter.export.lower.pdmodel.dtypes import BOOLEAN, FLOATING, REAL, SAME, is_integer
from exporter.export.lower.pdmodel.entry import Sunk
from exporter.export.lower.pdmodel.versions import KNOWS_ROUND_DECIMALS


def _integers_stay(call: Call) -> Any:
    """The legacy kernels of ceil, floor and round are for floats only; eager returns integers as they are."""
    import paddle

    return paddle.assign(call["x"]) if is_integer(call["x"]) else None


def _round(call: Call) -> Any:
    """Paddle 2.6 ignores `decimals` without a word, so for it the scaling becomes part of the program."""
    decimals = call["decimals"] = int(call.constant("decimals"))
    if is_integer(call["x"]) and decimals >= 0:
        return _integers_stay(call)
    if decimals == 0 or call.target is None or call.target >= KNOWS_ROUND_DECIMALS:
        return None
    import paddle

    from exporter.paddle.programs import append

    scale = 10.0 ** abs(decimals)
    factor = paddle.full([], scale, call["x"].dtype)
    there, back = (paddle.multiply, paddle.divide) if decimals > 0 else (paddle.divide, paddle.multiply)
    return back(append("round", {"X": [there(call["x"], factor)]}, {}, call["x"].dtype), factor)


def _approximate(call: Call) -> bool:
    return call["approximate"] in (True, "tanh")


FLOAT_ONLY_33 = ("acos", "acosh", "asin", "atanh", "sinh", "cosh", "exp", "expm1", "tanh", "log2", "log10", "log1p")
FLOAT_ONLY_32 = ("cos", "sin", "log", "rsqrt", "sigmoid", "sqrt")

ENTRIES = (
    *(Sunk(api, api, FLOATING) for api in FLOAT_ONLY_33),
    *(Sunk(api, api, FLOATING, since="3.2") for api in FLOAT_ONLY_32),
    *(Sunk(api, f"{api}_v2", BOOLEAN, since="3.2") for api in ("isfinite", "isinf", "isnan")),
    Sunk("abs", "abs", REAL),
    Sunk("sign", "sign", SAME, since="3.2"),
    Sunk("ceil", "ceil", SAME, instead=_integers_stay),
    Sunk("floor", "floor", SAME, instead=_integers_stay, since="3.2"),
    Sunk(
        "round",
        "round",
        SAME,
        "x, decimals=0",
        attributes={"decimals": computed("decimals, left out if 0", lambda call: call["decimals"] or LEAVE_OUT)},
        instead=_round,
    ),
    Sunk("logical_not", "logical_not", BOOLEAN, since="3.2"),
    *(
        Sunk(
            api,
            "tril_triu",
            SAME,
            "x, diagonal=0",
            attributes={"diagonal": integer("diagonal"), "lower": constant(api == "tril")},
            since="3.2",
        )
        for api in ("tril", "triu")
    ),
    Sunk(
        "gelu",
        "gelu",
        SAME,
        "x, approximate=False",
        attributes={"approximate": computed("approximate is True or 'tanh'", _approximate)},
    ),
    Sunk(
        "softplus",
        "softplus",
        SAME,
        "x, beta=1, threshold=20",
        attributes={"beta": number("beta"), "threshold": number("threshold")},
    ),
    Sunk(
        "diagonal",
        "diagonal",
        SAME,
        "x, offset=0, axis1=0, axis2=1",
        inputs={"Input": "x"},
        attributes={"offset": integer("offset"), "axis1": integer("axis1"), "axis2": integer("axis2")},
        aliases={"dim1": "axis1", "dim2": "axis2"},
        computed_in={"UINT8": "int32", "INT8": "int32", "INT16": "int32", "FP16": "float32", "BF16": "float32"},
    ),
)
