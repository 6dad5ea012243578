"""What Paddle's compiled readers open, told as Python tells of a file: by the audit event `open`."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

#: Functions of `paddle.base.core` that open a file by themselves, of which they are given the path (Paddle 3.3.1:
#: paddle/jit/pir_translated_layer.py, paddle/static/pir_io.py and paddle/framework/io.py call them so).
_READERS = (
    *("deserialize_pir_program", "load_combine_func", "load_dense_tensor", "load_func", "load_selected_rows"),
    "load_op_meta_info_and_register_op",
)


def tell_of_reads() -> None:
    """Let each of the readers of the Paddle that is imported tell which file it opens."""
    core = sys.modules.get("paddle.base.core")
    for name in _READERS:
        if (reader := getattr(core, name, None)) is not None:
            setattr(core, name, _telling(reader))


def _telling(reader: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(reader)
    def told(*arguments: Any, **keys: Any) -> Any:
        for path in (*arguments, *keys.values()):
            if isinstance(path, str | os.PathLike):
                sys.audit("open", path, "r", os.O_RDONLY)
        return reader(*arguments, **keys)

    return told
