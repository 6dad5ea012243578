"""Reports, findings and metrics as JSON and back: what the cache keeps, and what shards and nodes of a gate tell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePath
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, TypeAdapter

from exporter.base.diagnostics import Diagnostic
from exporter.base.errors import ExitCode
from exporter.prove.judge.report import Report
from exporter.prove.verdict.blame import Blame
from exporter.prove.verdict.claim import Claim, Evidence, Verdict
from exporter.report.gate import Gated
from exporter.weights.measured import Measured

#: What a report and its record have in common; the record has the parts of its verdict besides.
_SAME = ("name", "version", "budget", "notes", "waivers", "digest", "methods", "blames")


@dataclass(frozen=True)
class _ReportRecord:
    """A report as it is kept: its claims are no keys, since JSON has none but texts."""

    name: str
    version: str
    budget: float
    claims: Sequence[tuple[Claim, Evidence]]
    notes: Sequence[str]
    waivers: Sequence[dict[str, str]]
    digest: str
    methods: Sequence[str]
    blames: Sequence[Blame] = ()
    narrowed: str = ""
    objections: tuple[str, ...] = ()

    @classmethod
    def of(cls, report: Report) -> _ReportRecord:
        verdict, same = report.verdict, {name: getattr(report, name) for name in _SAME}
        claims = [(claim, verdict.of(claim)) for claim in sorted(verdict.plan)]
        return cls(**same, claims=claims, narrowed=verdict.narrowed, objections=verdict.objections)

    def report(self) -> Report:
        evidence, same = dict(self.claims), {name: getattr(self, name) for name in _SAME}
        return Report(**same, verdict=Verdict(frozenset(evidence), evidence, self.narrowed, self.objections))


_REPORT = TypeAdapter(_ReportRecord)
_Report = Annotated[
    Report,
    PlainSerializer(lambda report: _REPORT.dump_python(_ReportRecord.of(report))),
    PlainValidator(lambda content: _REPORT.validate_python(content).report()),
]


@dataclass(frozen=True)
class Results:
    """What a release gave besides its bundle: a report, what was found in the model's code, the checkpoint's metric."""

    report: _Report
    findings: tuple[Diagnostic, ...]
    measured: Measured | None


@dataclass(frozen=True)
class _Gated:
    """What :class:`exporter.report.gate.Gated` has, by types that can be read."""

    spec: str
    why: str
    exit: ExitCode
    said: str
    report: _Report | None
    verdict: str
    unreleased: str
    findings: tuple[Diagnostic, ...]
    told: tuple[Diagnostic, ...]
    seconds: float | None
    reused: bool
    runs: Mapping[str, float]


_RESULTS, _GATED = TypeAdapter(Results), TypeAdapter(_Gated)


def told_results(results: Results) -> object:
    """Return what a release gave as JSON."""
    return _plain(_RESULTS.dump_python(results))


def results_of(content: object) -> Results:
    """Return what a release gave from its JSON.

    Raises:
        ValidationError: it is something else.
    """
    return _RESULTS.validate_python(content)


def told_gated(gated: Gated) -> dict[str, object]:
    """Return what became of a spec as JSON."""
    content: dict[str, object] = _plain(_GATED.dump_python(_Gated(**vars(gated))))
    return content


def gated_of(content: object) -> Gated:
    """Return what became of a spec from its JSON.

    Raises:
        ValueError: it is something else.
    """
    gated = Gated(**vars(_GATED.validate_python(content)))
    if gated.report is not None and not gated.unreleased and gated.exit is not gated.report.exit_code:
        raise ValueError(f"{gated.spec}: the exit code is not that of its report")
    return gated


def _plain(value: Any) -> Any:
    """Return the same of what JSON has: a number that is not finite is a word, half a surrogate pair is written out."""
    if isinstance(value, Mapping):
        return {_plain(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str | PurePath):
        return str(value).encode("utf-8", "backslashreplace").decode()
    return value
