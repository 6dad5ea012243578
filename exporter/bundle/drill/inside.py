"""Look inside a faulty artifact: what is small at the output may be large at its own sublayer.

As `verify` does where an output is further off than eager itself, and the source is at hand to say what each sublayer
should put out (`exporter/prove/root_cause`).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exporter.base.errors import BundleError
from exporter.base.files import write_json
from exporter.base.tensors import TensorMap, load
from exporter.engines.base import Engine, EngineRefused, Runnable
from exporter.engines.session import started
from exporter.export.lower.base import main_file
from exporter.process.job import from_json, to_json
from exporter.prove.root_cause.align import Observed, Place, Trace
from exporter.prove.root_cause.locate import locate_inside
from exporter.prove.root_cause.program import TAPS, tap_of
from exporter.prove.root_cause.witness import Witness

_OBSERVED = "observed.json"


def keep_witness(witness: Witness, folder: Path) -> None:
    """Write what `observe` did not leave in the folder itself, for children to read."""
    write_json(folder / _OBSERVED, to_json(Trace, witness.observed.trace))


def _kept_witness(folder: Path) -> Witness:
    trace = from_json(Trace, json.loads((folder / _OBSERVED).read_bytes()))
    fresh = folder / "fresh.safetensors"
    observed = Observed(trace, load(folder / "values.safetensors"))
    return Witness(observed, load(fresh) if fresh.is_file() else None, "")


class Inside:
    """One engine that runs one variant with every intermediate value put out, in the case that was observed."""

    def __init__(self, request: Mapping[str, Any], engine: Engine) -> None:
        self._engine, self._device, self._budget = engine, request["device"], float(request["budget"])
        self._format, self._names = request["artifact"]["format"], request["artifact"]["inputs"]
        self._files, self._folded = request["artifact"]["files"], bool(request["artifact"]["details"].get("folded"))
        self._witness = _kept_witness(Path(request["witness"])) if request["witness"] else None
        golden, case = load(Path(request["golden"])), request["cases"][0]["name"]
        self._inputs: TensorMap = {name: golden[f"{case}/input/{name}"] for name in self._names}

    def begin(self, place: Path) -> str:
        """Look into the sound artifact; answer why nothing can be looked into, or with nothing.

        That is so where it does not run, or where an alarm is raised: it would be a false one.
        """
        if self._witness is None or self._format not in TAPS.names():
            return ""
        try:
            found = self._found(place)
        except (EngineRefused, BundleError) as refusal:
            found, alarm = None, f"does not run with its intermediate values put out: {refusal}"
        else:
            alarm = f"a false alarm: {self._told(found)}" if found else ""
        if alarm:
            self._witness = None
        return alarm

    def look(self, place: Path) -> str:
        """Which sublayer is off, and how far; empty where none is, or where nothing can be seen."""
        if self._witness is None or self._format not in TAPS.names():
            return ""
        try:
            found = self._found(place)
        except (EngineRefused, BundleError):
            return ""
        return self._told(found) if found else ""

    def _told(self, found: Place) -> str:
        assert self._witness is not None  # noqa: S101  # both callers have looked
        path = self._witness.observed.calls[found.call].path or "."
        return f"{path} has an error ratio of {found.error_ratio:.3g}"

    def _found(self, place: Path) -> Place | None:
        assert self._witness is not None  # noqa: S101  # both callers have looked
        main = place / main_file(self._files)
        with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
            names = tap_of(self._format)(main.parent, Path(folder))
            artifact = Runnable(self._format, Path(folder), main.name, tuple(self._names), names)
            with started(self._engine, artifact, self._device) as session:
                values = session.run(self._inputs)
        return locate_inside(self._witness, values, self._budget, folded=self._folded)
