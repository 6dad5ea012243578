"""In a child: a `.pdmodel` as a PIR program, by Paddle's own translator (`translate_to_pir`, 3.0 to 3.3)."""

from __future__ import annotations

from pathlib import Path

from exporter.base.errors import ModelError
from exporter.paddle.programs import legacy_programs


def translated(program: Path, into: Path) -> Path:
    """Write the PIR program of a `.pdmodel` to `into/model.json`, and return that path.

    Raises:
        ModelError: Paddle cannot translate it: it has an operator that this Paddle lacks, or is no program for serving.
    """
    from exporter.paddle.private import core, translate_to_pir

    written = into / "model.json"
    try:
        with legacy_programs():
            described = core.ProgramDesc(program.read_bytes())
            pir = translate_to_pir(described)
            core.serialize_pir_program(pir, str(written), True, False, False)
    except (RuntimeError, ValueError, TypeError, OSError, AttributeError, KeyError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or ["no message"]
        message = next((line for line in lines if "Error" in line), lines[-1])[:300]
        hint = "give a file that the Paddle which wrote this one has saved again"
        raise ModelError(f"Paddle cannot read this program: {message}", where=str(program), hint=hint) from error
    return written
