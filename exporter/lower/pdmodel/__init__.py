"""Legacy programs (`.pdmodel` + `.pdiparams`): what Paddle Inference 2.x and 3.x, Serving, Lite and OpenVINO read.

Since 3.2 Paddle moves the bodies of its most common functions to C++, and their C++ entries know eager mode and PIR
only: "must be Value, but got Variable". This room puts the missing branch back, from the outside and only while
exporting. What is wrong with one API has a file of its own in `exporter.trace.fixes`.

    session      the context manager around all of it
    dispatch     what stands in for the C++ entries: lower, compose or refuse
    table/       one line an API: signature, legacy operator, slots, attributes, dtype rule
    audit        the table against the operators and signatures of the installed Paddle
    call, dtypes, attributes, lowering      from a call to an operator
    composed     functions that never had a legacy operator, made of others
    pipeline     the steps of every operator before it is appended:
        older        what older runtimes lack, made of what they have
        exact        numbers that would be rounded
        promotion    operands of two dtypes
    written      the program as Paddle wrote it: sizes, parts that a loop reads, the outputs' names
    files        the written files, made fit for old runtimes
    runtimes     which versions of Paddle can load a file, and why not the others
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from packaging.version import Version

from exporter.lower._paddle_save import save
from exporter.lower.base import Format, Wish
from exporter.lower.pdmodel.files import finish
from exporter.lower.pdmodel.runtimes import runtimes
from exporter.lower.pdmodel.session import legacy_export
from exporter.lower.pdmodel.written import mend
from exporter.trace.traced import Traced


class Pdmodel(Format):
    """The legacy program; stock Paddle 3.2 and 3.3 cannot write it for most networks, see docs/legacy.md."""

    model = "model.pdmodel"
    parameters = "model.pdiparams"

    def session(self, target: str | None) -> AbstractContextManager[None]:
        return legacy_export(Version(target) if target else None)

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Mapping[str, Any]:
        assert traced is not None  # noqa: S101  # `after` is None, so the caller traced
        save(traced, into, ".pdmodel")
        mend(into / self.model, traced.native_outputs)
        finish(into / self.model, into / "model.pdiparams", Version(wish.target) if wish.target else None)
        able = {version: why or "loads it" for version, why in runtimes(into / self.model).items()}
        return {"paddle_versions": able}


plugin: Format = Pdmodel()
