"""Elements moved, repeated, replaced or sampled."""

from __future__ import annotations

from exporter.export.lower.pdmodel.attributes import computed, flag, integers, text
from exporter.export.lower.pdmodel.dtypes import SAME
from exporter.export.lower.pdmodel.entry import Sunk

ENTRIES = (
    Sunk(
        "roll",
        "roll",
        SAME,
        "x, shifts, axis=None",
        attributes={"shifts": integers("shifts"), "axis": integers("axis")},
        aliases={"dims": "axis"},
        tensors={"shifts": "ShiftsTensor"},
        since="3.2",
    ),
    Sunk(
        "expand_as",
        "expand_as_v2",
        SAME,
        "x, y",
        inputs={"X": "x", "Y": "y"},
        attributes={"target_shape": computed("y.shape", lambda call: list(call["y"].shape))},
        since="3.2",
    ),
    *(
        Sunk(
            api,
            "index_put",
            SAME,
            "x, indices, value, accumulate=False",
            inputs={"x": "x", "indices": "indices", "value": "value"},
            attributes={"accumulate": flag("accumulate")},
            output="out",
            aliases={"values": "value"},
            writes_x=api.endswith("_"),
        )
        for api in ("index_put", "index_put_")
    ),
    Sunk(
        "grid_sample",
        "grid_sampler",
        SAME,
        "x, grid, mode='bilinear', padding_mode='zeros', align_corners=True",
        inputs={"X": "x", "Grid": "grid"},
        attributes={
            "mode": text("mode"),
            "padding_mode": text("padding_mode"),
            "align_corners": flag("align_corners"),
        },
        output="Output",
    ),
)
