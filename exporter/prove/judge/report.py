"""What every report is made of: one frozen value, rendered in many forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from exporter.base.errors import ExitCode
from exporter.base.numbers.golden import one_thread
from exporter.prove.judge.facts import Facts
from exporter.prove.proofs.quantisation.noise import LayerNoise
from exporter.prove.verdict.blame import Blame
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome, Verdict
from exporter.spec.model import Spec
from exporter.spec.source import FACTORY

#: From the worst to the best: the order in which a report speaks.
GRAVITY = (
    Outcome.MISMATCH,
    Outcome.CRASHED,
    Outcome.TIMED_OUT,
    Outcome.MISSING,
    Outcome.VACUOUS,
    Outcome.INCONCLUSIVE,
    Outcome.WAIVED,
    Outcome.MATCH,
)


#: What every report of a bundle with such weights says, and its manifest.
UNTRAINED = "its weights are the factory's own, and not trained: the spec asks for `weights: factory`"
#: The same of a model that is a file; its name and sha256 follow.
REFERENCE = "no eager layer was at hand: the reference is a file, which may itself differ from what was trained. It is "


def weights_note(spec: Spec, recorded: Sequence[str] = ()) -> str:
    """Return what a report has to say of where the weights come from, unless it is recorded; empty: a training."""
    if spec.model == FACTORY:
        if any(note.startswith(REFERENCE) for note in recorded):
            return ""
        return f"{REFERENCE}{spec.args.get('program', 'unknown')}"
    return UNTRAINED if spec.weights == "factory" and UNTRAINED not in recorded else ""


@dataclass(frozen=True)
class Report:
    """A verdict with what a reader needs to place it. `notes` are sentences that belong on every form.

    `blames` say where failures came in, one for each run that failed or came near. `facts` tell what the bundle is;
    `noise` of each layer what low precision adds to it, by variant.
    """

    name: str
    version: str
    verdict: Verdict
    budget: float
    notes: Sequence[str] = ()
    waivers: Sequence[dict[str, str]] = ()
    digest: str = ""
    methods: Sequence[str] = field(default=())
    blames: Sequence[Blame] = ()
    facts: Facts | None = None
    noise: Mapping[str, Mapping[str, LayerNoise]] = field(default_factory=dict)

    @property
    def of_a_file(self) -> bool:
        """Return whether the reference is a program that was given as a file, in the place of an eager layer."""
        return any(note.startswith(REFERENCE) for note in self.notes)

    def rows(self) -> list[tuple[Claim, Evidence]]:
        """Every claim with its evidence, the worst outcomes first, then in the order of the claims."""
        pairs = [(claim, self.verdict.of(claim)) for claim in sorted(self.verdict.plan)]
        return sorted(pairs, key=lambda pair: GRAVITY.index(pair[1].outcome))

    @property
    def exit_code(self) -> ExitCode:
        """3 where an engine that was planned is not here; else 1 where the gate says no; else 0."""
        evidence = [self.verdict.of(claim) for claim in self.verdict.plan]
        if any(found.outcome is Outcome.MISSING and found.stage == "environment" for found in evidence):
            return ExitCode.ENVIRONMENT
        return ExitCode.PASSED if self.verdict.passed else ExitCode.REFUSED

    def first_reason(self) -> str:
        """Why it did not pass, in one line; empty where it did."""
        if self.verdict.passed:
            return ""
        claim, evidence = self.rows()[0]
        if evidence.outcome in (Outcome.MATCH, Outcome.WAIVED):
            return self.verdict.against[0]
        return f"{claim}: {evidence.outcome.value} ({evidence.reason})"


def unlike_bits(verdict: Verdict, paddle_kernels: Collection[str], unlike: str = "") -> list[str]:
    """A note for each run of an engine with Paddle's own kernels whose results were compared and differ in bits.

    On the device, kind of CPU and version of Paddle that recorded the goldens they must not: then the program is not
    the one that was traced. `unlike` says what is another one here; bits are demanded only where it is empty.
    """
    why = f"as they may, since {unlike}" if unlike else "yet it runs Paddle's own kernels"
    differ: Counter[str] = Counter()
    for claim in verdict.plan:
        found = verdict.of(claim)
        one_case = claim.kind == OUTPUTS and one_thread(claim.case)
        if claim.engine in paddle_kernels and one_case and found.metrics and not found.bit_equal:
            differ[f"{claim.variant}/{claim.engine}"] += 1
    return [
        f"{run}: {count} of its results differ from eager in bits, {why}; the error ratio judged them"
        for run, count in sorted(differ.items())
    ]
