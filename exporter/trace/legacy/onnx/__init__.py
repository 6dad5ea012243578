"""Calls that paddle2onnx cannot convert, or converts wrongly, made of ones that it converts rightly.

paddle2onnx 2.1.0 refuses some operators of PIR, aborts its process on others, and gets some wrong without a word. The
same mechanism as for legacy programs puts a composition in the place of the C++ entry while the layer is traced to PIR.
One file a kind; each ends in its part of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from exporter.trace.legacy.onnx.arrange import ARRANGE
from exporter.trace.legacy.onnx.computed import COMPUTED
from exporter.trace.legacy.onnx.dispatch import Rewrite, install, widening
from exporter.trace.legacy.onnx.pointwise import POINTWISE
from exporter.trace.legacy.onnx.pooling import POOLING
from exporter.trace.legacy.onnx.products import PRODUCTS
from exporter.trace.legacy.onnx.rare import RARE
from exporter.trace.legacy.onnx.recurrent import RECURRENT, install_cells
from exporter.trace.legacy.onnx.reduce import REDUCTIONS
from exporter.trace.legacy.onnx.spectra import IN_PARTS, SPECTRA
from exporter.trace.legacy.patches import Patches
from exporter.trace.legacy.refusal import CannotLower, in_full
from exporter.trace.legacy.table import TABLE

REWRITES: Mapping[str, Rewrite] = {
    **REDUCTIONS,
    **POINTWISE,
    **ARRANGE,
    **COMPUTED,
    **POOLING,
    **PRODUCTS,
    **RECURRENT,
    **RARE,
    **SPECTRA,
}

#: Calls made with other arguments: the parts of complex values, wider dtypes.
DETOURS = (IN_PARTS, widening(frozenset(TABLE) - {"index_put_"}))


@contextmanager
def convertible() -> Iterator[None]:
    """Within it, tracing to PIR writes programs that paddle2onnx converts. Everything is put back at the end.

    The Paddle of this process must be in PIR mode.

    Raises:
        CannotLower: a call cannot be written for ONNX, with the user's line.
    """
    patches = Patches()
    refusals: list[CannotLower] = []
    try:
        install(patches, REWRITES, DETOURS, refusals.append)
        install_cells(patches)
        with in_full(refusals):
            yield
    finally:
        patches.undo()
