"""How each operator of PIR is written in ONNX, one file a family."""

from __future__ import annotations

from exporter.export.lower.onnx_program.call import Lowering
from exporter.export.lower.onnx_program.ops import (
    activation,
    binary,
    boxes,
    conv,
    create,
    decode,
    detection,
    graphs,
    index,
    linear,
    lists,
    loss,
    matrix_nms,
    order,
    orthogonal,
    pairs,
    pointwise,
    pool,
    proposals,
    reduce,
    resize,
    rnn,
    scan,
    shape,
    solve,
    special,
    spectra,
    window,
)

_FAMILIES = (
    pointwise,
    activation,
    binary,
    reduce,
    resize,
    scan,
    shape,
    create,
    index,
    linear,
    conv,
    pool,
    rnn,
    window,
    order,
    loss,
    detection,
    boxes,
    proposals,
    lists,
    graphs,
    matrix_nms,
    decode,
    solve,
    orthogonal,
    special,
)
#: By the operator's name; one in place (`relu_`) has the entry of the other.
OPERATORS: dict[str, Lowering] = {
    **{name: lower for family in _FAMILIES for name, lower in family.OPERATORS.items()},
    **{name: pairs.OPERATORS[name] for name in ("as_complex", "complex")},
    "fft_r2c": spectra.OPERATORS["fft_r2c"],
}
#: Of complex values, which are pairs of tensors; and what is done to both parts alike.
OF_PAIRS: dict[str, Lowering] = {**pairs.OPERATORS, **spectra.OPERATORS}
#: Loops over a matrix. Where no input decides it, the value is stored instead (`constants.py`).
FOLDED = frozenset((*solve.OPERATORS, *orthogonal.OPERATORS))
TO_BOTH, VALUES, NUMBERS = pairs.TO_BOTH, pairs.VALUES, pairs.NUMBERS
