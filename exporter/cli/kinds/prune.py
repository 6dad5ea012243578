"""`exporter prune`: a smaller model, of fewer channels, as an ordinary checkpoint."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exporter.base.errors import ExitCode
from exporter.cli import target as targets
from exporter.cli.options import Debug, Device, Json, Out, Quiet, Settings, Timeout
from exporter.cli.run import Verb

if TYPE_CHECKING:
    from exporter.weights.measured import Measured
    from exporter.weights.prune.about import Amount, Cut, CutProof
    from exporter.weights.prune.run import Pruned

_Flops = Annotated[float | None, typer.Option("--flops", help="The share of the FLOPs to leave, as 0.5.")]
_Importance = Annotated[str | None, typer.Option("--importance", help="What goes first: by l1 or fpgm.")]
_Epochs = Annotated[int | None, typer.Option("--epochs", help="Of fine-tuning, instead of the recipe's; 0: none.")]


def prune(  # noqa: PLR0913 - an option is a parameter
    target: targets.Target,
    flops: _Flops = None,
    importance: _Importance = None,
    epochs: _Epochs = None,
    inputs: targets.Inputs = None,
    dims: targets.Dims = None,
    values: targets.Values = None,
    weights: targets.Weights = None,
    out: Out = None,
    settings: Settings = None,
    device: Device = None,
    timeout: Timeout = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Remove whole channels until at most --flops of the work is left, prove the cut, and fine-tune by the recipe.

    Writes plan.json, pruned.safetensors and tuned/ into --out (runs/NAME.pruned). The checkpoint carries its plan, so
    that convert and release build the smaller layer from it.
    """
    from exporter import pipeline
    from exporter.cli.progress import setting
    from exporter.cli.screen import tell, width

    given = {"checkpoint": str(weights) if weights else None, "device": device}
    asked = {"flops": flops, "importance": importance, "epochs": epochs}
    keys = [f"prune.{name}={value}" for name, value in asked.items() if value is not None]
    spec = targets.spec_of(target, targets.Described(inputs, dims, values, (*(settings or ()), *keys)), given)
    with setting(quiet=quiet, timeout=timeout) as how:
        whole, pruned, tuned = pipeline.prune(spec, out, how)
    told = _told(whole, pruned, tuned)
    if as_json:
        sys.stdout.write(json.dumps(told) + "\n")
    else:
        tell(_as_text(told, pruned.about.cut, width()))
    return ExitCode.PASSED


def _told(whole: Measured | None, pruned: Pruned, tuned: Measured | None) -> dict[str, Any]:
    cut = pruned.about.cut
    parts: dict[str, Amount | CutProof] = {"flops": cut.flops, "elements": cut.elements, "proof": cut.proof}
    return {
        **{name: asdict(part) for name, part in parts.items()},
        "importance": pruned.about.choice.importance,
        "checkpoint": str(pruned.checkpoint),
        "metric": {
            "name": tuned.metric if tuned else None,
            "before": whole.value if whole else None,
            "after": tuned.value if tuned else None,
        },
    }


def _as_text(told: dict[str, Any], cut: Cut, room: int | None) -> str:
    from exporter.report.table import Column, table

    columns = (Column("channels of", number=False), Column("before"), Column("after"), Column("", False, gives=True))
    rows = []
    for group in cut.groups:
        more = "" if len(group.makers) == 1 else f" and {len(group.makers) - 1} more"
        rows.append((f"{group.makers[0]}{more}", str(group.channels), str(group.kept), group.refused or ""))
    lines = [*table(columns, rows, room), ""] if rows else []
    if cut.not_understood:
        lines.append(f"left whole around operators that are not followed: {', '.join(cut.not_understood)}")
    for name, amount in (("flops", cut.flops), ("elements", cut.elements)):
        share = f"({amount.after / amount.before:.1%})"
        lines.append(f"{name:<9} {amount.before:>14,} -> {amount.after:>14,}  {share}")
    proof = cut.proof
    lines.append(f"proven: equals the masked model, error ratio {proof.error_ratio:.3g} of {proof.budget:g} allowed")
    metric = told["metric"]
    if metric["name"]:
        before = f"{metric['before']:.4f} -> " if metric["before"] is not None else ""
        lines.append(f"{metric['name']} {before}{metric['after']:.4f} on the held-out data")
    return "\n".join([*lines, told["checkpoint"]]) + "\n"


plugin: Verb = prune
