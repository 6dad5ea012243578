"""What Paddle's compiled readers open, told as Python tells of a file: by the audit event `open`."""

from __future__ import annotations

import sys

from exporter.base.watch import tell_of

#: Functions of `paddle.base.core` that open a file by themselves, of which they are given the path (Paddle 3.3.1:
#: paddle/jit/pir_translated_layer.py, paddle/static/pir_io.py and paddle/framework/io.py call them so).
_READERS = (
    *("deserialize_pir_program", "load_combine_func", "load_dense_tensor", "load_func", "load_selected_rows"),
    "load_op_meta_info_and_register_op",
)


def tell_of_reads() -> None:
    """Let each of the readers of the Paddle that is imported tell which file it opens."""
    tell_of(sys.modules.get("paddle.base.core"), *_READERS)
