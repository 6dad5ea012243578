"""Of a failure: the cause in a sentence, how large it is as its reader would say it, and what to try next."""

from __future__ import annotations

import math
from dataclasses import dataclass

from exporter.base.words import count, plain
from exporter.prove.judge.facts import Facts
from exporter.prove.judge.report import GRAVITY, Report
from exporter.prove.verdict.blame import Blame
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome
from exporter.report.decision import DEFAULT, STRICT, holds
from exporter.report.summary import Run, runs

#: Kinds in the order in which they explain others: what is stored wrong is computed wrong.
_KINDS = ("weights", "interface", OUTPUTS, "process", "snr_db", "top1", "metric")
_STAGES = {
    "eager": "It is eager float32 itself",
    "trace": "The fault is in the trace",
    "lower": "The fault is in the file",
    "engine": "The fault is in the engine",
    "lower or engine": "The fault is in the file or in the engine",
}


@dataclass(frozen=True)
class Try:
    """Something to try next: a sentence, and the command or what to write in the spec, with `backticks` around code."""

    what: str
    command: str = ""


@dataclass(frozen=True)
class Cause:
    """Why one variant does not hold: the sentence, its size in the reader's units, what to try, and the blame."""

    variant: str
    sentence: str
    size: tuple[str, ...]
    tries: tuple[Try, ...]
    blame: Blame | None


def causes(report: Report) -> list[Cause]:
    """One for each variant that does not hold, the gravest first: a fault of a file shows in every engine."""
    found: dict[str, Cause] = {}
    gravest = sorted(_failed(report), key=lambda row: (GRAVITY.index(row[1].outcome), _order(row[0]), row[0]))
    for claim, evidence in gravest:
        if claim.variant not in found:
            found[claim.variant] = _cause(report, claim, evidence)
    return list(found.values())


def _failed(report: Report) -> list[tuple[Claim, Evidence]]:
    calm = (Outcome.MATCH, Outcome.WAIVED)
    return [(claim, evidence) for claim, evidence in report.rows() if evidence.outcome not in calm]


def _order(claim: Claim) -> int:
    return _KINDS.index(claim.kind) if claim.kind in _KINDS else len(_KINDS)


def _cause(report: Report, claim: Claim, evidence: Evidence) -> Cause:
    blames = [one for one in report.blames if one.claim.variant == claim.variant]
    same = [one for one in blames if one.claim.engine == claim.engine]
    blame = next((one for one in (*same, *blames) if one.located), None)
    return Cause(
        claim.variant,
        _sentence(claim, evidence, blame),
        tuple(_sizes(report, claim)),
        tuple(_tries(report, claim, evidence, blame)),
        blame,
    )


def _sentence(claim: Claim, evidence: Evidence, blame: Blame | None) -> str:
    """What went wrong, and where it came in if that is known."""
    if blame is not None and evidence.outcome is Outcome.MISMATCH:
        part = f"the code of {blame.path} itself" if blame.own else blame.path
        where = f" ({blame.kind}, {blame.line})" if blame.line else f" ({blame.kind})"
        came = _STAGES.get(blame.stage, blame.stage)
        return plain(f"{blame.claim.variant} goes wrong at {part}{where}. {came}: {blame.reason}.")
    by = f" by {claim.engine}" if claim.engine else ""
    words = {
        Outcome.MISMATCH: "does not hold",
        Outcome.CRASHED: "crashes",
        Outcome.TIMED_OUT: "does not end in time",
        Outcome.MISSING: "was not judged",
        Outcome.VACUOUS: "proves nothing",
        Outcome.INCONCLUSIVE: "cannot be judged",
    }
    about = claim.output if claim.kind == OUTPUTS else "/".join(part for part in (claim.kind, claim.output) if part)
    case = f" in case {claim.case}" if claim.case else ""
    said = f"{claim.variant}{by} {words[evidence.outcome]} ({about}{case}): {evidence.reason}"
    return plain(said).rstrip(".") + "."


# ---- how large
def _sizes(report: Report, claim: Claim) -> list[str]:
    """Of each failed engine on the variant how far outputs are off, and how many answers flip."""
    told: list[str] = []
    for run in runs(report):
        if run.variant == claim.variant and run.computed and run.gravest is Outcome.MISMATCH:
            told += [f"{run.by}: {line}" for line in (*_outputs(run), *_metric(run))]
    by_line: dict[str, list[str]] = {}
    for line in told:
        engine, _, said = line.partition(": ")
        by_line.setdefault(said, []).append(engine)
    return [plain(f"{said} ({', '.join(engines)})") for said, engines in by_line.items()]


def _outputs(run: Run) -> list[str]:
    """One sentence an output, over the promised cases: those that probe are meant to be far off."""
    told = []
    for output in dict.fromkeys(claim.output for claim, _ in run.rows if claim.kind == OUTPUTS):
        rows = [evidence.metrics for claim, evidence in run.rows if claim.output == output and _promised(claim)]
        off = max((one["relative"] for one in rows if "relative" in one), default=None, key=_rank)
        parts = [f"{output} is off by {share(off)} of its size"] if off is not None else []
        answers = [one for one in rows if "rows" in one]
        total, agree = (int(sum(one[key] for one in answers)) for key in ("rows", "agree"))
        if total:
            parts.append(f"{total - agree} of {count(total, 'answer')} flip")
        told += [", ".join(parts)] if parts else []
    return told


def _promised(claim: Claim) -> bool:
    return claim.kind == OUTPUTS and ":" not in claim.case


def _rank(value: float) -> float:
    return math.inf if math.isnan(value) else value


def share(value: float) -> str:
    """A relative error as one says it: `31 %`, `0.0012 %`, `12 times`."""
    if not math.isfinite(value):
        return "more than any number"
    return f"{value:.3g} times" if value >= 10 else f"{100 * value:.3g} %"


