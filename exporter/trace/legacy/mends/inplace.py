"""Functions that write into their first argument: `y.tanh_()`."""

from __future__ import annotations

import builtins
from typing import Any

from exporter.paddle.patches import Patches
from exporter.trace.legacy.lowering import now_means
from exporter.trace.legacy.values import is_variable


def install(patches: Patches) -> None:
    """Make what was written visible to later reads.

    In a static program each of these functions calls its other self and drops what it should have written, with a
    warning. All of them do so through one line, `eval("module.name")(*args)` (utils/inplace_utils.py, 2.6-3.3).
    """
    from paddle.utils import inplace_utils

    patches.attribute(inplace_utils, "eval", _resolve)


def _resolve(name: str) -> Any:
    import paddle

    function = builtins.eval(name, {"paddle": paddle})  # noqa: S307 - Paddle's own text, the name of its function

    def write(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        written = args[0] if args else next(iter(kwargs.values()))
        if is_variable(written) and is_variable(result) and written is not result:
            now_means(written, result)
        return result

    return write
