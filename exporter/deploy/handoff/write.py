"""Write what a target wants, say what came from where, run it where that can be done; put it there all at once."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from exporter.base.errors import BundleError, EnvironmentLacks, UsageError, did_you_mean
from exporter.base.files import (
    locked,
    place_folder,
    replace_bytes,
    safe_relative,
    sha256_file,
    sibling,
    translated,
    write_json,
)
from exporter.bundle.manifest import Tensor
from exporter.bundle.open import Bundle
from exporter.bundle.subject import unfit
from exporter.deploy.handoff import place as places
from exporter.deploy.handoff.base import TARGETS, Chosen, OnDevice, Proof, Rows, Target
from exporter.deploy.handoff.place import MANIFEST, README
from exporter.deploy.handoff.record import Earlier, FileFacts, Record, VersionRecord, version_number
from exporter.deploy.handoff.rows.decide import decide
from exporter.deploy.runtimes.matrix import Matrix
from exporter.engines.consumers.base import name_of
from exporter.engines.consumers.base import names as consumers
from exporter.process.workers import Setting


@dataclass(frozen=True)
class Wish:
    """What is asked for: the target, which variant, as which version of the model, and the runtimes to tell of.

    `accepts_waivers`: what the bundle's own waivers cover may fail. `device` is for runtimes of devices.
    """

    target: str
    variant: str | None = None
    number: int | None = None
    matrix: Matrix | None = None
    accepts_waivers: bool = False
    device: OnDevice = field(default_factory=OnDevice)


@dataclass(frozen=True)
class HandedOver:
    """A finished folder, the variant in it, whether it has been run here, and whether it was there before (`new`).

    `rows` says whether a server may compute several requests in one run; None where the target is none that could.
    """

    folder: Path
    target: str
    variant: str
    proof: Proof
    new: bool
    rows: Rows | None = None


def hand_over(bundle: Bundle, wish: Wish, out: Path, setting: Setting) -> HandedOver:
    """Write the folder `out` for a target, or add a version to the repository there, from a bundle that passed.

    Nothing is overwritten: what is there may only be the same.

    Raises:
        UsageError: no such target or variant, the target cannot serve this bundle, or `out` holds something else.
        EnvironmentLacks: the target proves itself by running, and cannot run here.
        ModelError: it ran here and computed something else.
        BundleError: a file of the bundle was changed meanwhile.
    """
    if unfit(bundle):
        raise ValueError("only a bundle that passed may be handed over; the caller looks first")
    _refuse_what_runs_nowhere_here(wish.target)
    plugin = TARGETS[wish.target]
    if wish.number is not None and not plugin.versions:
        raise UsageError(
            f"{wish.target} holds one model, without versions", where="--model-version", hint="leave it out"
        )
    if str(wish.device) and not plugin.on_device:
        what = f"{wish.device} is for runtimes of devices, and {wish.target} is none"
        raise UsageError(what, where="exporter handoff", hint="leave it out, or choose another target")
    name = _variant(bundle, wish.target, plugin, wish.variant)
    chosen = Chosen(bundle, name, wish.number or 1, setting.limits, None, wish.accepts_waivers, wish.device)
    _refuse_bundle(out, bundle)
    with translated(out):
        there = places.earlier(out, wish.target)
    if plugin.joins:
        setting.say(f"looking whether rows of {name} follow from each other")
        chosen = replace(chosen, rows=decide(chosen, setting))
    # Beside others in a repository: it may be a disk of its own, and a rename does not leave a disk.
    with sibling(out / "handoff" if there and plugin.versions else out) as draft:
        draft.mkdir()
        written = _lay_out(plugin.layout(chosen), draft)
        record = Record(wish.target, chosen, _files(draft, written, bundle), Proof(False, "not yet"), {})
        version = plugin.version_folder(chosen)
        if there is not None:
            _refuse_unlike(draft, out, version, record.files)
        write_json(draft / MANIFEST, record.content())
        setting.say(f"handing {chosen.name} to {wish.target}")
        proof = plugin.prove(draft, chosen, setting.limits)
        with translated(out):
            new = _put(draft, out, there, _Finished(plugin, wish, replace(record, verified_here=proof), version))
    return HandedOver(out, wish.target, chosen.name, proof, new, chosen.rows)


@dataclass(frozen=True)
class _Finished:
    """A draft that has been proven: what its record says, and the folder of its version in a repository."""

    plugin: Target
    wish: Wish
    record: Record
    version: str


def _refuse_what_runs_nowhere_here(target: str) -> None:
    """Raises EnvironmentLacks for a consumer that is known, and that no target of ours runs."""
    name = name_of(target)
    if name in consumers() and name.replace("-", "_") not in TARGETS.names():
        raise EnvironmentLacks(
            f"nothing here runs {name}, so nothing would show that what it is handed computes the same",
            where="--to",
            hint=f"ask exporter targets BUNDLE --target {name} what it takes, and a device by exporter kit BUNDLE",
        )


def _refuse_unlike(draft: Path, out: Path, version: str, files: Collection[str]) -> None:
    """Before anything is run: raises UsageError where what is there is another hand-over, or does not fit."""
    if version:
        places.refuse_unfit(draft, out, version, files)
    else:
        places.refuse_other(draft, out, files)


def _put(draft: Path, out: Path, there: Earlier | None, done: _Finished) -> bool:
    """Put a draft in its place, with its record and README; false where all of it was there already."""
    if there is None or not done.version:
        _write_record(draft, done, None)
        if there is None:
            place_folder(draft, out)
            return True
        places.refuse_other(draft, out, places.files_in(draft))
        places.refuse_more(draft, out)
        return False
    with locked(out):
        new = places.add_version(draft, out, done.version, done.record.files)
        there = places.earlier(out, done.wish.target)
        if new or there is None or done.version not in there.versions:  # a kill may have come before its record
            _write_record(out, done, there)
            return True
    return False


def _write_record(folder: Path, done: _Finished, before: Earlier | None) -> None:
    """Write MANIFEST.json and README.md: of this hand-over, and in a repository of all versions in it."""
    record, before = done.record, before or Earlier({}, {})
    if done.version:
        versions = {**before.versions, done.version: record.version}
        record = replace(record, versions=versions, files={**before.files, **_as_they_are(folder, record.files)})
    write_json(folder / MANIFEST, record.content())
    replace_bytes(folder / README, _readme(done, record.versions).encode())


def _as_they_are(folder: Path, files: Mapping[str, FileFacts]) -> dict[str, FileFacts]:
    """Return files with the digests that they have: a shared one was kept, and may differ in its comments."""
    return {
        name: FileFacts(facts.origin, sha256_file(folder / name), (folder / name).stat().st_size)
        for name, facts in files.items()
    }


def _variant(bundle: Bundle, target: str, plugin: Target, wanted: str | None) -> str:
    """The one that is wanted, or the first that the target takes: plain precision before others."""
    variants = bundle.manifest.variants
    if wanted is not None and wanted not in variants:
        hint = did_you_mean(wanted, variants)
        raise UsageError(f"the bundle has no variant '{wanted}'", where=str(bundle.folder), hint=hint)
    able = [name for name, one in variants.items() if one.format in plugin.formats and wanted in (None, name)]
    if not able:
        had = wanted or ", ".join(variants)
        raise UsageError(
            f"{target} takes {' or '.join(plugin.formats)}, not {had}",
            where=str(bundle.folder),
            hint="add the format to the spec and release again, or choose another target",
        )
    rank = {one: place for place, one in enumerate(plugin.formats)}
    return min(able, key=lambda name: (rank[variants[name].format], variants[name].precision != "fp32", name))


def _refuse_bundle(out: Path, bundle: Bundle) -> None:
    """Nothing is written into the bundle itself, nor in the place of a folder around it."""
    if out.resolve().is_relative_to(bundle.folder.resolve()) or bundle.folder.resolve().is_relative_to(out.resolve()):
        raise UsageError("lies in the bundle, or around it", where=str(out), hint="choose another --out")


def _lay_out(files: Mapping[str, bytes | Path], into: Path) -> dict[str, Path | None]:
    """Write every file; return by its path which file of the bundle it is, None where it was made."""
    for name, content in files.items():
        path = into / safe_relative(name, "the layout")
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            shutil.copyfile(content, path)
    return {name: content if isinstance(content, Path) else None for name, content in files.items()}


def _files(draft: Path, written: Mapping[str, Path | None], bundle: Bundle) -> dict[str, FileFacts]:
    """Return where each file comes from (`made` for this target, or a path in the bundle), its sha256 and size.

    Raises:
        BundleError: a copy is not the file that was sealed.
    """
    facts = {}
    for name, origin in sorted(written.items()):
        source = origin.relative_to(bundle.folder).as_posix() if origin else "made"
        digest = sha256_file(draft / name)
        if origin and digest != bundle.manifest.files[source].sha256:
            hint = "do not use this bundle; ask for a fresh one"
            raise BundleError("was changed while it was handed over", where=str(origin), hint=hint)
        facts[name] = FileFacts(source, digest, (draft / name).stat().st_size)
    return facts


def _readme(done: _Finished, versions: Mapping[str, VersionRecord]) -> str:
    chosen, proof, matrix = done.record.chosen, done.record.verified_here, done.wish.matrix
    bundle = chosen.manifest
    lines = [
        f"# {bundle.name} {bundle.version} for {done.wish.target}",
        "",
        f"Verified here: {proof.word} ({proof.how}).",
        *(["", f"Partial: {proof.partial}."] if proof.partial else []),
        *(["", f"Only generated, and not run here: {proof.generated}."] if proof.generated else []),
        "",
        f"From the bundle with the digest `{bundle.digest}`, variant {chosen.name}. {MANIFEST} lists every file, and",
        "which file of the bundle it is.",
        "",
        *_joining(done.plugin, chosen.rows),
        "| | name in requests | dtype | shape |",
        "|:--|:--|:--|:--|",
        *(_row("input", *pair) for pair in zip(bundle.inputs, chosen.variant.inputs, strict=True)),
        *(_row("output", *pair) for pair in zip(bundle.outputs, chosen.variant.outputs, strict=True)),
        "",
        *(f"- {name}: {dim['min']} to {dim['max']}" for name, dim in bundle.dims.items()),
        *[""] * bool(bundle.dims),
        *(["## Runtimes in which the bundle was verified", "", matrix.markdown(), ""] if matrix else []),
        *_version_table(versions),
        "## Start",
        "",
        done.plugin.start.format(name=bundle.name, number=chosen.number).strip("\n"),
        "",
    ]
    return "\n".join(lines)


def _joining(plugin: Target, rows: Rows | None) -> list[str]:
    """Whether the server may compute several requests in one run, and the setting that would have it do so."""
    if rows is None:
        return []
    return [f"Rows: {rows}.", "", f"What has the server join requests: {plugin.joins}.", ""]


def _version_table(versions: Mapping[str, VersionRecord]) -> list[str]:
    """The versions of a repository, of all its models; no lines where it is none."""
    if not versions:
        return []
    rows = [
        f"| {path} | {own.bundle.name} {own.bundle.version}, `{own.bundle.digest[:16]}` |"
        f" {own.variant.name} | {own.verified_here.word} |"
        for path, own in sorted(
            versions.items(), key=lambda item: (item[0].rpartition("/")[0], version_number(item[0]))
        )
    ]
    head = ["| folder | bundle | variant | verified here |", "|:--|:--|:--|:--|"]
    return ["## Versions in this repository", "", *head, *rows, ""]


def _place(path: str) -> tuple[str, int]:
    """Return what orders the folders of versions: the model's folder, then the number."""
    return path.rpartition("/")[0], version_number(path)


def _row(side: str, one: Tensor, native: str) -> str:
    name = native if native == one.name else f"{native} (the bundle calls it {one.name})"
    return f"| {side} | {name} | {one.dtype} | [{', '.join(map(str, one.shape))}] |"
