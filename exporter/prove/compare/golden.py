"""Read the goldens of a bundle from disk; what they show is computed by :mod:`exporter.base.numbers.golden`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.errors import BundleError, UsageError, did_you_mean
from exporter.base.numbers.golden import AGAIN, IN_THREADS, GoldenCase, read_cases
from exporter.base.tensors import refuse_long_header

#: Tensors that goldens may hold, in those that the outputs of the cases take: inputs, and cases that nobody names. Each
#: case that runs reads the header again.
_TIMES, _SPARE = 10, 500


def read_goldens(path: Path, cases: list[dict[str, Any]]) -> tuple[GoldenCase, ...]:
    """Read the goldens of a bundle; `cases` is what the manifest says about them.

    Raises:
        BundleError: the file lacks a tensor that the manifest promises.
    """
    from safetensors import SafetensorError, safe_open

    if not cases:
        raise BundleError("the bundle records no case", where=str(path), hint="release it again")
    refuse_long_header(path)
    try:
        with safe_open(str(path), framework="numpy") as reader:
            names = list(reader.keys())
            if len(names) > _SPARE + _TIMES * sum(3 * len(case["outputs"]) + 1 for case in cases):
                raise ValueError(f"{len(names):,} tensors, far more than the cases have")
            tensors = {name: reader.get_tensor(name) for name in names if "/input/" not in name}
            for name in names:  # of the inputs nothing but whether they are floats narrower than float64
                if "/input/" in name:
                    tensors[name] = np.empty(0, "float32" if _narrow(reader.get_slice(name).get_dtype()) else "float64")
        return read_cases(tensors, cases)
    except (SafetensorError, KeyError, ValueError) as error:
        raise BundleError(f"the goldens are not whole ({error})", where=str(path), hint="release it again") from error


def _narrow(dtype: str) -> bool:
    """Of safetensors' names for dtypes: F32, F16, BF16, F8_E4M3 and the like are floats narrower than F64."""
    return "F" in dtype and dtype != "F64"


def input_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shape of every recorded input, by its key, read from the header alone.

    Raises:
        BundleError: it is no whole safetensors file.
    """
    from safetensors import SafetensorError, safe_open

    refuse_long_header(path)
    try:
        with safe_open(str(path), framework="numpy") as reader:
            names = [name for name in list(reader.keys()) if "/input/" in name]
            return {name: tuple(reader.get_slice(name).get_shape()) for name in names}
    except (SafetensorError, ValueError, OSError) as error:
        raise BundleError(f"the goldens are not whole ({error})", where=str(path), hint="release it again") from error


def one_case(described: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """What is said of the case of this name, or of the one that is run again, or in more threads, under it.

    Raises:
        UsageError: it was not recorded; the hint lists those that were.
    """
    found = [case for case in described if case["name"] == name.removesuffix(AGAIN).partition(IN_THREADS)[0]]
    if not found:
        hint = did_you_mean(name, [case["name"] for case in described])
        raise UsageError(f"no case '{name}' was recorded", where="--case", hint=hint)
    return found[0]
