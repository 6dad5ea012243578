"""The static check: read, interpret abstractly, judge. Nothing of the user's is imported, and neither is Paddle."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from exporter.base.diagnostics import Diagnostic, Location, Severity
from exporter.base.errors import UsageError, closest, did_you_mean
from exporter.check import suppressions
from exporter.check.codes import OWN_CODES
from exporter.check.entry import Findings, run_module
from exporter.check.facts import Facts
from exporter.check.rules.base import Rule
from exporter.check.rules.base import rules as rules
from exporter.check.settings import Settings
from exporter.check.source.project import ParsedModule, Project
from exporter.check.source.syntax import of_kind
from exporter.check.targets import Target, resolve

_FAMILIES = Path(__file__).parents[1] / "export" / "families"
_SHOWN = 60  # letters of an expression that a message quotes
_MOST_OBJECTS = 1_000_000  # containers made since garbage was last collected: some 150 MB of trees


@dataclass(frozen=True)
class Examination:
    """What a check found, and how much it looked at: `layers` counts classes whose `forward` was followed."""

    findings: tuple[Diagnostic, ...]
    files: int
    layers: int
    probed: int = 0


def together(parts: Sequence[Examination]) -> Examination:
    """Several examinations as one."""
    findings = _sorted([finding for part in parts for finding in part.findings])
    counts = ([getattr(part, name) for part in parts] for name in ("files", "layers", "probed"))
    return Examination(findings, *map(sum, counts))


def check(targets: Sequence[str], *, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Diagnostic, ...]:
    """Check files, folders, `module:Class` references and specs; see :func:`examine`."""
    return examine(targets, Settings(tuple(select), tuple(ignore))).findings


def examine(targets: Sequence[str | Target], settings: Settings | None = None, probe_seconds: float = 0) -> Examination:
    """Check the targets without running any of their code, unless `probe_seconds` is given.

    With it, the models of targets that were named (no folders) are built, exported and run, each in children that may
    take that long; see :mod:`exporter.check.probe.run`.

    Raises:
        UsageError: a target does not exist, or a code is none of ours.
    """
    settings = settings or Settings()
    every = rules()
    _known((*settings.select, *settings.ignore, *settings.severity), every)
    project, findings, layers, probed, files = Project(), list[Diagnostic](), 0, 0, dict[str, bool]()
    unread: list[Diagnostic] = []
    with _collector_at_rest():
        for place in resolve(targets):
            module = project.read(place.path)
            if isinstance(module, Diagnostic):
                files[module.location.path] = True
                findings.append(module)
                continue
            files[module.shown] = files.get(module.shown, False) or not place.name
            found = _run(module, place)
            if isinstance(found, Diagnostic):
                findings.append(found)
                continue
            judged = _judge(module, found, tuple(every.values()))
            layers += found.layers
            if not found.layers and place.name:
                unread.append(_unread(module, place))
            if probe_seconds and place.named:
                from exporter.check.probe.run import probe, prove

                models = [model for model in found.models if model.inputs]
                probed += len(models)
                judged = prove(judged, [probe(place.path, model, probe_seconds) for model in models])
            findings += judged
            project.release(module)
            if gc.get_count()[0] > _MOST_OBJECTS:
                gc.collect()
    if not layers and not findings:
        findings += unread
    if not layers and not findings:
        cure = "name the file or class of a paddle.nn.Layer; a check of nothing is no check"
        only = targets[0] if len(targets) == 1 else "."
        where = Location(str(only.path) if isinstance(only, Target) else only)
        findings.append(Diagnostic("EX002", Severity.WARNING, where, "no layer was found, nothing was checked", cure))
    kept = suppressions.apply(_sorted(findings), files, project.comments)
    shown = [
        replace(each, severity=settings.severity.get(each.code, each.severity))
        for each in kept
        if settings.wants(each.code)
    ]
    return Examination(_sorted(shown), len(files), layers, probed)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Inside the block, garbage is collected only where that is asked for.

    Trees are many objects that live: Python's own rule looks through them again and again, half of a check's time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _run(module: ParsedModule, place: Target) -> Findings | Diagnostic:
    """What running the target gives; a finding where reading does not find it, which only an import can decide."""
    first = place.name.partition(".")[0]
    if first and first not in module.bound:
        close = closest(first, module.bound)
        maybe = f", or correct the name: there is '{close}'" if close else ""
        message = f"not checked: '{first}' is made when the module is imported, or is not there"
        severity = Severity.INFO if place.inputs else Severity.WARNING
        cure = f"name the file or class of the layer that it builds{maybe}"
        return Diagnostic("EX005", severity, Location(module.shown), message, cure)
    own = any(info.is_layer for info in module.classes.values())
    module.project.installed = bool(place.name) or (place.named and not own)  # a factory may build what lies elsewhere
    return run_module(module, place.name, place.inputs, place.named, place.arguments)


def _unread(module: ParsedModule, place: Target) -> Diagnostic:
    """That reading does not find the layer which a factory gives, and where it lost it.

    Of a spec it is a note: `convert` and `release` run the factory, and their export decides.
    """
    severity = Severity.INFO if place.inputs else Severity.WARNING
    given = dict(place.arguments)
    if module.path.is_relative_to(_FAMILIES) and {"family", "config"} <= given.keys():
        family, config = (ast.literal_eval(given[name]) for name in ("family", "config"))
        what = f"not checked: the export of {family} builds the model when it runs"
        cure = "check the file of the network: exporter check FILE"
        return Diagnostic("EX002", severity, Location(config), what, cure)
    bindings = module.names.get(place.name.partition(".")[0], [])
    returns = [node for binding in bindings[-1:] for node in of_kind(binding, ast.Return) if node.value is not None]
    expression = ast.unparse(returns[-1].value) if returns and returns[-1].value is not None else ""
    gives = f": it returns `{expression[:_SHOWN]}`" if expression else ""
    what = f"not checked: reading does not find the layer that '{place.name}' gives{gives}"
    location = module.location(returns[-1]) if returns else Location(module.shown)
    return Diagnostic("EX002", severity, location, what, "name the file or class of that layer: exporter check FILE")


def _judge(module: ParsedModule, found: Findings, chosen: Sequence[Rule]) -> list[Diagnostic]:
    findings: list[Diagnostic] = []
    facts = Facts(module, found.facts)
    for rule in chosen:
        findings += rule.check(facts)
    told = {(each.code, each.location) for each in findings}
    for guess in found.assumed:
        facts = Facts(module, guess.facts)
        for finding in (each for rule in chosen for each in rule.check(facts)):
            if (finding.code, finding.location) not in told:
                severity = Severity.WARNING if finding.severity is Severity.ERROR else finding.severity
                findings.append(replace(finding, severity=severity, message=f"{finding.message} ({guess.what})"))
    if found.unfinished:
        cure = "name one class: exporter check module:Class"
        message = "a model of this file is too large to be followed to its end; what was seen of it is reported"
        findings.append(Diagnostic("EX003", Severity.INFO, Location(module.shown), message, cure))
    return findings


def _known(codes: Sequence[str], every: Mapping[str, Rule]) -> None:
    known = (*OWN_CODES, *every)
    for code in codes:
        if not any(each.startswith(code) for each in known):
            raise UsageError(f"no rule has the code '{code}'", hint=did_you_mean(code, known))


def _sorted(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """In the order of the files and lines, each place and code once, the worst of several kept."""
    order = list(Severity)
    unique: dict[tuple[str, Location], Diagnostic] = {}
    for each in sorted(findings, key=lambda one: (one.location, one.code, order.index(one.severity), one.message)):
        unique.setdefault((each.code, each.location), each)
    return tuple(unique.values())
