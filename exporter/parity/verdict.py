"""Claims, evidence and the verdict. What must not be said cannot be constructed.

Passed means that the planned claims and the gathered evidence coincide, and that each claim holds. An empty plan,
evidence for a claim that nobody planned, and a match over zero elements raise; a verdict has no truth value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from exporter.engines.base import Settings


class Outcome(str, Enum):
    """What became of one claim. Only the first and the last let a verdict pass."""

    MATCH = "match"
    MISMATCH = "mismatch"
    VACUOUS = "vacuous"
    INCONCLUSIVE = "inconclusive"
    MISSING = "missing"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    WAIVED = "waived"


@dataclass(frozen=True, order=True)
class Claim:
    """One output of one case, computed by one engine from one variant, equals the eager layer's."""

    format: str
    precision: str
    engine: str
    case: str
    output: str

    @property
    def variant(self) -> str:
        """The variant's name: `onnx`, or `onnx-fp16`."""
        return self.format if self.precision == "fp32" else f"{self.format}-{self.precision}"

    def __str__(self) -> str:
        return f"{self.variant}/{self.engine}/{self.case}/{self.output}"


@dataclass(frozen=True)
class Evidence:
    """What was seen of a claim. `stage` is where it ended (load, run, compare); `metrics` are exact, never rounded.

    `under` holds the engine's settings, asked for and in effect, where it came so far.
    """

    outcome: Outcome
    reason: str = ""
    stage: str = "compare"
    elements: int = 0
    bit_equal: bool = False
    metrics: Mapping[str, float] = field(default_factory=dict)
    provider: str = ""
    device: str = ""
    under: Settings | None = None

    def __post_init__(self) -> None:
        if self.outcome is Outcome.MATCH and self.elements < 1:
            raise ValueError("a match over zero elements is no evidence")
        if self.outcome is not Outcome.MATCH and not self.reason:
            raise ValueError(f"{self.outcome.value} needs a reason")


@dataclass(frozen=True)
class Verdict:
    """The plan and its evidence.

    Raises:
        ValueError: the plan is empty, or evidence stands for a claim that was not planned.
    """

    plan: frozenset[Claim]
    evidence: Mapping[Claim, Evidence]

    def __post_init__(self) -> None:
        if not self.plan:
            raise ValueError("nothing was planned, so nothing can pass")
        if stray := set(self.evidence) - self.plan:
            raise ValueError(f"evidence without a claim: {min(stray)}")

    def __bool__(self) -> bool:
        raise TypeError("a verdict has no truth value; ask for .passed")

    def of(self, claim: Claim) -> Evidence:
        """The evidence for a planned claim; MISSING where none came."""
        return self.evidence.get(claim) or Evidence(Outcome.MISSING, "no evidence came", stage="plan")

    @property
    def counts(self) -> dict[str, int]:
        """How many claims ended in each outcome; every outcome is listed."""
        found = Counter(self.of(claim).outcome for claim in self.plan)
        return {outcome.value: found[outcome] for outcome in Outcome}

    @property
    def passed(self) -> bool:
        """True if and only if every planned claim has evidence, each a match or waived, and one at least a match."""
        outcomes = [self.of(claim).outcome for claim in self.plan]
        holds = all(one in (Outcome.MATCH, Outcome.WAIVED) for one in outcomes)
        return holds and Outcome.MATCH in outcomes

    @property
    def word(self) -> str:
        """`passed`, `failed`, or `inconclusive` where nothing failed and something could not be judged."""
        if self.passed:
            return "passed"
        outcomes = {self.of(claim).outcome for claim in self.plan}
        open_ends = outcomes <= {Outcome.MATCH, Outcome.WAIVED, Outcome.INCONCLUSIVE}
        return "inconclusive" if open_ends and Outcome.INCONCLUSIVE in outcomes else "failed"
