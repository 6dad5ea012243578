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


#: The kind of a claim that one output of one case equals eager's.
OUTPUTS = "outputs"
#: The kinds that judge the numbers of low precision.
_BUDGETS = ("snr_db", "top1", "metric")
#: The words of a verdict under which a bundle may be used.
PASSING = ("passed", "passed_with_waivers", "partial")


@dataclass(frozen=True, order=True)
class Claim:
    """What is to be proven: of the kind `outputs`, that one output of one case equals the eager layer's.

    A kind is the name of a proof (`exporter/prove/proofs/`). `engine`, `case` and `output` are empty where a claim is
    not about one: what a file stores needs no engine, and a sum over all cases no case.
    """

    format: str
    precision: str
    engine: str = ""
    case: str = ""
    output: str = ""
    kind: str = OUTPUTS

    @property
    def variant(self) -> str:
        """The variant's name: `onnx`, or `onnx-fp16`."""
        return self.format if self.precision == "fp32" else f"{self.format}-{self.precision}"

    @property
    def shows_numbers(self) -> bool:
        """Whether its match shows that an artifact computes right numbers.

        In low precision a single output shows that it came, whole and finite; the budgets over all cases judge it.
        """
        return self.kind in (_BUDGETS if self.precision != "fp32" else (OUTPUTS,))

    def __str__(self) -> str:
        """Its name, as patterns of waivers match it: `onnx/onnxruntime/batch=8/logits`, `onnx/weights`."""
        of_case = self.case if self.kind == OUTPUTS else self.kind
        return "/".join(part for part in (self.variant, self.engine, of_case, self.output) if part)


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

    `narrowed` says what somebody left out of the plan on purpose; empty where nothing was. `objections` are reasons
    against the bundle that are no claims' outcomes, such as a release that failed.

    Raises:
        ValueError: the plan is empty, or evidence stands for a claim that was not planned.
    """

    plan: frozenset[Claim]
    evidence: Mapping[Claim, Evidence]
    narrowed: str = ""
    objections: tuple[str, ...] = ()

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
    def against(self) -> tuple[str, ...]:
        """What forbids to pass although every claim holds or is waived: objections, and variants without a number."""
        variants = sorted({claim.variant for claim in self.plan if claim.format != "source"})
        computed = {
            claim.variant for claim in self.plan if claim.shows_numbers and self.of(claim).outcome is Outcome.MATCH
        }
        idle = [f"no output of {variant} was shown to be right" for variant in variants if variant not in computed]
        return (*self.objections, *idle, *(() if variants else ("no artifact was read",)))

    @property
    def passed(self) -> bool:
        """True if and only if every planned claim is a match or waived, and nothing speaks against it.

        Where somebody narrowed the plan, that is so of what was left of it.
        """
        outcomes = {self.of(claim).outcome for claim in self.plan}
        return outcomes <= {Outcome.MATCH, Outcome.WAIVED} and not self.against

    @property
    def word(self) -> str:
        """One of `PASSING`; `failed`; or `inconclusive` where nothing failed and something could not be judged."""
        outcomes = {self.of(claim).outcome for claim in self.plan}
        if self.passed:
            with_waivers = "passed_with_waivers" if Outcome.WAIVED in outcomes else "passed"
            return "partial" if self.narrowed else with_waivers
        open_ends = outcomes <= {Outcome.MATCH, Outcome.WAIVED, Outcome.INCONCLUSIVE}
        return "inconclusive" if open_ends and Outcome.INCONCLUSIVE in outcomes else "failed"
