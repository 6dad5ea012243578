"""`.pdparams` and `.pdopt`: the pickles of `paddle.save`, told without unpickling (`exporter.base.pickles`)."""

from __future__ import annotations

from exporter.base.pickles.state import Joined, state_of
from exporter.base.pickles.values import Ndarray, PickleRefused
from exporter.base.readers.base import Content, ModelFacts, Reader, Weight, damaged

_DTYPES = {"b1": "bool", "i1": "int8", "u1": "uint8", "f2": "float16", "i2": "int16", "u2": "bfloat16"}
_DTYPES |= {"f4": "float32", "i4": "int32", "u4": "uint32", "f8": "float64", "i8": "int64", "u8": "uint64"}
_DTYPES |= {"c8": "complex64", "c16": "complex128"}


def facts(content: Content, where: str) -> ModelFacts:
    """Facts of the file; a weight that lies in it as plain bytes has its place.

    Raises:
        BundleError: it is damaged, or asks for something else than arrays.
    """
    try:
        state = state_of(content)
    except PickleRefused as error:
        raise damaged(f"not a pickle of arrays alone: {error}", where) from error
    weights = tuple(_weight(name, array) for name, array in state.arrays.items())
    return ModelFacts("pdparams", len(content), weights=weights)


def _weight(name: str, array: Ndarray | Joined) -> Weight:
    parts = array.pieces if isinstance(array, Joined) else (array,)
    code = parts[0].dtype.code if parts[0].dtype else ""
    plain = [part.raw for part in parts if part.raw and not part.raw.latin1 and not part.fortran and _little(part)]
    pieces = tuple((raw.start, raw.stop) for raw in plain) if len(plain) == len(parts) else ()
    return Weight(name, _DTYPES[code], array.shape, pieces)


def _little(array: Ndarray) -> bool:
    return array.dtype is not None and array.dtype.order != ">"


plugin: Reader = Reader((".pdparams", ".pdopt"), facts)
