"""Goldens: recorded cases with their truth, as they lie in a bundle.

`golden.safetensors` holds, for each case, `<case>/input/<name>`, `<case>/eager/<output>` and, for float outputs,
`<case>/truth/<output>` in float64. What is said about them (scale, e_ref, method, gate) is JSON and stands in the
manifest. Of outputs too large to keep, a seeded sample of elements is kept, with `<case>/index/<output>`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from exporter.errors import BundleError, UsageError
from exporter.numbers.allowance import LARGEST
from exporter.numbers.norms import FLOOR, FLOOR_64, SMALLEST_SCALE, WORST_E_REF, norms
from exporter.tensors import Array, TensorMap

#: What the name of a case ends in when it is run once more, and when it is run in more threads than the others.
AGAIN = ":again"
IN_THREADS = ":threads="
#: The other number of threads: two share the work wherever there is some, on any machine.
THREADS = 2
#: What safetensors calls the dtypes that are wider than float32, or none of its kind.
_DTYPES = {"F64": "float64", "BOOL": "bool", **{f"{kind}{bits}": "int64" for kind in "IU" for bits in (8, 16, 32, 64)}}


@dataclass(frozen=True)
class GoldenOutput:
    """One output of one case.

    `eager` and `truth` are whole, or the elements at `index` of the flattened output. `scale` is (largest absolute
    value, rms) of the whole truth, `e_ref` eager's relative error in the same two norms. `seed` is that of the case's
    values: cases of one seed are related. `scores` names the float output and the axis whose argmax an integer is.
    `allowance` widens the tolerance of few numbers (exporter/numbers/allowance.py); bundles of schema 1 know none.
    `wide` says that it is float64, and no input is narrower.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    eager: Array
    truth: Array
    index: Array | None
    scale: tuple[float, float]
    e_ref: tuple[float, float]
    method: str
    gate: str
    seed: int
    scores: tuple[str, int] | None
    allowance: float = 1.0
    wide: bool = False

    @property
    def unit(self) -> tuple[float, float]:
        """What an error is measured in, relative to the size of the output, in both norms: never below the floor.

        Of few numbers it is larger than e_ref, by an allowance for chance; the floor needs none.
        """
        return max(self.allowance * self.e_ref[0], self.floor), max(self.allowance * self.e_ref[1], self.floor)

    @property
    def floor(self) -> float:
        """The smallest error that is measured in: of rounding in float32, or in float64 where nothing is narrower."""
        return FLOOR_64 if self.wide else FLOOR

    @property
    def exact(self) -> bool:
        """Integers and booleans have no rounding: they are equal or wrong."""
        return self.eager.dtype.kind != "f"

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """What was worked out from it once, for every engine that is judged by it."""
        return {}


@dataclass(frozen=True)
class GoldenCase:
    """One case: its name, the size of each named dim, and what each output should be.

    `recorded` is its name in the goldens, which serve more than one case: see :func:`to_run`. An engine computes it in
    so many `threads`.
    """

    name: str
    dims: Mapping[str, int]
    outputs: Mapping[str, GoldenOutput]
    recorded: str
    threads: int = 1

    def again(self) -> GoldenCase:
        """The same case, to be run once more: what an artifact keeps from call to call shows then."""
        return replace(self, name=f"{self.name}{AGAIN}")

    def in_threads(self, threads: int) -> GoldenCase:
        """The same case, to be run in so many threads: work that is shared out wrongly shows then."""
        return replace(self, name=f"{self.name}{IN_THREADS}{threads}", threads=threads)


def to_run(recorded: Sequence[GoldenCase]) -> tuple[GoldenCase, ...]:
    """What every engine runs: each recorded case, the first once more, and the largest in another number of threads.

    The largest, since engines share out only what is worth it.
    """
    largest = max(recorded, key=lambda case: math.prod(case.dims.values()))
    return (*recorded, recorded[0].again(), largest.in_threads(THREADS))


def one_thread(case: str) -> bool:
    """Whether a case of this name runs in one thread, as the golden was recorded, so that bits can be equal."""
    return IN_THREADS not in case


def read_goldens(path: Path, cases: list[dict[str, Any]]) -> tuple[GoldenCase, ...]:
    """Read the goldens of a bundle; `cases` is what the manifest says about them.

    Raises:
        BundleError: the file lacks a tensor that the manifest promises.
    """
    from safetensors import SafetensorError, safe_open

    if not cases:
        raise BundleError("the bundle records no case", where=str(path), hint="release it again")
    try:
        with safe_open(str(path), framework="numpy") as reader:
            names = list(reader.keys())
            tensors = {name: reader.get_tensor(name) for name in names if "/input/" not in name}
            for name in names:  # of the inputs nothing but their dtypes
                if "/input/" in name:
                    tensors[name] = np.empty(0, _DTYPES.get(reader.get_slice(name).get_dtype(), "float32"))
        return tuple(read_case(tensors, one) for one in cases)
    except (SafetensorError, KeyError, ValueError) as error:
        raise BundleError(f"the goldens are not whole ({error})", where=str(path), hint="release it again") from error


