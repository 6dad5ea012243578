"""Which versions of Paddle can load a finished `.pdmodel`, and why not the others.

`known.json` lists, for each older version, the operators of the newest Paddle that it lacks and the attributes that it
does not know; `evals/lower/pdmodel/legacy_known.py` writes it from the prototypes of installed Paddles. What the
lists cannot say, because the operator exists and behaves in another way, is in `_DIFFERS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.version import Version

from exporter.export.lower.pdmodel.written import blocks, operators, tensors
from exporter.paddle.refusal import CannotLower

_KNOWN: dict[str, Any] = json.loads(Path(__file__).with_name("known.json").read_text())
#: The versions that are asked about, the oldest first.
VERSIONS = (*_KNOWN["older"], _KNOWN["newest"])
#: assign_value's `values` is written in the old form by `finish`; the rest is ignored and harmless at these values.
_HARMLESS: Mapping[str, Mapping[str, Any]] = {
    "assign_value": {"values": ...},
    "round": {"decimals": 0},
    "argsort": {"stable": False},
    "cumprod": {"exclusive": False, "reverse": False},
    "max_pool2d_with_index": {"ceil_mode": False},
    "max_pool3d_with_index": {"ceil_mode": False},
    "kldiv_loss": {"log_target": False},
    "repeat_interleave": {"output_size": -1},
    "thresholded_relu": {"value": 0.0},
    "nanmedian": {"mode": "avg"},
}


def _reversed_from_the_end(op: Any, dtypes: set[str]) -> bool:
    starts = op.attr("starts")
    return any(start == 2147483647 and step < 0 for start, step in zip(starts, op.attr("strides"), strict=False))


def _of(*wrong: str) -> Callable[[Any, set[str]], bool]:
    return lambda op, dtypes: bool(dtypes & set(wrong))


def _always(op: Any, dtypes: set[str]) -> bool:
    return True


#: operator -> (first version that runs it rightly, when it matters given the dtypes it touches, what is wrong before)
_DIFFERS: Mapping[str, tuple[str, Callable[[Any, set[str]], bool], str]] = {
    "strided_slice": ("3.0", _reversed_from_the_end, "x[::-1] loses an element without a word"),
    "histogram": ("3.0", _always, "the attributes min and max are integers there"),
    "matrix_rank": ("3.1", _always, "the result is int32 there"),
    "assign_value": ("3.0", _of("float64"), "constants of float64 cannot be read there"),
    "isinf_v2": ("3.0", _of("uint8", "int8", "int16"), "no kernels for small integers there"),
    "roll": ("3.0", _of("bool"), "no kernel for bool there"),
}
_UNSURE = ("float16", "uint16", "complex64", "complex128")  # uint16 is how Paddle spells bfloat16 here
#: Before it, kernels for these dtypes are missing on the CPU, or round in another way.
_SURE_SINCE = Version("3.2")


def runtimes(model: Path) -> dict[str, str]:
    """For each of VERSIONS: "" if it can load and run the file, else why not."""
    from exporter.paddle.private import convert_dtype, core

    program = core.ProgramDesc(model.read_bytes())
    dtype_of = {variable.name(): str(convert_dtype(variable.dtype())) for variable in tensors(program)}
    touching = [
        (op, {dtype_of[name] for name in (*op.input_arg_names(), *op.output_arg_names()) if name in dtype_of})
        for block in blocks(program)
        for op in operators(block)
    ]
    return {version: "; ".join(dict.fromkeys(_reasons(version, touching))) for version in VERSIONS}


def demand(model: Path, target: Version) -> None:
    """Refuse a file that the target cannot load, or would compute in another way.

    Raises:
        CannotLower: with the reasons. A target of two parts, such as 2.6, means its last release.
    """
    for version, why in runtimes(model).items():
        if why and Version(version) >= target:
            raise CannotLower(
                f"Paddle {version} cannot run this program: {why}",
                where=model.name,
                hint=f"write that part of forward with other operators, or ask for targets newer than {version}",
            )


def _reasons(version: str, touching: list[tuple[Any, set[str]]]) -> Iterator[str]:
    lacks = _KNOWN["older"].get(version, {"operators": [], "attributes": {}})
    absent = set(lacks["operators"])
    for op, dtypes in touching:
        kind = op.type()
        if kind in absent:
            yield f"operator {kind} is newer"
        for name in lacks["attributes"].get(kind, ()):
            if _matters(op, name):
                yield f"{name} of {kind} is ignored"
        since, when, what = _DIFFERS.get(kind, ("0", _always, ""))
        if Version(version) < Version(since) and when(op, dtypes):
            yield f"{kind}: {what}"
    odd = sorted(set().union(*(dtypes for _, dtypes in touching)) & set(_UNSURE))
    if odd and Version(version) < _SURE_SINCE:
        yield f"kernels for {', '.join(odd)} are missing there or round otherwise"


def _matters(op: Any, name: str) -> bool:
    """Whether an attribute or input that the runtime does not know says something."""
    if op.has_attr(name):
        harmless = _HARMLESS.get(op.type(), {})
        return name not in harmless or (harmless[name] is not ... and op.attr(name) != harmless[name])
    return name in op.input_names() and bool(op.input(name))
