"""Name the operator to blame, where a file that was written from the program fails."""

from __future__ import annotations

from dataclasses import replace

from exporter.prove.root_cause.operators.judge import first_wrong, judge_operators
from exporter.prove.root_cause.search import Search
from exporter.prove.root_cause.witness import NOT_HERE
from exporter.prove.verdict.blame import Blame
from exporter.prove.verdict.plan import Run


def with_operator(search: Search, run: Run, blame: Blame) -> Blame:
    """The blame, with the operator whose nodes differ from Paddle at its own inputs; it needs no source.

    The fault is then one of the lowering, unless another engine computes the file right. Where no operator is off, or
    they cannot be judged, the reason says so.
    """
    case = next(golden.recorded for golden in search.bench.cases if golden.name == blame.claim.case)
    try:
        operators = judge_operators(search.bench, run.variant, case, search.setting)
    except NOT_HERE as error:
        return replace(blame, reason=f"{blame.reason}; its operators could not be judged: {error}")
    wrong = first_wrong(operators, search.bench.budget)
    if wrong is None:
        judged = sum(operator.judged for operator in operators)
        said = f"{judged} of {len(operators)} operators were judged at their own inputs, and none is off"
        return replace(blame, reason=f"{blame.reason}; {said}")
    if blame.located:
        return replace(
            blame, stage=blame.stage if blame.stage == "engine" else "lower", reason=f"{blame.reason}; {wrong}"
        )
    path = wrong.sublayer.replace("/", ".") or "."
    return replace(
        blame, stage="lower", reason=str(wrong), path=path, kind=wrong.name, error_ratio=wrong.ratio, inputs_ratio=0.0
    )
