"""Specs in one line: `ids=int64[batch,seq]: integers(0,50); mask=…` with dims as `batch=1..3..5 seq=2..5..9`."""

from __future__ import annotations

from typing import Any


def about(input_: str, dims: str = "batch=1..3..5", **more: Any) -> dict[str, Any]:
    """Inputs from `name=dtype[shape]: values`, separated by semicolons; dims as min..typical..max."""
    inputs = {}
    for text in input_.split("; "):
        name, _, rest = text.partition("=")
        kind, _, values = rest.partition(": ")
        dtype, _, shape = kind.rstrip("]").partition("[")
        sizes = [int(size) if size.isdigit() else size for size in shape.split(",") if size]
        inputs[name] = {"dtype": dtype, "shape": sizes, **({"values": values} if values else {})}
    named = {}
    for text in dims.split():
        name, _, span = text.partition("=")
        named[name] = dict(zip(("min", "typical", "max"), map(int, span.split("..")), strict=True))
    return {"inputs": inputs, "dims": named, **more}


def small(model: str, **keys: Any) -> dict[str, Any]:
    """The spec of a layer from four numbers to some, as `.json` in one engine."""
    plain = {"name": "small", "version": "1", "model": model, "formats": ["pir"], "engines": ["jit_load"]}
    return {**plain, **about("x=float32[batch,4]", "batch=1..2..4"), "device": "cpu", **keys}
