"""Findings as JUnit XML: a test case for each finding, so that a CI server lists them."""

from __future__ import annotations

from collections import Counter
from xml.sax.saxutils import escape, quoteattr

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.check.forms.base import Form
from exporter.check.run import Examination


def render(examination: Examination, color: bool = False) -> str:
    """Errors are failures; warnings and infos are passed cases that say something. No findings, no cases."""
    del color
    counts = Counter(each.severity for each in examination.findings)
    numbers = f'tests="{len(examination.findings)}" failures="{counts[Severity.ERROR]}" errors="0"'
    cases = "".join(_case(each) for each in examination.findings)
    suite = f'  <testsuite name="exporter check" {numbers}>\n{cases}  </testsuite>\n'
    return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites {numbers}>\n{suite}</testsuites>\n'


def _case(finding: Diagnostic) -> str:
    text = f"{finding.location}: {finding.message}. {finding.cure}"
    name, place = _attribute(f"{finding.code} at {finding.location}"), _attribute(finding.location.path)
    if finding.severity is Severity.ERROR:
        inner = f"      <failure type={_attribute(finding.code)} message={_attribute(finding.message)}>"
        inner += f"{escape(_clean(text))}</failure>\n"
    else:
        inner = f"      <system-out>{escape(_clean(finding.severity.value + ': ' + text))}</system-out>\n"
    return f"    <testcase classname={place} name={name}>\n{inner}    </testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    """Without the control characters that XML cannot hold."""
    return "".join(each if each >= " " or each in "\n\t" else "?" for each in text)


plugin: Form = render
