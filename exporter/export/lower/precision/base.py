"""The contract of a precision: what it refuses before any work, and how it writes a variant from the fp32 files."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from exporter.base.distribution import how_to_install
from exporter.base.errors import EnvironmentLacks, ExporterError, UsageError
from exporter.base.tensors import TensorMap
from exporter.export.lower.base import Details
from exporter.spec.model import Budget, PrecisionSettings


@dataclass(frozen=True)
class Order:
    """What one child is to write.

    `source` is the folder of the fp32 files, `model` the name of its main file, `into` an empty folder. `calls` are
    the inputs of each call to calibrate with, typical in size, where the precision asked for them; `rows` says how many
    samples they hold. `ranges` are the trained ones: by a layer's weight, the lowest and highest of what it takes.
    """

    format: str
    source: Path
    model: str
    into: Path
    settings: PrecisionSettings
    budget: Budget
    calls: Sequence[TensorMap] = ()
    rows: int = 0
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


class Precision(ABC):
    """How a variant of lower precision is made from the files of fp32.

    `formats` are those that it can make; `refused` says of the others why not. `calibrated` asks for samples. `knows`
    are the keys of the settings that mean something to it, besides `formats` and `budget`. `budget` is what a variant
    is judged by where the spec says nothing, so that none goes unjudged. `needs` are packages that must be importable.
    """

    formats: ClassVar[tuple[str, ...]]
    refused: ClassVar[Mapping[str, str]] = {}
    calibrated: ClassVar[bool] = False
    knows: ClassVar[frozenset[str]] = frozenset()
    budget: ClassVar[Budget]
    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def calibrates(self, settings: PrecisionSettings) -> bool:
        """Whether these settings ask for samples; where `calibrated` says so, all do."""
        del settings
        return self.calibrated

    def refuse(self, format: str, name: str, settings: PrecisionSettings) -> ExporterError | None:
        """Why this route does not work here, or None; looked up before any work starts."""
        where = f"precisions.{name}"
        if format not in self.formats:
            reason = self.refused.get(format, "no route to it is known")
            hint = f"give it `formats: [{', '.join(self.formats)}]`" if self.formats else "leave it out"
            return UsageError(f"{format} cannot be {name}: {reason}", where=where, hint=hint)
        plain = PrecisionSettings()
        for key in PrecisionSettings.model_fields:
            said = getattr(settings, key) != getattr(plain, key)
            if said and key not in (*self.knows, "formats", "budget"):
                known = ", ".join(sorted({*self.knows, "formats", "budget"}))
                return UsageError(f"'{key}' means nothing to {name}", where=where, hint=f"one of: {known}")
        lacking = [one for one in self.needs.get(format, ()) if importlib.util.find_spec(one) is None]
        if lacking:
            what = f"{name} of {format} needs {' and '.join(lacking)}"
            return EnvironmentLacks(what, where=where, hint=how_to_install("convert"))
        return None

    @abstractmethod
    def write(self, order: Order) -> Details:
        """Write the files into `order.into`; return details for the manifest, the same for the same input.

        Raises:
            ModelError: nothing in the program can be made so, or what came of it is no smaller.
        """
