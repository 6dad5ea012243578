"""Open a bundle: believe nothing before every file is there, listed, whole, and where it may be."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path

from exporter import __version__
from exporter.base.bounded_json import read_bytes
from exporter.base.errors import BundleError, UsageError
from exporter.base.files import is_mostly_hole, safe_relative, sha256_file
from exporter.base.numbers.golden import GoldenCase
from exporter.base.readers import read_program
from exporter.bundle.absent import no_bundle
from exporter.bundle.layout import GOLDEN, refuse_unlisted, refuse_unnamed
from exporter.bundle.manifest import NAME, Content, FileFacts, Manifest, Variant, parse
from exporter.bundle.scripts import refuse_other_scripts
from exporter.bundle.stated import refuse_other_statements
from exporter.bundle.version import content_version
from exporter.export.lower.base import Artifact
from exporter.export.lower.convert import FORMATS, effective_budget
from exporter.prove.compare.golden import read_goldens
from exporter.prove.verdict.plan import Run, plan_runs, source_engines
from exporter.spec.model import Spec
from exporter.spec.read import validate

_HINT = "do not use this bundle; ask for a fresh one"


@dataclass(frozen=True)
class Bundle:
    """A bundle whose files are what its manifest says."""

    folder: Path
    manifest: Manifest

    @property
    def artifacts(self) -> dict[str, Artifact]:
        """The variants as artifacts, by name."""
        return {name: one.artifact() for name, one in self.manifest.variants.items()}

    def goldens(self) -> tuple[GoldenCase, ...]:
        """The recorded cases, read from disk."""
        return read_goldens(self.folder / GOLDEN, [case.model_dump() for case in self.manifest.cases])


def open_bundle(folder: Path) -> Bundle:
    """Check a bundle's integrity and read its manifest.

    Raises:
        UsageError: there is no bundle.
        BundleError: a file is missing, changed, not listed, or lies outside, is none that a bundle can hold, or a
            program does more than compute; the error names the file.
    """
    manifest_path = folder / NAME
    if not (manifest_path.exists() or manifest_path.is_symlink()):
        raise no_bundle(folder)
    if manifest_path.is_symlink():
        raise BundleError("is a symbolic link", where=str(manifest_path), hint=_HINT)
    manifest = parse(read_bytes(manifest_path), str(manifest_path))
    for name in manifest.files:
        safe_relative(name, str(manifest_path))
    refuse_unlisted(folder, set(manifest.files))
    for name, one in manifest.variants.items():
        if unlisted := set(one.files) - set(manifest.files):
            raise BundleError(f"variant {name} needs {min(unlisted)}, which is not listed", where=NAME, hint=_HINT)
        _refuse_other_files(name, one, set(manifest.files))
    refuse_unnamed(manifest)
    for name, facts in manifest.files.items():
        _check_file(folder / name, facts)
    refuse_other_statements(folder, manifest)
    for variant in manifest.variants.values():
        _read_program(folder / variant.artifact().main)
    return Bundle(folder, manifest)


def _read_program(path: Path) -> None:
    """In a bundle a program of another kind is no wrong argument of the user's."""
    try:
        read_program(path)
    except UsageError as error:
        raise BundleError(error.what, where=error.where, hint=_HINT) from error


def _refuse_other_files(variant: str, one: Variant, listed: set[str]) -> None:
    """Engines open the files of a variant by their names; so it holds just these, and nothing lies beside them."""
    if one.format not in FORMATS.names():
        raise BundleError(
            f"variant {variant} is of the format '{one.format}', which nothing here knows",
            where=NAME,
            hint=f"install the package that adds it, by an entry point of {FORMATS.package}",
        )
    main, apart = (f"{variant}/{name}" for name in (FORMATS[one.format].model, FORMATS[one.format].parameters))
    expected = {main, apart} & {main, *one.files}
    beside = {name for name in listed if name.startswith(f"{variant}/")}
    if set(one.files) != expected or len(one.files) != len(expected) or beside != expected:
        strange = min(set(one.files) ^ expected or beside ^ expected, default=main)
        raise BundleError(f"variant {variant} has not just the files of its format: {strange}", where=NAME, hint=_HINT)


