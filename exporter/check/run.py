"""The static check: read, run on paper, judge. Nothing of the user's is imported, and neither is Paddle."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from exporter.check.module import ParsedModule, Project
from exporter.check.paper.run_model import run_module
from exporter.check.rules.base import Rule
from exporter.check.targets import Target, resolve
from exporter.diagnostics import Diagnostic, Location, Severity
from exporter.errors import UsageError
from exporter.registry import Registry

#: Findings that no rule makes, with what they mean.
OWN_CODES = {
    "EX001": "a file could not be read or parsed, so nothing of it was checked",
    "EX002": "no layer was found, so nothing was checked",
    "EX003": "a model is too large to be followed to its end",
}


@dataclass(frozen=True)
class Examination:
    """What a check found, and how much it looked at: `layers` counts classes whose `forward` was followed."""

    findings: tuple[Diagnostic, ...]
    files: int
    layers: int


def rules() -> dict[str, Rule]:
    """Every rule by its code."""
    registry: Registry[Rule] = Registry("exporter.check.rules", "rule")
    found = sorted((rule for _, rule in registry.all()), key=lambda rule: rule.code)
    return {rule.code: rule for rule in found}


def check(targets: Sequence[str], *, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Diagnostic, ...]:
    """Check files, folders, `module:Class` references and specs; see :func:`examine`."""
    return examine(targets, select=select, ignore=ignore).findings


def examine(targets: Sequence[str], *, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> Examination:
    """Check the targets without running any of their code.

    `select` and `ignore` are codes or beginnings of codes (`EX1`); nothing selected means everything.

    Raises:
        UsageError: a target does not exist, or a code is none of ours.
    """
    chosen = _chosen(select, ignore)
    project, findings, layers = Project(), list[Diagnostic](), 0
    places = resolve(targets)
    for place in places:
        module = project.read(place.path)
        if isinstance(module, Diagnostic):
            findings.append(module)
            continue
        layers += _examine(module, place, chosen, findings)
    if not layers and not findings:
        cure = "name the file or class of a paddle.nn.Layer; a check of nothing is no check"
        where = Location(targets[0] if len(targets) == 1 else ".")
        findings.append(Diagnostic("EX002", Severity.WARNING, where, "no layer was found, nothing was checked", cure))
    findings = [each for each in findings if each.code in chosen or each.code in OWN_CODES]
    return Examination(_sorted(findings), len({place.path for place in places}), layers)


def _examine(module: ParsedModule, place: Target, chosen: dict[str, Rule], findings: list[Diagnostic]) -> int:
    name = place.name.rpartition(".")[2] if place.name else ""
    if name and name not in module.bound:
        close = difflib.get_close_matches(name, module.bound, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"define {name} in {module.shown}"
        raise UsageError(f"{module.shown} has no '{name}'", where=place.name, hint=hint)
    found = run_module(module, name, place.inputs, place.named)
    module.facts = tuple(found.facts)
    for rule in chosen.values():
        findings += rule.check(module)
    module.facts = ()
    if found.unfinished:
        cure = "name one class: exporter check module:Class"
        message = "a model of this file is too large to be followed to its end; what was seen of it is reported"
        findings.append(Diagnostic("EX003", Severity.INFO, Location(module.shown), message, cure))
    return found.layers


def _chosen(select: Sequence[str], ignore: Sequence[str]) -> dict[str, Rule]:
    every = rules()
    for code in (*select, *ignore):
        if not any(each.startswith(code) for each in (*every, *OWN_CODES)):
            close = difflib.get_close_matches(code, (*every, *OWN_CODES), n=1)
            hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(every)}"
            raise UsageError(f"no rule has the code '{code}'", hint=hint)
    wanted = tuple(select) or ("EX",)
    return {
        code: rule
        for code, rule in every.items()
        if code.startswith(wanted) and not code.startswith(tuple(ignore) or ("-",))
    }


def _sorted(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """In the order of the files and lines, each place and code once, the worst of several kept."""
    order = list(Severity)
    unique: dict[tuple[str, Location], Diagnostic] = {}
    for each in sorted(findings, key=lambda one: (one.location, one.code, order.index(one.severity), one.message)):
        unique.setdefault((each.code, each.location), each)
    return tuple(unique.values())
