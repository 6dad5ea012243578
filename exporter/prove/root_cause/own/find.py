"""Measure the own errors of the file of a failed run, in a child."""

from __future__ import annotations

from exporter.process.workers import PADDLE, SINGLE_THREAD, call
from exporter.prove.root_cause.operators.judge import can_judge
from exporter.prove.root_cause.own.child import OwnRequest, measure
from exporter.prove.root_cause.search import Search
from exporter.prove.root_cause.witness import NOT_HERE
from exporter.prove.verdict.blame import OperatorError
from exporter.prove.verdict.plan import Run

#: Formats whose operators can be fed values one by one.
_FORMATS = ("onnx", "pdmodel", "pir")


def own_errors(search: Search, run: Run, case: str) -> tuple[OperatorError, ...]:
    """Return the own error of each operator of a run's file in one case; nothing where they cannot be had.

    What is right comes from the source; without it, of an ONNX file that our writer wrote, from the program beside it.
    """
    bench = search.bench
    if run.format not in _FORMATS or run.precision != "fp32":
        return ()
    if run.format == "onnx" and bench.artifacts[run.variant].details.get("writer_asked") != "program":
        return ()
    source = None if search.no_source else bench.source
    beside = can_judge(bench, run.variant) and run.format == "onnx"
    if source is None and not beside:
        return ()
    recorded = next(golden.recorded for golden in bench.cases if golden.name == case)
    request = OwnRequest(
        bench.folder / bench.artifacts[run.variant].main,
        run.format,
        bench.golden,
        recorded,
        source,
        bench.folder / bench.artifacts["pir"].main if beside else None,
    )
    setting = search.setting
    setting.say(f"feeding the operators of {run.variant} the right inputs")
    try:
        answer = call(
            measure, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE, on_event=setting.on_event
        )
    except NOT_HERE:
        return ()
    return answer.operators
