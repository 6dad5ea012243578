"""Read the goldens of a bundle from disk; what they show is computed by :mod:`exporter.base.numbers.golden`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from exporter.base.errors import BundleError, UsageError, did_you_mean
from exporter.base.numbers.golden import AGAIN, IN_THREADS, GoldenCase, read_cases
from exporter.base.numbers.sample import other_sample
from exporter.base.tensors import refuse_long_header
from exporter.spec.model import Spec

#: What a manifest says of its cases.
Described: TypeAlias = list[dict[str, Any]]
#: Tensors that goldens may hold, in those that the outputs of the cases take: inputs, and cases that nobody names. Each
#: case that runs reads the header again.
_TIMES, _SPARE = 10, 500


def read_goldens(path: Path, cases: Described) -> tuple[GoldenCase, ...]:
    """Read the goldens of a bundle; `cases` is what the manifest says about them.

    Raises:
        BundleError: the file lacks a tensor that the manifest promises.
    """
    return read_groups(path, [cases])[0]


def read_groups(path: Path, groups: Sequence[Described]) -> list[tuple[GoldenCase, ...]]:
    """Read goldens of which not all cases hold the same outputs, from one file: those of a group do.

    Raises:
        BundleError: as :func:`read_goldens`.
    """
    from safetensors import SafetensorError, safe_open

    cases = [case for group in groups for case in group]
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
        return [read_cases(tensors, group) for group in groups]
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


def refuse_other_samples(path: Path, cases: Described, spec: Spec, *, steps: bool = False) -> None:
    """Refuse goldens of which another sample is kept than a release of the spec keeps; `cases` as :func:`read_goldens`.

    They may be a decoder's `steps`.

    Raises:
        BundleError: they are such, or no whole safetensors file.
    """
    from safetensors import SafetensorError, safe_open

    refuse_long_header(path)
    try:
        with safe_open(str(path), framework="numpy") as reader:
            names = list(reader.keys())
            inputs = sum(reader.get_tensor(name).nbytes for name in names if "/input/" in name)
            samples = {
                name.replace("/index/", "/eager/"): reader.get_tensor(name) for name in names if "/index/" in name
            }
        wrong = other_sample(inputs, samples, cases, spec.golden_mb, spec.seed, steps)
    except (SafetensorError, ValueError, TypeError, OSError) as error:
        raise BundleError(f"the goldens are not whole ({error})", where=str(path), hint="release it again") from error
    if wrong:
        raise BundleError(wrong, where=str(path), hint="do not use this bundle; ask for a fresh one")


def one_case(described: Described, name: str) -> dict[str, Any]:
    """What is said of the case of this name, or of the one that is run again, or in more threads, under it.

    Raises:
        UsageError: it was not recorded; the hint lists those that were.
    """
    found = [case for case in described if case["name"] == name.removesuffix(AGAIN).partition(IN_THREADS)[0]]
    if not found:
        hint = did_you_mean(name, [case["name"] for case in described])
        raise UsageError(f"no case '{name}' was recorded", where="--case", hint=hint)
    return found[0]
