"""Look inside a faulty artifact: what is small at the output may be large at its own sublayer.

As `verify` does where an output is further off than eager itself, and the source is at hand to say what each sublayer
should put out (`exporter/prove/root_cause`).
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from exporter.base.errors import BundleError
from exporter.base.files import write_json
from exporter.base.tensors import TensorMap, load, save_scratch
from exporter.bundle.drill.requests import Subject
from exporter.engines.base import Engine, EngineRefused, Runnable
from exporter.engines.session import started
from exporter.process.job import from_json, to_json
from exporter.prove.root_cause.align import FreshProgram, Observed, Place, Trace
from exporter.prove.root_cause.locate import locate_inside
from exporter.prove.root_cause.program import TAPS, tap_of
from exporter.prove.root_cause.witness import Witness

_OBSERVED = "observed.json"
#: Of the program that was traced anew: what operators with constants make of values, and the values, if there are any.
_DERIVED, _FRESH = "derived.json", "fresh.safetensors"


def keep_witness(witness: Witness, folder: Path) -> None:
    """Write what `observe` did not leave in the folder itself, for children to read."""
    write_json(folder / _OBSERVED, to_json(Trace, witness.observed.trace))
    write_json(folder / _DERIVED, witness.program.derived)
    if witness.program.values is not None:
        save_scratch(folder / _FRESH, witness.program.values)


def _kept_witness(folder: Path) -> Witness:
    trace = from_json(Trace, json.loads((folder / _OBSERVED).read_bytes()))
    fresh, derived = folder / _FRESH, json.loads((folder / _DERIVED).read_bytes())
    program = FreshProgram(load(fresh) if fresh.is_file() else None, derived=derived)
    return Witness(Observed(trace, load(folder / "values.safetensors")), lambda: program)


class Inside:
    """One engine that runs one variant with every intermediate value put out, in the case that was observed."""

    def __init__(self, subject: Subject, device: str, engine: Engine) -> None:
        self._engine, self._device, self._budget = engine, device, subject.budget
        self._artifact, self._format = subject.artifact, subject.artifact.format
        self._witness = _kept_witness(subject.witness) if subject.witness else None
        golden, case = load(subject.golden), subject.cases[0].name
        self._inputs: TensorMap = {name: golden[f"{case}/input/{name}"] for name in self._artifact.inputs}

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
        main = place / self._artifact.main
        with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
            names = tap_of(self._format)(main.parent, Path(folder))
            artifact = Runnable(self._format, Path(folder), main.name, self._artifact.inputs, names)
            with started(self._engine, artifact, self._device) as session:
                values = session.run(self._inputs)
        folded = bool(self._artifact.details.get("folded"))
        return locate_inside(self._witness, values, self._budget, folded=folded)
