"""The whole product as short functions, in the order of the data; every verb of the command line is one of them.

spec ── resolve ─┬─ train ── checkpoint ─┬─ convert ── artifacts ─┐
                 ├─ check ── findings    └─ record ─── goldens ───┴─ verify ── verdict ── seal ── bundle
                 └─ runs ─── claims ──────────────────────────────────┘
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from exporter.base.diagnostics import Diagnostic
from exporter.base.errors import CannotRun, EnvironmentLacks, ExitCode, ModelError, UsageError
from exporter.base.files import locked, user_cache, write_draft
from exporter.base.registry import Registry
from exporter.bundle.bom import require_library
from exporter.bundle.contents import contents, with_costs, with_record
from exporter.bundle.documents import origin_of, with_documents
from exporter.bundle.facts import facts_in, facts_of
from exporter.bundle.layout import GOLDEN, PAGE, REPORT
from exporter.bundle.manifest import Content
from exporter.bundle.open import Bundle, open_bundle, recorded_runs, recorded_spec, released_spec
from exporter.bundle.received import ANYBODY, Receiver, unvouched
from exporter.bundle.source import source_in
from exporter.bundle.subject import about, exported_in, objections, subject_in, unreported
from exporter.bundle.write import Hashed, drafting, refuse_overwrite, refuse_strangers, seal, unlike_the_release
from exporter.check import settle
from exporter.check.run import examine
from exporter.check.settings import of_project
from exporter.check.targets import of_spec
from exporter.deploy.bench.run import Wish, bench, timed_by
from exporter.deploy.handoff.loads import refuse_targets
from exporter.deploy.runtimes.environment import read_runtimes
from exporter.deploy.runtimes.matrix import Matrix, try_runtimes
from exporter.engines.consumers.check import refuse_consumers
from exporter.engines.device import Device, choose_device
from exporter.export.lower.convert import convert_all, refuse_precisions
from exporter.process.scratch import scratch
from exporter.process.workers import Setting
from exporter.prove.goldens.calibrate import calibration, refuse_noise
from exporter.prove.goldens.record import Exported, record
from exporter.prove.judge.candidates import digests, judge_file, refuse_engines, runs_of, with_candidates
from exporter.prove.judge.judge import blame, harness_of, judge, planned
from exporter.prove.judge.report import Report
from exporter.prove.preflight.cases import observed, trial
from exporter.prove.preflight.declared import convert_and_compare
from exporter.prove.preflight.evidence import judged
from exporter.prove.preflight.files import foreign_format, refuse_files, refuse_waivers
from exporter.prove.preflight.home import refuse_without_home
from exporter.prove.proofs.base import Narrowing
from exporter.prove.proofs.samples import with_samples
from exporter.prove.root_cause.repro import REPRO, Keep
from exporter.prove.verdict.plan import Run, plan_runs, plan_some, refuse_promises, source_engines, with_defaults
from exporter.report.base import Renderer
from exporter.spec.model import PrecisionSettings, Spec
from exporter.spec.reserved import CANDIDATE, FAILED
from exporter.spec.source import FACTORY
from exporter.weights import measured, rehearsal
from exporter.weights.find import Weights, look_up
from exporter.weights.make import make, make_whole
from exporter.weights.prune import run as pruning
from exporter.weights.prune.run import refuse_pruning

RENDERERS: Registry[Renderer] = Registry("exporter.report", "report form")


@dataclass(frozen=True)
class Product:
    """What came of a command: the findings; a sealed bundle, unless they forbade it; the report, if it was verified."""

    findings: tuple[Diagnostic, ...] = ()
    bundle: Bundle | None = None
    report: Report | None = None
    measured: measured.Measured | None = None  # the recipe's metric of the checkpoint that was released


#: Whoever can refuse a spec without any work, from the top of the house to its ground.
REFUSALS: tuple[Callable[[Spec], None], ...] = (
    refuse_targets,
    lambda _spec: require_library(),
    refuse_pruning,
    refuse_promises,
    refuse_files,
    refuse_waivers,
    refuse_noise,
    refuse_consumers,
    refuse_precisions,
    refuse_without_home,
)


@dataclass(frozen=True)
class Resolved:
    """A spec that nothing refuses without work, with what this machine makes of it; no later step asks again.

    `runs` are the engines that will run, on `device`; `weights` says where the checkpoint is or how it will come.
    """

    spec: Spec
    device: Device
    runs: tuple[Run, ...]
    weights: Weights


def resolve(spec: Spec, setting: Setting, *, trains: bool = True) -> Resolved:
    """Settle what a spec leaves open, and refuse what would be refused later: before any work, and for every verb.

    Raises:
        UsageError: the spec or a file that it names is wrong; or `trains` is false, and its checkpoint is to be made.
        EnvironmentLacks: its device, a package or a home to write to is not here.
    """
    spec = with_defaults(spec)
    weights = look_up(spec)
    if not trains:
        weights.require()
    for refuse in REFUSALS:
        refuse(spec)
    runs = plan_runs(spec.engines, spec.variants(), source_engines(spec))
    device = choose_device(spec.device, [run.engine for run in runs], setting.limits, every=True)
    return Resolved(spec, device, runs, weights)


def find(plan: Resolved, setting: Setting) -> tuple[Diagnostic, ...]:
    """Check the model's code for what cannot be traced, or would be traced wrong.

    A finding that predicts a fault which an export does not show is settled here, by a comparison; one that predicts a
    failure is left to the export (:mod:`exporter.check.settle`). A model that is a file has no code.
    """
    if plan.spec.model == FACTORY:
        return ()
    setting.say(f"checking {plan.spec.model}")
    return judged(plan.spec, examine([of_spec(plan.spec)], of_project(Path.cwd())).findings, setting)


def foresee(spec: Spec, findings: tuple[Diagnostic, ...], setting: Setting) -> tuple[Diagnostic, ...]:
    """What `convert` and `release` would say of these findings: for that the model is run and exported, to no place.

    Raises:
        UsageError, EnvironmentLacks: as :func:`resolve`; or the model, its data or its values are wrong.
    """
    plan = resolve(spec, setting)
    try:
        return judged(plan.spec, findings, setting, fully=True)
    except CannotRun as error:
        return error.findings


def exit_code(findings: Sequence[Diagnostic]) -> ExitCode:
    """How a verb ends that its findings stop, and how `check` ends."""
    return settle.exit_code(findings)


def forbids(findings: Sequence[Diagnostic]) -> bool:
    """Whether a finding is an error, so that nothing may be exported; the export decides on those that foretell it."""
    return any(map(settle.refuses, findings))


def prune(
    spec: Spec, into: Path | None, setting: Setting
) -> tuple[measured.Measured | None, pruning.Pruned, measured.Measured | None]:
    """Train if needed, cut the model down as the spec's `prune` says, and fine-tune what is left by the recipe.

    What comes back besides is the metric of the whole model, if it was trained, and of the smaller one, if fine-tuned.

    Raises:
        UsageError, EnvironmentLacks, ModelError: as training and :func:`exporter.weights.prune.run.ensure`.
    """
    folder = into or pruning.default_folder(spec)
    pruning.check(spec, folder)
    if spec.recipe is not None:
        refuse_files(spec)
    weights = look_up(spec)
    if spec.recipe is not None:
        rehearsal.rehearse(weights, folder, setting)
    checkpoint, whole = make_whole(weights, setting)
    pruned = pruning.ensure(spec, checkpoint, folder, setting)
    return whole, pruned, measured.measure(spec, pruned.checkpoint, pruned.tuned, setting) if pruned.tuned else None


def convert(spec: Spec, into: Path, setting: Setting) -> Product:
    """Check, trace and lower into a bundle that says of itself that it is unverified.

    Raises:
        UsageError: the spec's model, checkpoint or inputs are wrong; or `into` holds something else.
        ModelError: a format cannot hold the model.
    """
    refuse_overwrite(into)
    plan = resolve(spec, setting)
    spec, checkpoint = plan.spec, plan.weights.require()
    if forbids(findings := find(plan, setting)):
        return Product(findings)
    with drafting(into) as draft, calibration(spec, setting) as samples:
        try:
            conversion = convert_and_compare(spec, checkpoint, draft, setting, samples, trial(spec))
        except ModelError as error:
            return _foretold(spec, findings, error)
        hashed = Hashed.of(draft)
        content = contents(spec, conversion, hashed.files, checkpoint)
        content = with_documents(content, draft, origin_of(content, conversion.modules), hashed)
        with locked(into.parent):
            refuse_overwrite(into)  # a release may have come meanwhile
            return Product(settle.exported(findings), seal(draft, into, content, known=hashed, runnable=False))


class Taken(Enum):
    """What is done where a version was released before with other files, weights or interface."""

    REFUSE = "it is refused"
    REPLACE = "the release is replaced"
    BESIDE = "what is new goes beside it"


def release(spec: Spec, root: Path, setting: Setting, *, trains: bool = True, taken: Taken = Taken.REFUSE) -> Product:
    """All of it. What does not pass goes to `<root>/<name>/failed`, and the last good bundle stays as it was.

    Raises:
        UsageError: the checkpoint is not there yet, and `trains` is false; the version is `taken` by another content.
        UsageError, EnvironmentLacks, ModelError: as the steps.
    """
    plan = resolve(spec, setting, trains=trains)
    place = root / plan.spec.name
    with drafting(place / "release"):  # fails now, and not after the training, if the place is not writable
        refuse_strangers(place / (plan.spec.version or FAILED))
    if forbids(findings := find(plan, setting)):
        return Product(findings)
    try:
        return _release(plan, root, findings, setting, taken)
    except ModelError as error:
        return _foretold(plan.spec, findings, error)


def _foretold(spec: Spec, findings: Sequence[Diagnostic], error: ModelError) -> Product:
    """Findings that foretold that a format cannot be written; raises the error, with the findings, where none did."""
    stage, _, _ = error.what.partition(":")
    if isinstance(error, CannotRun):
        error.findings = settle.not_run(findings, error)
    elif stage in spec.formats:
        if (failure := settle.failed(findings, error)) is not None:
            return Product(failure)
        error.findings = settle.not_exported(findings, error)
    raise error


def _release(plan: Resolved, root: Path, findings: tuple[Diagnostic, ...], setting: Setting, taken: Taken) -> Product:
    spec, device = plan.spec, plan.device
    rehearsal.rehearse(plan.weights, pruning.default_folder(spec), setting)
    checkpoint, metric = make(plan.weights, setting)
    with drafting(root / spec.name / "release") as draft:
        with calibration(spec, setting) as samples:
            conversion = convert_and_compare(spec, checkpoint, draft, setting, samples, observed(spec))
        converted = Hashed.of(draft)
        setting = setting.grown(sum(file.size for file in converted.files.values()))
        content = contents(spec, conversion, converted.files, checkpoint, metric)
        exported = Exported.converted(draft, conversion)
        content = with_record(content, record(spec, checkpoint, exported, draft / GOLDEN, setting))
        subject = with_samples(subject_in(content, spec, (draft, draft / GOLDEN), device.name, checkpoint), setting)
        proven = Hashed.of(draft, converted)
        harness = harness_of(subject, plan.runs, setting)
        told = about(content, device.notes, device=device.name)
        report = with_candidates(judge(harness, told), subject, told, setting)
        own = root / spec.name / content.version
        place = own if report.verdict.passed else own.with_name(FAILED)
        report = blame(harness, report, Keep(draft / REPRO, bundle=place, shown=place / REPRO))
        origin = origin_of(content, conversion.modules)
        report = replace(report, facts=facts_of(content, spec, draft, origin.commit))
        for name, form in ((REPORT, "json"), (PAGE, "html")):
            write_draft(draft / name, RENDERERS[form](report).encode())
        content = with_costs(content.model_copy(update={"verdict": report.verdict.word}), report.verdict)
        content = with_documents(content, draft, origin, proven)
        with locked(own.parent):  # else two releases at once would each find the place free
            compared = report.verdict.passed and taken is not Taken.REPLACE
            if what := unlike_the_release(own, content, draft) if compared else "":
                place = own.with_name(CANDIDATE)
            bundle = seal(draft, place, content, proven=proven, runnable=True)
    if what and taken is Taken.REFUSE:
        said = f"this version was released before, and its {what} differ; what is new passed, and lies in {place}"
        raise UsageError(said, where=str(own), hint="give it another version, or replace the release with --force")
    return Product(settle.exported(findings), bundle, replace(report, digest=bundle.manifest.digest), metric)


def judge_foreign(spec: Spec, file: Path, setting: Setting) -> Report:
    """Judge a file that another tool wrote: is it the model of the spec? By the claims and controls of a release.

    Raises:
        UsageError, EnvironmentLacks, ModelError: as the steps; or the file takes or gives other tensors.
        BundleError: the file is damaged.
    """
    format = foreign_format(spec, file, "--artifact")
    engines = spec.engines if "engines" in spec.model_fields_set else ()
    refuse_engines(format, engines)
    ours = "pdmodel" if format == "pdmodel" else "pir"
    own = {"formats": (ours,), "engines": ("paddle_inference",), "precisions": {"fp32": PrecisionSettings()}}
    plan = resolve(spec.model_copy(update={**own, "candidates": ()}), setting, trains=False)
    spec, checkpoint = plan.spec, plan.weights.require()
    with scratch() as draft:
        conversion = convert_all(spec, checkpoint, draft, setting)
        content = contents(spec, conversion, Hashed.of(draft).files, checkpoint)
        exported = Exported.converted(draft, conversion)
        content = with_record(content, record(spec, checkpoint, exported, draft / GOLDEN, setting))
        subject = subject_in(content, spec, (draft, draft / GOLDEN), plan.device.name, checkpoint)
        runs = [run for run in plan.runs if run.format == "source"] + [*runs_of(format, engines)]
        note = f"judged is {file} (sha256 {digests(file)}), which another tool wrote"
        said = about(content, (note, *plan.device.notes), device=plan.device.name)
        return judge_file(with_samples(subject, setting), file, runs, said, setting)


@dataclass(frozen=True)
class Blaming:
    """That failures are to be localised; their repros go to the folder `repro`, if there is one."""

    repro: Path | None = None
    scramble: bool = False


def verify(  # noqa: PLR0913 - what a receiver decides comes one by one
    folder: Path,
    setting: Setting,
    narrowing: Narrowing | None = None,
    device: str | None = None,
    blaming: Blaming | None = None,
    code: Path | None = None,
    receiver: Receiver = ANYBODY,
) -> Report:
    """Judge a bundle's artifacts anew: by its goldens, and with the folder of the model's `code` by eager itself.

    What is planned comes from the spec in it, whatever it holds; `narrowing` leaves out a part of that on purpose.
    Without `blaming` failures are not localised. Without `code` nothing is imported that the bundle names. Its own
    waivers count where the `receiver` accepts them.

    Raises:
        UsageError: an engine is unknown, or has nothing here to run; no such case; `repro` cannot be written.
        BundleError: the bundle is damaged, or the code is not what it was made of.
        EnvironmentLacks: it holds no goldens and no code was given to make them, or the device is not here.
    """
    setting.say("opening the bundle")
    bundle, narrowing = open_bundle(folder), narrowing or Narrowing()
    manifest: Content = bundle.manifest
    spec, unaccepted = receiver.judged_by(released_spec(bundle))
    source = source_in(code, manifest.provenance, spec)
    folder = folder.absolute() if source.folder else folder
    setting = setting.importing(source.folder).grown(sum(file.size for file in bundle.manifest.files.values()))
    if narrowing.engines:
        runs = plan_some(narrowing.engines, spec.variants(), not source.absent)
    else:
        runs = recorded_runs(spec, not source.absent)
    taken = choose_device(device or spec.device, [run.engine for run in runs], setting.limits)
    if not manifest.cases and source.absent:
        what, hint = "it holds no goldens, and nothing says where the code is that would make them", "give --source DIR"
        raise EnvironmentLacks(what, where=str(folder), hint=hint)
    with scratch() as place:
        golden = folder / GOLDEN
        if manifest.verdict == "unverified" and not manifest.cases:
            golden = place / GOLDEN
            exported = exported_in(manifest, folder)
            manifest = with_record(manifest, record(spec, source.checkpoint, exported, golden, setting))
        origin = (source.checkpoint, source.absent, narrowing.case)
        own_word = receiver.accepts_waivers or golden.parent == place
        subject = subject_in(manifest, spec, (folder, golden), taken.name, *origin, takes_its_word=own_word)
        subject = with_samples(subject, setting) if golden.parent == place else subject
        harness = harness_of(subject, runs, setting, narrowing)
        notes = (*taken.notes, *filter(None, [source.absent]), *unvouched(bundle, receiver))
        said = about(manifest, notes, bundle.manifest.digest, taken.name)
        against = objections(bundle) or unreported(bundle, () if str(narrowing) else planned(harness))
        report = judge(harness, replace(said, objections=against, unaccepted=unaccepted))
        if blaming is None:
            return report
        return blame(harness, report, Keep(blaming.repro, folder, blaming.scramble) if blaming.repro else None)


def with_facts(report: Report, folder: Path, setting: Setting, *, timed: bool = False, trusted: str = "") -> Report:
    """The report of a bundle with what a page tells besides: what the bundle is, and if `timed` how fast it is here.

    `trusted` says who is known to have signed it. Timed are the engines that were judged, on the spec's device.

    Raises:
        UsageError, BundleError, EnvironmentLacks: as :func:`exporter.deploy.bench.run.bench`.
    """
    bundle = open_bundle(folder)
    facts = facts_in(bundle, recorded_spec(bundle.manifest), trusted)
    if timed:
        judged = {claim.engine for claim in report.verdict.plan if claim.engine and claim.format != "source"}
        facts = replace(facts, timed=timed_by(bench(folder, Wish(tuple(sorted(judged))), setting)))
    return replace(report, facts=facts)


def in_runtimes(folder: Path, runtimes: str, setting: Setting, receiver: Receiver = ANYBODY) -> Matrix:
    """What a bundle computes in other versions of the engines, as `paddle==2.6.2,onnxruntime==1.20.1` names them.

    Raises:
        UsageError: a runtime is unknown, or the bundle has nothing for it.
        BundleError: the bundle is damaged, or its verify.py is not ours.
    """
    wanted = read_runtimes(runtimes)
    setting.say("opening the bundle")
    return try_runtimes(open_bundle(folder), wanted, user_cache("runtimes"), setting, receiver.options)
