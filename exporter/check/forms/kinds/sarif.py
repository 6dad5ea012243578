"""Findings as SARIF 2.1.0, which code scanning services and editors read."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

import exporter
from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.codes import OWN_CODES
from exporter.check.forms.base import Form
from exporter.check.rule_page import page
from exporter.check.run import Examination, rules

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render(examination: Examination, color: bool = False) -> str:
    """One run, with the rules that were found described."""
    del color
    codes = sorted({each.code for each in examination.findings})
    driver = {"name": "exporter check", "version": exporter.__version__, "rules": [_rule(code) for code in codes]}
    results = [_result(each, codes) for each in examination.findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _rule(code: str) -> dict[str, Any]:
    if code in OWN_CODES:
        return {"id": code, "shortDescription": {"text": OWN_CODES[code]}}
    found = page(rules()[code])
    return {
        "id": code,
        "shortDescription": {"text": found.title},
        "fullDescription": {"text": found.what},
        "help": {"text": found.text(), "markdown": found.markdown()},
        "defaultConfiguration": {"level": _LEVELS[Severity(found.severity)]},
    }


def _result(finding: Diagnostic, codes: list[str]) -> dict[str, Any]:
    where = finding.location
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(where.path)}}
    if where.line:
        place["region"] = {"startLine": where.line, "startColumn": max(where.column, 1)}
    return {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}. {finding.cure}"},
        "locations": [{"physicalLocation": place}],
        "properties": {"proved": finding.proved},
    }


def _uri(path: str) -> str:
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(pure.as_posix())


plugin: Form = render
