"""A bundle, or a program's file, held against the limits of its consumers (`exporter/engines/consumers`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exporter.base.errors import ExitCode, ExporterError, UsageError
from exporter.bundle.layout import GOLDEN
from exporter.bundle.open import Bundle, recorded_spec
from exporter.bundle.source import source_in
from exporter.engines.consumers.base import Limit, consumer_of, consumers, names
from exporter.engines.consumers.check import Finding, LayerRange, check
from exporter.engines.consumers.program import Program, at_line, program_of, with_lines
from exporter.process.workers import Setting
from exporter.prove.goldens.ranges import MOST_CASES, ScanRequest, scan_ranges
from exporter.prove.preflight.lines import lines_of
from exporter.prove.proofs.base import source_of

#: Formats whose programs can be run operator by operator, the better one first.
_SCANNED = ("pir", "pdmodel")
_BY_SUFFIX = {".onnx": "onnx", ".json": "pir", ".pdmodel": "pdmodel"}


@dataclass(frozen=True)
class Checked:
    """The targets that were checked, what was found, the ranges of the fp16 scan, and what could not be looked at."""

    targets: tuple[str, ...]
    findings: tuple[Finding, ...]
    ranges: tuple[LayerRange, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """Refused where a consumer cannot take the program."""
        return ExitCode.REFUSED if any(finding.is_error for finding in self.findings) else ExitCode.PASSED

    def to_json(self) -> dict[str, object]:
        """Return the object that `exporter targets BUNDLE --json` prints."""
        ranges = [
            {**{key: value for key, value in vars(layer.place).items() if value}, "largest": layer.largest}
            | {"smallest": layer.smallest, "overflows": layer.overflows, "vanishes": layer.vanishes}
            for layer in self.ranges
        ]
        findings = [finding.to_json() for finding in self.findings]
        return {"targets": list(self.targets), "findings": findings, "ranges": ranges, "notes": list(self.notes)}

    def as_text(self) -> str:
        """Return a line for each consumer, and below it what it does not take."""
        lines = []
        for target in self.targets:
            own = [finding for finding in self.findings if finding.target == target]
            errors = sum(finding.is_error for finding in own)
            state = f"refused, {errors} limits" if errors else f"{len(own)} warnings" if own else "nothing found"
            lines.append(f"{target:<20} {state}")
            for finding in own:
                lines += [f"  {finding.limit.level}: {finding.what}"]
                lines += [f"    {finding.limit.says}", f"    {finding.limit.source} ({finding.limit.date})"]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)]) + "\n"


def check_file(path: Path, targets: Sequence[str]) -> Checked:
    """Check one file of a program; without goldens there is no fp16 scan.

    Raises:
        UsageError: the file is of another kind, or a target is unknown or reads another format.
        BundleError: the file is damaged.
    """
    form = _BY_SUFFIX.get(path.suffix)
    if form is None:
        raise UsageError("not a program", where=str(path), hint="give a bundle, a .onnx, a .json or a .pdmodel")
    note = "the fp16 scan needs the goldens of a bundle, and was left out"
    return _checked(program_of({form: path}), targets, (), [note])


def check_bundle(
    bundle: Bundle, targets: Sequence[str], setting: Setting, *, scan: bool = True, code: Path | None = None
) -> Checked:
    """Check the float32 programs of a bundle, all consumers where no target is named; with `scan` run the fp16 scan.

    With `code`, the folder of the model's code, what is found is told with the line there.

    Raises:
        UsageError: a target is unknown, or reads a format that the bundle lacks.
        BundleError: a file is damaged.
    """
    plain = {
        artifact.format: bundle.folder / artifact.main
        for artifact in bundle.artifacts.values()
        if artifact.precision == "fp32"
    }
    notes: list[str] = []
    ranges = _scan(bundle, plain, setting, notes) if scan and _computes_fp16(targets or names()) else ()
    program = program_of(plain)
    if code is not None and (lines := _lines(bundle, plain, code, setting, notes)):
        program = with_lines(program, lines)
        ranges = tuple(replace(layer, place=at_line(layer.place, lines)) for layer in ranges)
    return _checked(program, targets, ranges, notes)


def _lines(
    bundle: Bundle, programs: Mapping[str, Path], code: Path, setting: Setting, notes: list[str]
) -> Mapping[str, tuple[str, str]]:
    if "pir" not in programs:
        notes.append("lines are paired with a .json program, and the bundle holds none: add pir to formats")
        return {}
    spec = recorded_spec(bundle.manifest)
    source = source_in(code, bundle.manifest.provenance, spec)
    model = source_of(spec, source.checkpoint, [output.name for output in bundle.manifest.outputs])
    lines = lines_of(model, programs["pir"], setting.importing(source.folder))
    if not lines:
        notes.append("the model's code could not be traced, so that no line is told")
    return lines


def _computes_fp16(targets: Sequence[str]) -> bool:
    return any(limit.kind == "fp16" for target in targets for limit in consumer_of(target).limits)


def _scan(bundle: Bundle, programs: Mapping[str, Path], setting: Setting, notes: list[str]) -> tuple[LayerRange, ...]:
    form = next((form for form in _SCANNED if form in programs), None)
    if form is None:
        notes.append("the fp16 scan runs a Paddle program, and the bundle holds none: add pir to formats")
        return ()
    if not (bundle.folder / GOLDEN).exists():
        notes.append("the fp16 scan needs goldens, and the bundle holds none: release it")
        return ()
    program = programs[form]
    cases = tuple(dict.fromkeys(case.recorded for case in bundle.goldens()))
    if len(cases) > MOST_CASES:
        notes.append(f"the fp16 scan ran {MOST_CASES} of {len(cases)} recorded cases")
    stored = program.with_suffix(".pdiparams")
    request = ScanRequest(program, stored if stored.exists() else None, bundle.folder / GOLDEN, cases[:MOST_CASES])
    try:
        done = scan_ranges(request, setting)
    except ExporterError as error:
        notes.append(f"the fp16 scan did not run: {error}")
        return ()
    if not done.exact:
        notes.append("the fp16 scan ran in float32: the program does not run truly in float64")
    return done.ranges


def _checked(program: Program, targets: Sequence[str], ranges: Sequence[LayerRange], notes: list[str]) -> Checked:
    wanted = tuple(targets) or tuple(
        name for name, consumer in consumers().items() if program.formats & set(consumer.formats)
    )
    if left := [name for name in names() if not targets and name not in wanted]:
        notes.append(f"not checked, since they read another format: {', '.join(left)}")
    if not program.values:
        notes.append("sizes and ranks inside the program are known from a .json program alone; add pir to formats")
    return Checked(wanted, check(program, wanted, ranges), tuple(ranges), tuple(notes))


def listed() -> str:
    """List every consumer with what it takes, each limit with its source and date."""
    lines = []
    for name, consumer in consumers().items():
        lines.append(f"{name}: {consumer.about}; reads {', '.join(consumer.formats)}")
        for limit in consumer.limits:
            lines += [f"  {_words(limit)}: {limit.says}", f"    {limit.source} ({limit.date})"]
    return "\n".join(lines) + "\n"


def _words(limit: Limit) -> str:
    bounds = {"least": limit.least, "most": limit.most}
    words = [limit.kind, *(f"{name} {value:,}" for name, value in bounds.items() if value is not None)]
    return ", ".join([*words, *([f"versions {limit.versions}"] if limit.versions else []), limit.level])


def as_json() -> dict[str, object]:
    """Every consumer as `exporter targets --json` prints them."""
    return {"consumers": {name: consumer.model_dump(mode="json") for name, consumer in consumers().items()}}