def recorded_spec(manifest: Content) -> Spec:
    """The spec that made a bundle, its inputs in their order, which JSON's sorted keys have lost.

    Raises:
        BundleError: it is no spec, or the manifest says something else beside it.
    """
    content, names = dict(manifest.spec), [one.name for one in manifest.inputs]
    if isinstance(content.get("inputs"), dict) and sorted(content["inputs"]) == sorted(names):
        content["inputs"] = {name: content["inputs"][name] for name in names}
    try:
        spec = validate(content, NAME)
    except UsageError as error:
        raise BundleError(f"the spec in it is wrong: {error.what}", where=NAME, hint=_HINT) from error
    beside: dict[str, tuple[object, object]] = {
        "name": (manifest.name, spec.name),
        "budget": (manifest.budget, spec.budget),
        "dims": (manifest.dims, {name: dim.model_dump() for name, dim in spec.dims.items()}),
        "inputs": (
            [(one.name, one.dtype, one.shape) for one in manifest.inputs],
            list(map(astuple, spec.input_specs())),
        ),
        "outputs": (tuple(one.name for one in manifest.outputs), spec.outputs or _names(manifest)),
        "variants": (set(manifest.variants) - {_variant(*pair) for pair in spec.variants()}, set()),
        "waivers": (list(manifest.waivers), [one.model_dump(mode="json") for one in spec.waivers]),
        "candidates": (_unnoted(manifest, spec), []),
    }
    for key, (said, meant) in beside.items():
        if said != meant:
            verb = "are not those" if key.endswith("s") else "is not that"
            raise BundleError(f"its {key} {verb} of the spec in it", where=NAME, hint=_HINT)
    return spec


def _unnoted(manifest: Content, spec: Spec) -> list[str]:
    """The candidates of a spec of which no note says what file it was."""
    return [
        candidate.name
        for candidate in spec.candidates
        if not any(note.startswith(candidate.note) for note in manifest.notes)
    ]


def recorded_runs(spec: Spec, with_source: bool) -> tuple[Run, ...]:
    """The runs that a recorded spec asks for.

    Raises:
        BundleError: an engine is unknown, or no engine runs one of the variants: no release was planned by it.
    """
    try:
        return plan_runs(spec.engines, spec.variants(), source_engines(spec) if with_source else ())
    except UsageError as error:
        raise BundleError(f"the spec in it is wrong: {error.what}", where=NAME, hint=_HINT) from error


def released_spec(bundle: Bundle) -> Spec:
    """The spec in a bundle that is what a release of it writes: its version, model and budgets, and its scripts.

    Raises:
        BundleError: it is another, or as :func:`recorded_spec`.
    """
    spec = recorded_spec(bundle.manifest)
    _refuse_other_origin(bundle.manifest, spec)
    refuse_other_scripts(bundle.folder, bundle.manifest, spec)
    return spec


def _refuse_other_origin(manifest: Manifest, spec: Spec) -> None:
    """Compare what a release takes over from the spec, or computes from the files, with what the manifest says."""
    files = {name: manifest.files[name] for one in manifest.variants.values() for name in one.files}
    due = spec.version or content_version(manifest.spec, manifest.parameters, files, manifest.provenance)
    if manifest.version != due:
        what = f"its version is {manifest.version!r}, and {due!r} is that of its spec and files"
        raise BundleError(what, where=NAME, hint=_HINT)
    for name, one in manifest.variants.items():
        own = one.precision == "fp32" or manifest.provenance.get("exporter") != __version__
        if not own and one.details.get("budget") != effective_budget(one.precision, spec).model_dump(mode="json"):
            raise BundleError(f"the budget of variant {name} is not that of its spec", where=NAME, hint=_HINT)
    if (model := manifest.provenance.get("model")) != spec.factory:
        raise BundleError(f"its provenance tells of {model!r}, and its spec of another model", where=NAME, hint=_HINT)


def _names(manifest: Content) -> tuple[str, ...]:
    return tuple(one.name for one in manifest.outputs)


def _variant(format: str, precision: str) -> str:
    return format if precision == "fp32" else f"{format}-{precision}"


def _check_file(path: Path, facts: FileFacts) -> None:
    if not path.is_file():
        raise BundleError("is missing", where=str(path), hint=_HINT)
    if path.stat().st_size != facts.size:
        raise BundleError(f"has {path.stat().st_size} bytes, not {facts.size}", where=str(path), hint=_HINT)
    if is_mostly_hole(path):
        raise BundleError(f"has {facts.size:,} bytes, most of which are a hole", where=str(path), hint=_HINT)
    if sha256_file(path) != facts.sha256:
        raise BundleError("is not the file that was sealed: its sha256 differs", where=str(path), hint=_HINT)
