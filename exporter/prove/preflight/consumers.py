"""What the consumers that a spec names do not take of the written programs: told before a training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exporter.base.errors import ModelError
from exporter.engines.base import SourceModel
from exporter.engines.consumers.check import check, consumers_in
from exporter.engines.consumers.program import program_of, with_lines
from exporter.export.lower.convert import Conversion
from exporter.process.workers import Setting
from exporter.prove.preflight.lines import lines_of


def hold_for_consumers(
    named: Sequence[str], conversion: Conversion, into: Path, setting: Setting, source: SourceModel | None = None
) -> None:
    """Check the programs in float32; say what can be got around, and refuse what cannot.

    Ranges of float16 are not among it: they hang on trained weights, and `exporter targets` measures them. With a
    `source` what is found is told with the line of the user's code.

    Raises:
        ModelError: a consumer cannot take the program, by its source; the error names the operator.
    """
    targets = consumers_in(named)
    if not targets:
        return
    programs = {
        artifact.format: into / artifact.main for artifact in conversion.artifacts if artifact.precision == "fp32"
    }
    program = program_of(programs)
    findings = check(program, targets)
    if source is not None and "pir" in programs and any(finding.place is not None for finding in findings):
        findings = check(with_lines(program, lines_of(source, programs["pir"], setting)), targets)
    for finding in findings:
        if finding.is_error:
            where = finding.place.line if finding.place is not None else ""
            hint = f"change the model there, or take {finding.target} out of targets"
            raise ModelError(str(finding), where=where or "targets", hint=hint)
        setting.say(f"warning: {finding}")
