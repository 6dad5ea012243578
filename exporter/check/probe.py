"""Export what can be exported, in children with limits, and let the outcome speak where the code only looked wrong.

A model is probed if it can be built without arguments and its inputs are known: from a spec, or from input specs that
the file declares. What the probe shows marks the findings of the static part that explain it as proved; where there are
none, it is a finding of its own, at the line that Paddle blames or at `forward`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exporter.check.codes import PROBE_CODES
from exporter.check.paper.run_model import Model
from exporter.diagnostics import Diagnostic, Location, Severity
from exporter.errors import ChildCrashed, ChildFailed, ChildOutOfMemory, ChildTimedOut, ExporterError
from exporter.workers import Json, Limits, call

#: Which rules explain an outcome. A fault of the export may have any cause.
_EXPLAINS: dict[str, tuple[str, ...]] = {
    "structure": ("EX104", "EX109", "EX110", "EX111", "EX112", "EX118"),
    "values": (
        *("EX101", "EX103", "EX109", "EX110", "EX112", "EX113", "EX116", "EX118", "EX121", "EX122", "EX125", "EX126"),
        *("EX128", "EX129", "EX130", "EX132", "EX133"),
    ),
    "unusable": ("EX104", "EX105", "EX107", "EX131", "EX132"),
}
_CODES = {"fails": "EX201", "ends": "EX202", "unusable": "EX203", "structure": "EX204", "values": "EX205"}
_CURES = {
    "fails": "rewrite the line so that nothing in it needs the value of a tensor",
    "ends": "look for a loop of Python's over a dimension that varies, and for NumPy on tensors",
    "unusable": "return new tensors only, and name every input once",
    "structure": "return a flat tuple of different tensors",
    "values": "look for state, randomness and questions about the mode in forward and what it calls",
}


@dataclass(frozen=True)
class Outcome:
    """What the probe of one model showed: `kind` is agrees, not probed, or one of the faults."""

    model: Model
    kind: str
    what: str
    line: int


def probe(path: Path, model: Model, seconds: float) -> Outcome:
    """Build, run, export and compare one model; `seconds` limits each child."""
    sizes = [[each if isinstance(each, int) else None for each in one.sizes] for one in model.inputs]
    inputs = [
        {"name": one.name or f"x{at}", "dtype": one.dtype, "sizes": size}
        for at, (one, size) in enumerate(zip(model.inputs, sizes, strict=True))
    ]
    limits = Limits(seconds=seconds)
    with tempfile.TemporaryDirectory(prefix="exporter-probe-") as folder:
        request: Json = {
            "path": str(path.resolve()),
            "builder": model.builder,
            "inputs": inputs,
            "file": str(Path(folder) / "eager.safetensors"),
        }
        try:
            request |= call("exporter.check.probe_child:eager", request, limits)
        except ExporterError as error:
            return Outcome(model, "not probed", f"the model does not run by itself: {_telling(error.what)}", 0)
        return _export(model, request, limits)


def _export(model: Model, request: Json, limits: Limits) -> Outcome:
    try:
        answer = call("exporter.check.probe_child:exported", request, limits)
    except (ChildTimedOut, ChildCrashed, ChildOutOfMemory) as error:
        return Outcome(model, "ends", f"{error.what} {error.where}".strip(), 0)
    except ChildFailed as error:
        return Outcome(model, "fails", _telling(error.what), _line_in(error.details, request["path"]))
    return Outcome(model, answer["outcome"], _telling(answer["what"]), 0)


def _telling(message: str) -> str:
    """The line of a message that says what went wrong: Paddle writes a screenful around it."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    found = [line for line in lines if re.match(r"\w*(Error|Exception)\b|\(\w+\)", line)]
    return (found or lines or ["no message"])[-1][:200]


def _line_in(details: str, path: str) -> int:
    """The last line of the model's file that a traceback names; dy2static quotes the lines it has rewritten."""
    named = re.findall(rf'File "{re.escape(path)}", line (\d+)', details)
    return int(named[-1]) if named else 0


def prove(findings: Sequence[Diagnostic], outcomes: Sequence[Outcome]) -> list[Diagnostic]:
    """Findings with what the probes showed: proved where an outcome is explained, added to where it is not."""
    kept = list(findings)
    for outcome in outcomes:
        if outcome.kind == "agrees":
            continue
        if outcome.kind == "not probed":
            kept.append(
                _new("EX206", Severity.INFO, outcome, outcome.what, "build it with its defaults, name its inputs")
            )
            continue
        causes = [at for at, each in enumerate(kept) if _explains(each, outcome)]
        for at in causes:
            kept[at] = replace(kept[at], proved=True)
        if not causes:
            message = f"{PROBE_CODES[_CODES[outcome.kind]].removeprefix('the probe: ')}: {outcome.what}"
            kept.append(_new(_CODES[outcome.kind], Severity.ERROR, outcome, message, _CURES[outcome.kind]))
    return kept


def _explains(finding: Diagnostic, outcome: Outcome) -> bool:
    if finding.severity is not Severity.ERROR or finding.code < "EX100":
        return False
    codes = _EXPLAINS.get(outcome.kind)
    return codes is None or finding.code in codes


def _new(code: str, severity: Severity, outcome: Outcome, message: str, cure: str) -> Diagnostic:
    where = outcome.model.forward
    if outcome.line:
        where = Location(where.path, outcome.line, 1)
    return Diagnostic(code, severity, where, message, cure, proved=code != "EX206")
