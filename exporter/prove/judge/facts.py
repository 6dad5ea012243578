"""What a report tells of a bundle besides its verdict: its interface, what it weighs, where it comes from, how fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from exporter.base.git import State
from exporter.base.tensors import TensorSpec


@dataclass(frozen=True)
class Trained:
    """The task metric of the checkpoint on the held-out samples, with its 95 % interval where the training left one."""

    recipe: str
    metric: str
    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Tried:
    """A candidate of a search for the layers to keep in float32: how many compute in it, its bytes, its noise in dB."""

    kept: int
    bytes: int
    snr_db: float


@dataclass(frozen=True)
class Latency:
    """One engine on one variant at one size; `seconds` is the median of one call, `p95` what 95 of 100 stay below."""

    variant: str
    engine: str
    size: str
    seconds: float
    p95: float
    rows_per_second: float | None


@dataclass(frozen=True)
class Timed:
    """What was measured on one machine: by engines that took turns, in so many threads."""

    cpu: str
    threads: int
    latencies: tuple[Latency, ...]
    failed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """What the manifest of a bundle holds; and what of the run is known besides, or None.

    `sizes` are the bytes of each variant's files, `engines` those that the spec asks for. `searched` are the precisions
    that keep layers by a search, `fronts` what it tried. `open_ends` are sentences on what the release could not show
    of the model, `signed` is one on its signature. `code` is the commit that the model's code was at. `promised` says
    what callers send of an input, by its name.
    """

    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()
    dims: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    engines: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    cpu: str = ""
    abilities: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    fronts: Mapping[str, tuple[Tried, ...]] = field(default_factory=dict)
    open_ends: tuple[str, ...] = ()
    trained: Trained | None = None
    code: State | None = None
    signed: str = ""
    timed: Timed | None = None
    promised: Mapping[str, str] = field(default_factory=dict)
