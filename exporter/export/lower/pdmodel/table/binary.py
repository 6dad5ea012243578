"""Two tensors in."""

from __future__ import annotations

from exporter.export.lower.pdmodel.attributes import Attribute, constant, flag, number_as_text
from exporter.export.lower.pdmodel.dtypes import BOOLEAN, COMPARED, PROMOTED, YIELDING, DtypeRule
from exporter.export.lower.pdmodel.entry import Sunk

_XY = {"X": "x", "Y": "y"}


def _binary(api: str, operator: str, dtype: DtypeRule, since: str = "3.3", **attributes: Attribute) -> Sunk:
    return Sunk(api, operator, dtype, "x, y", inputs=_XY, attributes=attributes, since=since)


ENTRIES = (
    _binary("multiply", "elementwise_mul", YIELDING, "3.2", axis=constant(-1)),
    _binary("maximum", "elementwise_max", PROMOTED, "3.2", axis=constant(-1)),
    _binary("minimum", "elementwise_min", PROMOTED, "3.2", axis=constant(-1)),
    _binary("greater_than", "greater_than", COMPARED, "3.2", axis=constant(-1)),
    *(_binary(api, api, COMPARED, "3.2") for api in ("logical_and", "logical_or", "logical_xor")),
    Sunk(
        "matmul",
        "matmul_v2",
        PROMOTED,
        "x, y, transpose_x=False, transpose_y=False",
        inputs=_XY,
        attributes={"trans_x": flag("transpose_x"), "trans_y": flag("transpose_y")},
        since="3.2",
    ),
    Sunk("bmm", "bmm", PROMOTED, "x, y", inputs=_XY, aliases={"mat2": "y"}, since="3.2"),
    Sunk("dot", "dot", PROMOTED, "x, y", inputs=_XY, aliases={"tensor": "y"}),
    Sunk(
        "isclose",
        "isclose",
        BOOLEAN,
        "x, y, rtol=1e-05, atol=1e-08, equal_nan=False",
        inputs={"Input": "x", "Other": "y"},
        attributes={
            "rtol": number_as_text("rtol"),
            "atol": number_as_text("atol"),
            "equal_nan": flag("equal_nan"),
        },
    ),
)
