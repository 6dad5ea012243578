"""What findings in a model's code come to, for every verb that stops at them."""

from __future__ import annotations

from collections.abc import Iterable

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.base.errors import Refusal
from exporter.check.settle import exit_code
from exporter.cli.run import Ending


def ending(findings: Iterable[Diagnostic]) -> Ending:
    """The exit code, and the explanation of the first error as what to try."""
    listed = tuple(findings)
    code = exit_code(listed)
    first = next((finding.code for finding in listed if finding.severity is Severity.ERROR), "")
    hint = f"exporter explain {first}, which shows what to write instead"
    return Refusal(code, hint) if first else code