def input_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shape of every recorded input, by its key, read from the header alone.

    Raises:
        BundleError: it is no whole safetensors file.
    """
    from safetensors import SafetensorError, safe_open

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
    found = [one for one in described if one["name"] == name.removesuffix(AGAIN).partition(IN_THREADS)[0]]
    if not found:
        known = ", ".join(one["name"] for one in described)
        raise UsageError(f"no case '{name}' was recorded", where="--case", hint=f"the cases are: {known}")
    return found[0]


def read_case(tensors: TensorMap, described: Mapping[str, Any]) -> GoldenCase:
    """Put one case together from the tensors of the goldens and what the manifest says of it.

    What the tensors show is computed from them, whatever is said: whether an output is exact, its scale, that eager is
    no further from the truth than e_ref, and whether it can prove anything.

    Raises:
        KeyError: a tensor is not there.
        ValueError: the tensors do not fit each other, or not what is said of them.
    """
    case = described["name"]
    inputs = [value.dtype.name for key, value in tensors.items() if key.startswith(f"{case}/input/")]
    narrow = any(name in ("float16", "float32") for name in inputs)
    outputs = {}
    for name, about in described["outputs"].items():
        eager = tensors[f"{case}/eager/{name}"]
        exact = eager.dtype.kind != "f"
        truth = eager if exact else tensors[f"{case}/truth/{name}"]
        index = tensors.get(f"{case}/index/{name}")
        scale, e_ref, gate = _measured(eager, truth, about, sampled=index is not None)
        outputs[name] = GoldenOutput(
            name=name,
            dtype=about["dtype"],
            shape=tuple(about["shape"]),
            eager=eager,
            truth=truth,
            index=index,
            scale=scale,
            e_ref=e_ref,
            method=about["method"],
            gate=gate,
            seed=described["seed"],
            scores=(about["scores"]["output"], about["scores"]["axis"]) if about.get("scores") else None,
            allowance=min(about.get("allowance", 1.0), LARGEST),
            wide=eager.dtype.name == "float64" and not narrow,
        )
        _check(outputs[name], case)
    return GoldenCase(case, described["dims"], outputs, case)


def _measured(
    eager: Array, truth: Array, about: Mapping[str, Any], *, sampled: bool
) -> tuple[tuple[float, float], tuple[float, float], str]:
    """The scale of a truth, eager's error in it, and why nothing can be proven by it: computed, not believed.

    Of a sample only bounds are known: the whole is no smaller than its largest element, nor its largest error.
    """
    said = (about["scale_max"], about["scale_l2"])
    e_ref = (about["e_ref_max"], about["e_ref_l2"])
    if eager.dtype.kind != "f" or about["gate"] or eager.shape != truth.shape or not eager.size:
        return said, e_ref, about["gate"]
    if not (np.isfinite(eager).all() and np.isfinite(truth).all()):
        return said, e_ref, "eager or float64 is not finite"
    own, (off_max, off_l2) = norms(truth), norms(eager.astype("float64") - truth)
    scale = (max(said[0], own[0]), said[1]) if sampled else own
    if scale[0] < SMALLEST_SCALE:
        return scale, e_ref, f"the largest value ({scale[0]:.1e}) is zero or near the denormals"
    largest = max(e_ref[0], off_max / scale[0])
    e_ref = (largest, e_ref[1] if sampled else max(e_ref[1], off_l2 / scale[1]))
    if not 4 * max(*e_ref, FLOOR) <= WORST_E_REF:
        return scale, e_ref, f"rounding alone moves it by {max(e_ref):.1e} of its size"
    return scale, e_ref, ""


def _check(one: GoldenOutput, case: str) -> None:
    size = math.prod(one.shape)
    whole = (
        one.eager.shape == one.shape if one.index is None else one.eager.shape == one.index.shape == (len(one.index),)
    )
    inside = one.index is None or bool(((one.index >= 0) & (one.index < size)).all())
    if not whole or not inside or one.truth.shape != one.eager.shape or one.eager.dtype.name != one.dtype:
        raise ValueError(f"'{one.name}' of case '{case}' is not what the manifest says of it")
    if not one.gate and not one.exact and not all(number > 0 for number in one.scale) and one.eager.size:
        raise ValueError(f"'{one.name}' of case '{case}' has no size to measure errors by")
