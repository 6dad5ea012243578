"""What the children of a drill are asked, what they answer, and what they leave for each fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from exporter.base.tensors import TensorSpec
from exporter.bundle.drill.fault import Fault
from exporter.bundle.manifest import CaseFacts
from exporter.export.lower.base import Artifact
from exporter.spec.model import Spec

#: A child leaves a file of this name when it has run the sound artifact: from then on a fault is to blame.
SOUND = "sound"


@dataclass(frozen=True)
class OlderCheckpoint:
    """Another checkpoint beside the recorded one: its file, and its names of the tensors by the stored names."""

    path: Path
    tensors: Mapping[str, str]


@dataclass(frozen=True)
class Subject:
    """The variant that is drilled: an artifact of the bundle in `folder`, and the cases in the file `golden`.

    `layer` is the layer's own name of each stored tensor, as far as it is known; `batch` the typical size of the first
    dimension, 0 where it does not vary. `witness` is the folder in which the source's sublayers were recorded, if any.
    """

    variant: str
    artifact: Artifact
    folder: Path
    golden: Path
    cases: tuple[CaseFacts, ...]
    budget: float
    layer: Mapping[str, str]
    older: OlderCheckpoint | None
    batch: int
    witness: Path | None


@dataclass(frozen=True)
class ChooseRequest:
    """So many faults are to be chosen, in an order that follows from `seed`.

    They are shown to the proofs that only read: to that by declaration, which compares with `spec` and `outputs`, and
    with `ask_parameters` to that by parameters.
    """

    subject: Subject
    faults: int
    seed: int
    spec: Spec
    outputs: tuple[TensorSpec, ...]
    ask_parameters: bool


@dataclass(frozen=True)
class Chosen:
    """A fault, and the reason of each proof that sees it without any run."""

    fault: Fault
    proofs: Mapping[str, str]


@dataclass(frozen=True)
class ChooseAnswer:
    """The faults that were chosen."""

    chosen: tuple[Chosen, ...]


@dataclass(frozen=True)
class ExamineRequest:
    """An engine is to run faults, by their numbers; what is seen of each is written below `into`."""

    subject: Subject
    engine: str
    device: str
    faults: Mapping[int, Fault]
    into: Path


@dataclass(frozen=True)
class ExamineAnswer:
    """How many claims hold without any fault, why others do not, and why nothing can be looked into (empty: it can)."""

    holds: int
    doubts: tuple[str, ...]
    alarm: str


@dataclass(frozen=True)
class MeasureRequest:
    """The true effect of faults is to be measured, by their numbers, and written below `into`."""

    subject: Subject
    faults: Mapping[int, Fault]
    into: Path


@dataclass(frozen=True)
class MeasureAnswer:
    """Why nothing can be measured in float64; empty where it can."""

    why_not: str


@dataclass(frozen=True)
class PlantRequest:
    """The files of an artifact with one fault are to be written below `into`."""

    subject: Subject
    fault: Fault
    into: Path


@dataclass(frozen=True)
class Finding:
    """What a child writes of one fault, to `<number>.json`: what an engine showed of it, or its true effect.

    The fields are those of :class:`exporter.bundle.drill.result.Planted`.
    """

    proofs: Mapping[str, str] = field(default_factory=dict)
    error_ratio: float = 0.0
    effect: float | None = None
    why_not: str = ""
