"""What the consumers that a spec names do not take of the written programs: told before a training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exporter.base.errors import ModelError
from exporter.engines.consumers.check import check, consumers_in
from exporter.engines.consumers.program import program_of
from exporter.export.lower.convert import Conversion
from exporter.process.workers import Setting


def hold_for_consumers(named: Sequence[str], conversion: Conversion, into: Path, setting: Setting) -> None:
    """Check the programs in float32; say what can be got around, and refuse what cannot.

    Ranges of float16 are not among it: they hang on trained weights, and `exporter targets` measures them.

    Raises:
        ModelError: a consumer cannot take the program, by its source; the error names the operator.
    """
    targets = consumers_in(named)
    if not targets:
        return
    programs = {
        artifact.format: into / artifact.main for artifact in conversion.artifacts if artifact.precision == "fp32"
    }
    for finding in check(program_of(programs), targets):
        if finding.is_error:
            where = finding.place.line if finding.place is not None else ""
            hint = f"change the model there, or take {finding.target} out of targets"
            raise ModelError(str(finding), where=where or "targets", hint=hint)
        setting.say(f"warning: {finding}")
