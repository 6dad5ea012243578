"""Write exporter/export/lower/pdmodel/known.json: the operators and attributes that older Paddles lack.

python evals/lower/pdmodel/legacy_known.py --list                    what the Paddle of this interpreter has, as JSON
python evals/lower/pdmodel/legacy_known.py NEWEST.json OLDER.json…   known.json, from such lists
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_EVERY_OPERATOR_HAS = {"op_callstack", "op_device", "op_namescope", "op_role", "op_role_var", "with_quant_attr"}
KNOWN = Path(__file__).parents[3] / "exporter/export/lower/pdmodel" / "known.json"


def listed() -> dict[str, Any]:
    import paddle
    from paddle.base.framework import OpProtoHolder

    def names(proto: Any) -> list[str]:
        return sorted({one.name for one in (*proto.attrs, *proto.inputs)} - _EVERY_OPERATOR_HAS)

    protos = OpProtoHolder.instance().op_proto_map
    forward = {name: names(proto) for name, proto in protos.items() if "_grad" not in name and "_xpu" not in name}
    return {"version": paddle.__version__, "operators": forward}


def known(newest: dict[str, Any], older: list[dict[str, Any]]) -> dict[str, Any]:
    """What each of `older` lacks of `newest`."""
    lacks = {}
    for one in older:
        has = one["operators"]
        missing = {
            name: sorted(set(attributes) - set(has[name]))
            for name, attributes in newest["operators"].items()
            if name in has and set(attributes) - set(has[name])
        }
        lacks[one["version"]] = {
            "operators": sorted(set(newest["operators"]) - set(has)),
            "attributes": dict(sorted(missing.items())),
        }
    return {"newest": newest["version"], "older": lacks}


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print(json.dumps(listed()))
    else:
        newest, *older = (json.loads(Path(name).read_text()) for name in sys.argv[1:])
        KNOWN.write_text(json.dumps(known(newest, older), indent=1) + "\n")
