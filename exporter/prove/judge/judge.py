"""Judge a subject: plan all claims, gather the evidence proof by proof, waive what is waived today, and report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone

from exporter.base.errors import UsageError
from exporter.base.registry import Registry
from exporter.process.workers import Setting
from exporter.prove.compare.informative import Doubt, doubts, still_open, told, undecided
from exporter.prove.judge.report import Report, unlike_bits, weights_note
from exporter.prove.judge.settings import differences
from exporter.prove.proofs.base import Harness, Narrowing, Proof, Subject
from exporter.prove.root_cause.find import localise
from exporter.prove.root_cause.repro import Keep
from exporter.prove.root_cause.search import Search
from exporter.prove.verdict.claim import Claim, Evidence, Outcome, Verdict
from exporter.prove.verdict.plan import ENGINES, Run, only_legacy
from exporter.prove.verdict.waivers import expired, unaccepted, waived
from exporter.spec.waiver import Waiver

PROOFS: Registry[Proof] = Registry("exporter.prove.proofs", "proof")
#: Of a bundle whose files are all made of legacy programs.
_NO_TRACE = (
    "source/static was not planned: it traces to PIR, and no format of this spec is made of PIR; each file is compared "
    "with eager itself"
)


@dataclass(frozen=True)
class About:
    """What a report says of a subject besides its claims. `objections` are reasons against it that no claim holds.

    `unaccepted` are waivers that a bundle grants itself, and that nobody here has accepted: they count for nothing.
    `unlike` says why kernels may round otherwise here than where the goldens were recorded; empty where they must not.
    """

    name: str
    version: str
    digest: str = ""
    unlike: str = ""
    notes: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    objections: tuple[str, ...] = ()
    unaccepted: tuple[Waiver, ...] = ()


def harness_of(subject: Subject, runs: Sequence[Run], setting: Setting, narrowing: Narrowing | None = None) -> Harness:
    """What the proofs share.

    Raises:
        UsageError: a kind of proof that was left out is unknown.
    """
    narrowing = narrowing or Narrowing()
    for kind in narrowing.without:
        PROOFS[kind]  # an unknown one is refused, with the closest
    return Harness(subject, subject.bench(), tuple(runs), setting, narrowing)


def judge(harness: Harness, about: About) -> Report:
    """Plan first, then prove; what no proof gave evidence for is MISSING.

    Raises:
        UsageError: nothing is left of the plan.
    """
    proofs = _in_order(harness.narrowing.without)
    claims = {proof.kind: proof.plan(harness) for proof in proofs}
    plan = frozenset[Claim]().union(*claims.values())
    if not plan:
        raise UsageError("nothing is left to prove", where="--without", hint="leave out less")
    evidence = harness.evidence
    evidence.clear()
    evidence.update(_absent(plan, harness.subject))
    said = []
    if idle := _idle(harness):
        running = [claim for proof in proofs if not proof.reads for claim in claims[proof.kind]]
        evidence.update(undecided([claim for claim in running if claim not in evidence], idle))
        said.append(told(idle))
    for proof in proofs:
        evidence.update(proof.prove(sorted(claims[proof.kind] - set(evidence)), harness))
    if not idle:
        said += [note for proof in proofs for note in proof.notes(harness)]
    said += _kept({proof.kind for proof in proofs if proof.promise}, evidence)
    verdict = Verdict(plan, evidence, narrowed=str(harness.narrowing), objections=about.objections)
    return _report(harness, about, verdict, said)


def planned(harness: Harness) -> frozenset[Claim]:
    """The claims on what is recorded; nothing runs for them."""
    missing = set(harness.subject.missing)
    plans = (proof.plan(harness) for proof in _in_order(harness.narrowing.without))
    return frozenset(claim for plan in plans for claim in plan if claim.case not in missing)


def _idle(harness: Harness) -> tuple[Doubt, ...]:
    """Why it is idle to run any engine; of a bundle that has passed, and of one case alone, it is not asked."""
    subject = harness.subject
    if subject.passed or subject.only or len(subject.recorded) < 2:
        return ()
    return still_open(doubts(subject.recorded, subject.spec.budget), harness.runs, subject.spec.waivers)


def _kept(kinds: set[str], evidence: Mapping[Claim, Evidence]) -> list[str]:
    """How well each promise is kept."""
    own = sorted((claim, found) for claim, found in evidence.items() if claim.kind in kinds)
    return [f"{claim}: {found.reason}" for claim, found in own if found.outcome is Outcome.MATCH and found.reason]


def _in_order(without: Sequence[str]) -> list[Proof]:
    """All proofs but those left out; each behind those whose evidence it needs."""
    waiting = [proof for _, proof in PROOFS.all() if proof.kind not in without]
    ordered: list[Proof] = []
    while waiting:
        ahead = {proof.kind for proof in waiting}
        ready = [proof for proof in waiting if not ahead & set(proof.after)]
        ordered += ready
        waiting = [proof for proof in waiting if proof not in ready]
    return ordered


def _absent(plan: frozenset[Claim], subject: Subject) -> Iterator[tuple[Claim, Evidence]]:
    """The evidence for claims on variants that the spec asks for and the bundle lacks, and on cases likewise."""
    for claim in plan:
        if claim.format != "source" and claim.variant not in subject.artifacts:
            reason = f"the spec asks for {claim.variant} and the bundle holds none"
            yield claim, Evidence(Outcome.MISSING, reason, stage="plan")
        elif why := subject.unshown.get(claim.case):
            reason = f"it was left out, and nothing but the bundle's word says why ({why}); --accept-waivers takes it"
            yield claim, Evidence(Outcome.MISSING, reason, stage="plan")


def _report(harness: Harness, about: About, verdict: Verdict, said: Sequence[str]) -> Report:
    spec, today = harness.spec, _today()
    paddle_kernels = {name for name, engine in ENGINES.all() if engine.paddle_kernels}
    narrowed = [f"partial: {verdict.narrowed}; a verdict on that is none on the rest"] if verdict.narrowed else []
    untrained = [note] if (note := weights_note(spec, about.notes)) else []
    with_eager = any(run.engine == "eager" for run in harness.runs)
    untraced = [_NO_TRACE] if with_eager and only_legacy(spec) else []
    return Report(
        name=about.name,
        version=about.version,
        verdict=waived(verdict, spec.waivers, today),
        budget=spec.budget,
        notes=(
            *narrowed,
            *untrained,
            *untraced,
            *about.notes,
            *said,
            *expired(spec.waivers, today),
            *unaccepted(verdict, about.unaccepted, today),
            *unlike_bits(verdict, paddle_kernels, about.unlike),
            *differences(verdict, harness.subject.artifacts),
        ),
        waivers=tuple(waiver.model_dump(mode="json") for waiver in spec.waivers),
        digest=about.digest,
        methods=about.methods,
        noise=harness.noise,
    )


def _today() -> date:
    return datetime.now(timezone.utc).date()


def blame(harness: Harness, report: Report, keep: Keep | None) -> Report:
    """Say where what failed came in.

    Raises:
        UsageError, EnvironmentLacks: the folder for repros cannot be written.
    """
    subject = harness.subject
    order = {variant: at for at, variant in enumerate(("source", *subject.artifacts))}
    # Of lower precisions the noise of each layer tells.
    runs = [run for run in harness.runs if run.precision == "fp32" and run.variant in order]
    search = Search(harness.bench, report.verdict, harness.setting, harness.witnesses, subject.no_source, keep)
    own = localise(search, sorted(runs, key=lambda run: (order[run.variant], run.engine)))
    return replace(report, blames=(*report.blames, *own))
