"""Write what a target wants, say what came from where, run it where that can be done; put it there all at once."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter import __version__
from exporter.bundle.manifest import Tensor
from exporter.bundle.open import Bundle
from exporter.errors import UsageError
from exporter.files import replace_folder, safe_relative, sha256_file, sibling, translated, write_bytes, write_json
from exporter.handoff.base import Chosen, Proof, Target
from exporter.registry import Registry
from exporter.runtimes.matrix import Matrix
from exporter.workers import Setting

TARGETS: Registry[Target] = Registry("exporter.handoff", "target")
MANIFEST, README = "MANIFEST.json", "README.md"
SCHEMA = 1


@dataclass(frozen=True)
class HandedOver:
    """A finished folder, the variant in it, and whether it has been run here."""

    folder: Path
    target: str
    variant: str
    proof: Proof


def hand_over(
    bundle: Bundle,
    target: str,
    out: Path,
    setting: Setting,
    variant: str | None = None,
    matrix: Matrix | None = None,
) -> HandedOver:
    """Write the folder `out` for a target, from a bundle that passed; its README tells the runtimes of `matrix`.

    Raises:
        UsageError: no such target or variant, the target cannot serve this bundle, or `out` holds something else.
        EnvironmentLacks: the target proves itself by running, and cannot run here.
        ModelError: it ran here and computed something else.
    """
    if not bundle.manifest.released:
        raise ValueError("only a bundle that passed may be handed over; the caller looks first")
    plugin = TARGETS[target]
    chosen = Chosen(bundle, _variant(bundle, target, plugin, variant))
    _refuse_strangers(out, bundle)
    with sibling(out) as draft:
        with translated(out):
            draft.mkdir()
            written = _lay_out(plugin.layout(chosen), draft)
        about = {**_about(chosen, target), "files": _files(draft, written, bundle)}
        write_json(draft / MANIFEST, {**about, "verified_here": {"verified": False, "how": "not yet"}})
        setting.say(f"handing {chosen.name} to {target}")
        proof = plugin.prove(draft, chosen, setting.limits)
        write_json(draft / MANIFEST, {**about, "verified_here": {"verified": proof.verified, "how": proof.how}})
        write_bytes(draft / README, _readme(chosen, target, plugin, proof, matrix).encode())
        with translated(out):
            replace_folder(draft, out)
    return HandedOver(out, target, chosen.name, proof)


def _variant(bundle: Bundle, target: str, plugin: Target, wanted: str | None) -> str:
    """The one that is wanted, or the first that the target takes: plain precision before others."""
    variants = bundle.manifest.variants
    if wanted is not None and wanted not in variants:
        known = ", ".join(variants)
        raise UsageError(f"the bundle has no variant '{wanted}'", where=str(bundle.folder), hint=f"it has: {known}")
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


def _refuse_strangers(out: Path, bundle: Bundle) -> None:
    """Neither a user's own files nor the bundle itself are written over; an earlier folder of ours is replaced."""
    if out.resolve().is_relative_to(bundle.folder.resolve()) or bundle.folder.resolve().is_relative_to(out.resolve()):
        raise UsageError("lies in the bundle, or around it", where=str(out), hint="choose another --out")
    if out.exists() and not out.is_dir():
        raise UsageError("is a file", where=str(out), hint="choose another --out")
    if out.is_dir() and any(out.iterdir()) and not (out / MANIFEST).is_file():
        raise UsageError("holds files that are none of ours", where=str(out), hint="choose another --out")


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


def _about(chosen: Chosen, target: str) -> dict[str, Any]:
    bundle, variant = chosen.manifest, chosen.variant
    return {
        "schema": SCHEMA,
        "target": target,
        "exporter": __version__,
        "bundle": {"name": bundle.name, "version": bundle.version, "digest": bundle.digest},
        "variant": {"name": chosen.name, "format": variant.format, "precision": variant.precision},
        "inputs": [_tensor(*pair) for pair in zip(bundle.inputs, variant.inputs, strict=True)],
        "outputs": [_tensor(*pair) for pair in zip(bundle.outputs, variant.outputs, strict=True)],
        "dims": bundle.dims,
        "waivers": list(bundle.waivers),
    }


def _tensor(one: Tensor, native: str) -> dict[str, Any]:
    """What the bundle calls it, and what the artifact calls it (`native`)."""
    return {**one.model_dump(mode="json"), "native": native}


def _files(draft: Path, written: Mapping[str, Path | None], bundle: Bundle) -> dict[str, dict[str, Any]]:
    """Where each file comes from (`made` for this target, or a path in the bundle), its sha256 and size."""
    return {
        name: {
            "from": origin.relative_to(bundle.folder).as_posix() if origin else "made",
            "sha256": sha256_file(draft / name),
            "size": (draft / name).stat().st_size,
        }
        for name, origin in sorted(written.items())
    }


def _readme(chosen: Chosen, target: str, plugin: Target, proof: Proof, matrix: Matrix | None) -> str:
    bundle = chosen.manifest
    word = "yes" if proof.verified else "NO"
    lines = [
        f"# {bundle.name} {bundle.version} for {target}",
        "",
        f"Verified here: {word} ({proof.how}).",
        "",
        f"From the bundle with the digest `{bundle.digest}`, variant {chosen.name}. {MANIFEST} lists every file, and",
        "which file of the bundle it is.",
        "",
        "| | name in requests | dtype | shape |",
        "|:--|:--|:--|:--|",
        *(_row("input", *pair) for pair in zip(bundle.inputs, chosen.variant.inputs, strict=True)),
        *(_row("output", *pair) for pair in zip(bundle.outputs, chosen.variant.outputs, strict=True)),
        "",
        *(f"- {name}: {dim['min']} to {dim['max']}" for name, dim in bundle.dims.items()),
        *[""] * bool(bundle.dims),
        *(["## Runtimes in which the bundle was verified", "", matrix.markdown(), ""] if matrix else []),
        "## Start",
        "",
        plugin.start.format(name=bundle.name).strip(),
        "",
    ]
    return "\n".join(lines)


def _row(side: str, one: Tensor, native: str) -> str:
    name = native if native == one.name else f"{native} (the bundle calls it {one.name})"
    return f"| {side} | {name} | {one.dtype} | [{', '.join(map(str, one.shape))}] |"
