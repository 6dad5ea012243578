"""Findings as one JSON object; the keys are a contract."""

from __future__ import annotations

import json

from exporter.check.forms.base import Form
from exporter.check.run import Examination


def render(examination: Examination, color: bool = False) -> str:
    """`{"findings": [...]}`; see `Diagnostic.to_json` for one of them."""
    del color
    return json.dumps({"findings": [each.to_json() for each in examination.findings]}, ensure_ascii=False) + "\n"


plugin: Form = render
