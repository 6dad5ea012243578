"""What every readable form says, worked out once: the runs, the groups of claims that are no match, the waivers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from itertools import groupby
from typing import TypeAlias

from exporter.base.numbers.golden import one_thread
from exporter.base.words import count, plain
from exporter.prove.judge.report import GRAVITY, Report
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome

Row: TypeAlias = tuple[Claim, Evidence]

_UPWARDS = Context(prec=3, rounding=ROUND_CEILING)
#: A number that stands alone; the 32 of `float32` is part of a word.
_NUMBER = re.compile(r"(?<!\w)\d[\d.]*(?:e[+-]?\d+)?")


_METHODS = {
    "float64": "float64: the same layer, run in float64",
    "exact": "exact: whole numbers and booleans, equal or wrong",
}


@dataclass(frozen=True)
class Run:
    """One engine on one variant, with all its claims in their order; or a proof that is about no engine.

    `by` is the engine, or the kind of the proof.
    """

    variant: str
    by: str
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """`onnx/onnxruntime`, `onnx/weights`."""
        return plain(f"{self.variant}/{self.by}")

    @property
    def computed(self) -> bool:
        """An engine computed here; False for a proof of files, where bits and error ratios say nothing."""
        return bool(self.rows[0][0].engine)

    @property
    def place(self) -> str:
        """Where it ran: the provider, and the device unless the provider names it; empty where nothing ran."""
        if not self.computed:
            return self.rows[0][1].provider or "by reading"
        seen = sorted({_place(evidence) for _, evidence in self.rows} - {""})
        return plain("; ".join(seen))

    @property
    def worst(self) -> Row | None:
        """The claim with the largest error ratio; None where no float values were compared."""
        return worst(self.rows)

    @property
    def gravest(self) -> Outcome:
        """The worst outcome of its claims."""
        return min((evidence.outcome for _, evidence in self.rows), key=GRAVITY.index)

    @property
    def matches(self) -> int:
        """How many claims hold."""
        return sum(evidence.outcome is Outcome.MATCH for _, evidence in self.rows)

    @property
    def bits(self) -> str:
        """How many claims equal eager bit for bit, as `5/5`; of those in one thread, as eager was recorded."""
        equal = [evidence.bit_equal for claim, evidence in self.rows if bits_count(claim)]
        return f"{sum(equal)}/{len(equal)}" if self.computed else "-"


@dataclass(frozen=True)
class Group:
    """Claims that are no match for one reason.

    Where only numbers vary among the cases of a run, the reason is that of its worst claim; each run keeps its figure.
    """

    outcome: Outcome
    reason: str
    claims: tuple[Claim, ...]

    def by_run(self) -> dict[str, list[str]]:
        """What each claim is about, under `variant/engine`."""
        groups: dict[str, list[str]] = {}
        for claim in self.claims:
            groups.setdefault(plain(_run_of(claim)), []).append(plain(what(claim)))
        return groups


def runs(report: Report) -> list[Run]:
    """Every run of the plan: the source first, since all else is measured by it, then by variant and engine."""
    order = sorted(report.verdict.plan, key=lambda claim: (claim.format != "source", claim.variant, _by(claim), claim))
    return [
        Run(variant, by, tuple((claim, report.verdict.of(claim)) for claim in claims))
        for (variant, by), claims in groupby(order, key=lambda claim: (claim.variant, _by(claim)))
    ]


def what(claim: Claim) -> str:
    """What a claim is about within its run: `batch=8/logits`, `pooled_bias/logits`, `process`."""
    of_case = claim.case if claim.kind == OUTPUTS else claim.kind
    return "/".join(part for part in (of_case, claim.output) if part)


def _by(claim: Claim) -> str:
    return claim.engine or claim.kind


def _run_of(claim: Claim) -> str:
    return f"{claim.variant}/{_by(claim)}"


def groups(report: Report) -> list[Group]:
    """Every claim that is no match, the worst outcomes first, one group for each reason."""
    kinds: dict[tuple[Outcome, str, str], list[Row]] = {}
    for claim, evidence in report.rows():
        if evidence.outcome is not Outcome.MATCH:
            # A figure over all cases is no other case of another figure.
            over_all = f"{claim.kind}/{claim.output}" if claim.kind != OUTPUTS else ""
            run = f"{claim.variant}/{claim.engine}/{over_all}"
            kinds.setdefault((evidence.outcome, run, _NUMBER.sub("#", evidence.reason)), []).append((claim, evidence))
    rows_alike: dict[tuple[Outcome, str], list[Claim]] = {}
    for (outcome, _, _), rows in kinds.items():
        reason = plain((worst(rows) or rows[0])[1].reason)
        rows_alike.setdefault((outcome, reason), []).extend(claim for claim, _ in rows)
    return [Group(outcome, reason, tuple(claims)) for (outcome, reason), claims in rows_alike.items()]


def waivers(report: Report) -> list[str]:
    """One sentence for each waiver: what it exempts, until when, why, and how many claims needed it."""
    sentences = []
    for one in report.waivers:
        mark = f"waived until {one['until']}: {one['reason']}"
        used = sum(
            evidence.outcome is Outcome.WAIVED and evidence.reason.endswith(mark) for _, evidence in report.rows()
        )
        effect = f"waives {count(used, 'claim')}" if used else "waives nothing"
        sentences.append(plain(f"{one['claim']} until {one['until']}, {effect}: {one['reason']}"))
    return sentences


def truths(report: Report) -> list[str]:
    """One line for each method by which the truth was found."""
    said = [_METHODS.get(method, plain(method)) for method in report.methods]
    return [line.replace("the same layer", "the same program") for line in said] if report.of_a_file else said


def notes(report: Report) -> list[str]:
    """The notes, each on one line."""
    return [plain(note) for note in report.notes]


def blames(report: Report) -> list[str]:
    """Where each failure came in, one line a run, with the folder that shows it again."""
    return [plain(f"{one}; see {one.repro}" if one.repro else str(one)) for one in report.blames]


def title(report: Report) -> str:
    """The verdict's word, as one reads it: `PASSED WITH WAIVERS`."""
    return report.verdict.word.upper().replace("_", " ")