def _metric(run: Run) -> list[str]:
    """What the task loses, where that was measured and not kept."""
    return [
        f"the task metric falls from {evidence.metrics['eager']:.4f} to {evidence.metrics['value']:.4f}"
        for claim, evidence in run.rows
        if claim.kind == "metric" and evidence.outcome is not Outcome.MATCH and "eager" in evidence.metrics
    ]


# ---- what next
def _tries(report: Report, claim: Claim, evidence: Evidence, blame: Blame | None) -> list[Try]:
    """At most three, what fits the failure first."""
    found = [
        *_by_outcome(claim, evidence),
        *(_of_low_precision(report, claim) if claim.precision != "fp32" else ()),
        *_another_engine(report, claim),
        *_another_variant(report, claim),
        *(_by_stage(blame) if claim.kind != "weights" else ()),
    ]
    return found[:3]


def _by_outcome(claim: Claim, evidence: Evidence) -> list[Try]:
    only = f"exporter verify BUNDLE --engines {claim.engine}" if claim.engine else "exporter verify BUNDLE"
    if evidence.outcome is Outcome.MISSING and evidence.stage == "environment":
        return [Try("Make the engine available; the environment says what it lacks.", "`exporter doctor`")]
    if evidence.outcome is Outcome.CRASHED:
        return [Try("Run it alone, with what the engine says.", f"`{only} --debug`")]
    if evidence.outcome is Outcome.TIMED_OUT:
        return [Try("Give it more time, if it is only slow.", f"`{only} --timeout 3600`")]
    if evidence.outcome in (Outcome.INCONCLUSIVE, Outcome.VACUOUS):
        if claim.kind == "pipeline":
            said = "Name samples that every step changes, or leave out a step that changes nothing."
            return [Try(said, "`samples` and `deployment` under `pipeline` in the spec")]
        return [
            Try("Give inputs that tell more: real ones.", "`values: dataset` or a `.npy` file, in the spec's inputs")
        ]
    if claim.kind == "weights":
        said = "Export the checkpoint anew: the file stores other tensors than were trained."
        return [Try(said, "`exporter release SPEC`")]
    return []


def _of_low_precision(report: Report, claim: Claim) -> list[Try]:
    facts, name = report.facts or Facts(), claim.precision
    if any(_overflows(report, one) for one in report.verdict.plan if one.variant == claim.variant):
        said = "Write weights of which no two products overflow: right on every x86, for at most one bit."
        return [Try(said, f"`exporter release SPEC --set precisions.{name}.cpu=any`")]
    if name not in facts.searched:
        said = "Search for the layers to keep in float32, the noisiest first, until the budget holds."
        return [Try(said, f"`exporter release SPEC --set precisions.{name}.search=true`")]
    if name == "int8":
        said = "Fine-tune with the roundings in place: a search has been tried."
        return [Try(said, f"`exporter release SPEC --set precisions.{name}.ranges=trained`")]
    return [
        Try("Promise less, if the task bears it: a search has been tried.", f"`precisions.{name}.budget` in the spec")
    ]


def _overflows(report: Report, claim: Claim) -> bool:
    return claim.kind == "overflow" and report.verdict.of(claim).outcome is Outcome.MISMATCH


def _by_stage(blame: Blame | None) -> list[Try]:
    if blame is None:
        return []
    if blame.stage == "trace":
        said = f"Look at {plain(blame.line) or 'forward'}: the traced program takes another way than eager."
        return [Try(said, "`exporter check SPEC`")]
    if blame.stage == "lower":
        said = "Write the file anew: if that is right, this one was changed since; if not, the writer has a fault."
        return [Try(said, "`exporter release SPEC`")]
    if blame.stage == "eager":
        return [Try("Compute that layer in float64, or with another formula: float32 is not enough there.")]
    return []


def _another_engine(report: Report, claim: Claim) -> list[Try]:
    """An engine that computes the same file right; of Paddle Inference as it comes, the strict predictor."""
    right = [run for run in runs(report) if run.variant == claim.variant and run.computed and holds(report, run)]
    if right:
        names = ", ".join(run.by for run in right)
        return [Try(f"Use another engine: {names} computes the same file right.", f"`engines: [{names}]` in the spec")]
    planned = {run.by for run in runs(report) if run.variant == claim.variant}
    if claim.engine == DEFAULT and STRICT not in planned:
        said = "Use the strict predictor: it leaves out the graph passes that the default one applies."
        return [Try(said, f"`exporter verify BUNDLE --engines {STRICT}`")]
    return []


def _another_variant(report: Report, claim: Claim) -> list[Try]:
    """Another format of the same precision, or fp32 of the same format, that holds on every engine."""
    by_variant: dict[str, list[Run]] = {}
    for run in runs(report):
        if run.computed and run.variant not in ("source", claim.variant):
            by_variant.setdefault(run.variant, []).append(run)
    sound = [name for name, own in by_variant.items() if all(holds(report, run) for run in own)]
    like = [name for name in sound if _precision(by_variant[name]) == claim.precision] or sound
    if not like:
        return []
    formats = sorted({by_variant[name][0].rows[0][0].format for name in like})
    said = f"Ship another variant: {', '.join(like)} {'holds' if len(like) == 1 else 'hold'} on every engine."
    if _precision(by_variant[like[0]]) != claim.precision:
        return [Try(said, f"leave `{claim.precision}` out of `precisions` in the spec")]
    return [Try(said, f"`exporter release SPEC --set 'formats=[{','.join(formats)}]'`")]


def _precision(of_variant: list[Run]) -> str:
    """The precision of the runs of one variant."""
    return of_variant[0].rows[0][0].precision
