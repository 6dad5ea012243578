"""Who is fastest: the runs of a benchmark in one order, each with its proof, its speed, and what it is faster than."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from exporter.base.bounded_json import read_json
from exporter.bundle.layout import REPORT
from exporter.bundle.open import Bundle
from exporter.bundle.subject import MOST_REPORTED, unfit

#: What a bundle's report says of a run: each of its claims holds; one does not; or it was not planned. In a bundle that
#: did not pass no run has: its claims `held`, and something else in the bundle did not.
PASSED, FAILED, UNPROVEN, HELD = "passed", "failed", "unproven", "held"
SOURCE = "the source"


class Timed(Protocol):
    """One run at one size, as far as it counts here."""

    @property
    def variant(self) -> str: ...
    @property
    def engine(self) -> str: ...
    @property
    def size(self) -> str: ...
    @property
    def median(self) -> float: ...
    @property
    def spread(self) -> float: ...


@dataclass(frozen=True)
class Load:
    """What ran in an engine, the least of seconds that loading took, and the most memory in bytes."""

    version: str
    provider: str
    load: float
    peak: int


@dataclass(frozen=True)
class Standing:
    """One run over all sizes, by geometric means.

    `slower` is its time over that of the fastest; `over_eager` eager's time over its own, None where eager was not
    timed. `load` is in seconds, `peak` in bytes; `spread` is the largest of its sizes.
    """

    variant: str
    engine: str
    proof: str
    slower: float
    over_eager: float | None
    load: float
    peak: int
    spread: float

    @property
    def name(self) -> str:
        """`onnx/onnxruntime`."""
        return f"{self.variant}/{self.engine}"


def standings(bundle: Bundle, measured: Sequence[Timed], loads: Mapping[str, Load]) -> tuple[Standing, ...]:
    """Every run, the fastest first."""
    runs: dict[tuple[str, str], list[Timed]] = {}
    for one in measured:
        runs.setdefault((one.variant, one.engine), []).append(one)
    means = {run: math.exp(sum(math.log(one.median) for one in sizes) / len(sizes)) for run, sizes in runs.items()}
    eager = means.get(("source", "eager"))
    checks, passed = _checks(bundle), HELD if unfit(bundle) else PASSED
    found = []
    for run in sorted(means, key=lambda run: means[run]):
        about = loads["/".join(run)]
        found.append(
            Standing(
                *run,
                proof=passed if (proof := _proof(checks, *run)) == PASSED else proof,
                slower=means[run] / min(means.values()),
                over_eager=eager / means[run] if eager else None,
                load=about.load,
                peak=about.peak,
                spread=max(one.spread for one in runs[run]),
            )
        )
    return tuple(found)


def winner(found: Sequence[Standing]) -> tuple[Standing, Standing | None] | None:
    """The fastest of those that passed, and the next of them; None where none has."""
    passed = [one for one in found if one.proof == PASSED]
    return (passed[0], passed[1] if len(passed) > 1 else None) if passed else None


def tells(one: Standing, other: Standing) -> bool:
    """Whether the two differ by more than the rounds of either."""
    times = other.slower / one.slower
    return max(times, 1 / times) > max(one.spread, other.spread)


def told_of_winner(found: Sequence[Standing]) -> dict[str, object] | None:
    """The object under `winner` in `bench --json`."""
    if (best := winner(found)) is None:
        return None
    first, second = best
    return {
        "variant": first.variant,
        "engine": first.engine,
        "over_eager": first.over_eager,
        "next": second.name if second else None,
        "over_next": second.slower / first.slower if second else None,
    }


def _checks(bundle: Bundle) -> list[Mapping[str, object]]:
    """What the bundle's report says of each claim; nothing where nobody has verified it. It may be a stranger's."""
    if bundle.manifest.verdict == "unverified" or REPORT not in bundle.manifest.files:
        return []
    report = read_json(bundle.folder / REPORT, MOST_REPORTED)
    checks = report.get("checks") if isinstance(report, dict) else None
    return [check for check in checks if isinstance(check, dict)] if isinstance(checks, list) else []


def _proof(checks: Sequence[Mapping[str, object]], variant: str, engine: str) -> str:
    """A run passed where each claim on it, and each on its files, holds or is waived, and one at least was about it."""
    if variant == "source":
        return SOURCE
    own = [check for check in checks if _variant(check) == variant and check.get("engine") in (engine, "")]
    if not any(check.get("engine") == engine for check in own):
        return UNPROVEN
    return PASSED if all(check.get("outcome") in ("match", "waived") for check in own) else FAILED


def _variant(check: Mapping[str, object]) -> str:
    precision = check.get("precision", "fp32")
    return f"{check.get('format')}" if precision == "fp32" else f"{check.get('format')}-{precision}"