def headline(report: Report) -> str:
    """The verdict as one clause that counts."""
    counts, planned = report.verdict.counts, len(report.verdict.plan)
    waived = counts["waived"]
    unproven = planned - counts["match"] - waived
    if not unproven and not counts["match"]:
        return f"nothing was proven: every claim of {planned} is waived"
    if unproven:
        kind = "could not be judged" if report.verdict.word == "inconclusive" else "failed or could not be judged"
        head = f"{unproven} of {count(planned, 'claim')} {kind}"
    else:
        head = f"{counts['match']} of {count(planned, 'claim')} hold"
        head += f", but {report.verdict.against[0]}" if report.verdict.against else ""
    return f"{head}, {waived} waived" if waived else head


def extent(report: Report) -> str:
    """How much was planned: `7 runs, 5 cases x 1 output, 9 further proofs`."""
    all_runs = runs(report)
    plan = [claim for run in all_runs if run.computed for claim, _ in run.rows if claim.kind == OUTPUTS]
    cases, outputs = len({claim.case for claim in plan}), len({claim.output for claim in plan})
    computing = sum(run.computed for run in all_runs)
    proofs = f", {count(len(all_runs) - computing, 'further proof')}" if computing < len(all_runs) else ""
    return f"{count(computing, 'run')}, {count(cases, 'case')} x {count(outputs, 'output')}{proofs}"


def worst(rows: tuple[Row, ...] | list[Row]) -> Row | None:
    """The row with the largest error ratio, the first of equals; what is not a number is larger than any."""
    rated = [row for row in rows if error_ratio(row[1]) is not None]
    return max(rated, key=lambda row: _rank(row[1])) if rated else None


def bits_count(claim: Claim) -> bool:
    """Whether its result could equal eager's bit for bit: that of one case, in one thread, as eager was recorded."""
    return claim.kind == OUTPUTS and one_thread(claim.case)


def error_ratio(evidence: Evidence) -> float | None:
    """Its error ratio; None where no float values were compared."""
    return evidence.metrics.get("error_ratio")


def number(value: float | None) -> str:
    """Three digits, rounded up: nothing over the budget may look as if it were within."""
    if value is None:
        return "-"
    rounded = float(_UPWARDS.create_decimal(value))
    return f"{rounded:,.0f}" if 1000 <= rounded < 1e6 else f"{rounded:.3g}"


def _rank(evidence: Evidence) -> float:
    value = evidence.metrics["error_ratio"]
    return math.inf if math.isnan(value) else value


def _place(evidence: Evidence) -> str:
    provider = evidence.provider.removesuffix("ExecutionProvider")
    if not provider or evidence.device.lower() in provider.lower():
        return provider
    return f"{provider} on {evidence.device}"
