"""What `train --doctor` prints: findings, gradients by layer, and memory."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from exporter.base.errors import ExitCode, Refusal, printable
from exporter.cli.run import Ending

if TYPE_CHECKING:
    from exporter.train.examination import Gradient, RecipeExamination

_WIDTH = 24  # of the longest bar
_LEAST = 0.01  # of a step's memory is worth a line
_MOST_LAYERS = 12  # have a line of what they keep


def show(examination: RecipeExamination, *, as_json: bool) -> Ending:
    """Print what a child has found; findings that are faults refuse."""
    for line in [json.dumps(asdict(examination))] if as_json else map(printable, _lines(examination)):
        sys.stdout.write(line + "\n")
    faults = [finding for finding in examination.findings if finding.severity == "error"]
    return Refusal(ExitCode.REFUSED, faults[0].hint) if faults else ExitCode.PASSED


def _lines(examination: RecipeExamination) -> list[str]:
    findings = [
        f"{finding.severity}: {finding.place}: {finding.what}; {finding.hint}" for finding in examination.findings
    ]
    if (memory := examination.memory) is None:  # the step was not tried: it would not fit
        return findings
    saves = memory.recompute_saves
    saved = [f"  {name}: {_mib(size)} less" for name, size in saves.items() if size > _LEAST * memory.step]
    return [
        *(findings or ["no fault in the gradients of the first batch"]),
        *_chart(examination.gradients),
        f"a step takes {_mib(memory.step)} at its peak, besides weights and optimizer",
        *_kept(memory.kept),
        *(["with these activations computed again (training.recompute)", *saved] if saved else []),
    ]


def _chart(gradients: Sequence[Gradient]) -> list[str]:
    """Gradients as bars, on a logarithmic scale from the smallest to the largest."""
    logarithms = [math.log10(row.gradient) for row in gradients if row.gradient > 0]
    if not logarithms:
        return []
    low, high = min(logarithms), max(logarithms)
    wide = max(len(row.name) for row in gradients)
    lines = [f"{'gradients (root mean square)':{wide}}"]
    for row in gradients:
        share = (math.log10(row.gradient) - low) / max(high - low, 1e-9) if row.gradient > 0 else -1.0
        bar = "#" * (1 + round(share * (_WIDTH - 1))) if share >= 0 else ""
        lines.append(f"  {row.name:{wide}}  {row.gradient:8.2g}  {bar}")
    return lines


def _kept(sizes: Mapping[str, int]) -> list[str]:
    """What sublayers keep for the backward pass, the largest first; those that keep little in one line."""
    whole = max(sum(sizes.values()), 1)
    shown = {name: size for name, size in list(sizes.items())[:_MOST_LAYERS] if size > _LEAST * whole}
    wide = max(map(len, shown), default=0)
    lines = [f"  {name:{wide}}  {_mib(size)}" for name, size in shown.items()]
    rest = len(sizes) - len(shown)
    if rest:
        lines.append(f"  {rest} more  {_mib(whole - sum(shown.values()))}")
    return ["of it kept for the backward pass, by layer", *lines] if lines else []


def _mib(size: int) -> str:
    return f"{size / 2**20:.2f} MiB"
