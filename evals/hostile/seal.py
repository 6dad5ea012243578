"""Seal again in full what was changed, as whoever made the bundle could: every file states what the bundle is now.

The report is the one of a release that planned these claims and saw all of them hold; scripts and steps are those of
the spec; provenance and bill of materials list the files; then come the hashes, and the manifest's own digest.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Collection, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from exporter.base.errors import ExporterError
from exporter.bundle import infer
from exporter.bundle.layout import GOLDEN, INFER, PIPELINE, REPORT
from exporter.bundle.manifest import BOM, PROVENANCE, Content, sealed
from exporter.bundle.open import recorded_runs, recorded_spec
from exporter.bundle.subject import subject_in
from exporter.export.lower.stored import stored_digests
from exporter.process.workers import Setting
from exporter.prove.judge.judge import PROOFS, harness_of
from exporter.prove.verdict.claim import Claim
from exporter.prove.verdict.waivers import covering
from exporter.spec.model import Spec
from tests.documents import state_again

#: What reading a document or a manifest of another shape raises.
_NOT_SO = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, ExporterError)
_KEYS = ("kind", "format", "precision", "engine", "case", "output")
#: All that sealing writes; `seal` leaves alone what it is told to keep.
ALL = ("files", REPORT, INFER, PIPELINE, PROVENANCE, BOM)
_Key = tuple[Any, ...]


def files_of(bundle: Path) -> dict[str, dict[str, Any]]:
    """The sizes and hashes of what lies there."""
    return {
        path.relative_to(bundle).as_posix(): {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "size": path.stat().st_size,
        }
        for path in sorted(bundle.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.name not in ("manifest.json", "model.sig")
    }


def seal(bundle: Path, manifest: Mapping[str, Any], keep: Collection[str] = ()) -> None:
    """Write all that states what the bundle is, but what is to be kept as it lies.

    Where the manifest's `files` are kept, those that sealing has written are brought up to date in them.
    """
    content = dict(manifest)
    if REPORT not in keep:
        with contextlib.suppress(*_NOT_SO):
            report_again(bundle, content)
    with contextlib.suppress(*_NOT_SO):
        _origin_again(bundle, content, keep)
    if not {PROVENANCE, BOM} & set(keep):
        with contextlib.suppress(*_NOT_SO):
            state_again(bundle, content)
    if "files" not in keep:
        content["files"] = files_of(bundle)
    elif isinstance(content.get("files"), dict):
        written = [name for name in ALL if name not in keep and (bundle / name).is_file()]
        now = {name: _facts(bundle / name) for name in written if name in content["files"]}
        content["files"] = content["files"] | now
    (bundle / "manifest.json").write_bytes(_sealed(content))


def _origin_again(bundle: Path, content: dict[str, Any], keep: Collection[str]) -> None:
    """Tell of the model of the spec, and where its steps are others write what runs them."""
    spec = Spec.model_validate(content["spec"])
    content["provenance"] = {**content["provenance"], "model": spec.factory}
    before = json.loads((bundle / "manifest.json").read_bytes())["spec"]
    if infer.documents(Spec.model_validate(before)) != infer.documents(spec):
        for name, text in infer.documents(spec).items():
            if name not in keep:
                (bundle / name).write_bytes(text)


def _facts(path: Path) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "size": path.stat().st_size}


def _sealed(content: Mapping[str, Any]) -> bytes:
    try:
        return sealed(dict(content))
    except (ValueError, TypeError, RecursionError):  # what cannot be written canonically is written as it can be
        return json.dumps(content, indent=2).encode()


def report_again(bundle: Path, content: Mapping[str, Any]) -> None:
    """Make the report that of a release which planned the claims of this manifest, and passed.

    Claims on the source are taken over from the sound one, as far as there are such cases and outputs.
    """
    report = json.loads((bundle / REPORT).read_bytes())
    spec, due = _planned(bundle, content)
    sound: dict[_Key, dict[str, Any]] = {tuple(check[key] for key in _KEYS): check for check in report["checks"]}
    cases, outputs = ({one["name"] for one in content[key]} for key in ("cases", "outputs"))
    checks = {key: check for key, check in sound.items() if _of_the_source(check, cases, outputs, content["variants"])}
    some = {check["kind"]: check for check in sound.values()}
    anything = next(iter(sound.values()))
    with_waivers = content["verdict"] == "passed_with_waivers"
    for claim in sorted(due):
        key = tuple(str(getattr(claim, name)) for name in _KEYS)
        check = dict(sound.get(key) or some.get(claim.kind) or anything) | dict(zip(_KEYS, key, strict=True))
        covered = with_waivers and covering(claim, spec.waivers, date.min) is not None
        checks[key] = check | {"outcome": "waived" if covered else "match"}
    outcomes = [check["outcome"] for check in checks.values()]
    counts = {outcome: outcomes.count(outcome) for outcome in report["counts"]}
    report |= {"checks": list(checks.values()), "planned": len(checks), "counts": counts, "verdict": content["verdict"]}
    report |= {"budget": content["budget"], "waivers": content["waivers"]}
    (bundle / REPORT).write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _of_the_source(check: Mapping[str, Any], cases: set[str], outputs: set[str], variants: Collection[str]) -> bool:
    """Whether a check needs the source, and is about a case, an output and a variant that there still are."""
    if check["kind"] == "sublayers":
        return Claim(check["format"], check["precision"]).variant in variants
    known = any(check["case"] == name or check["case"].startswith((f"{name}:again", f"{name}:th")) for name in cases)
    return check["format"] == "source" and (check["kind"] != "outputs" or (known and check["output"] in outputs))


def _planned(bundle: Path, content: Mapping[str, Any]) -> tuple[Spec, frozenset[Claim]]:
    """The spec in the manifest, and the claims that a release of it plans without its source."""
    told = Content.model_validate({key: value for key, value in content.items() if key not in ("files", "digest")})
    spec = recorded_spec(told)
    subject = subject_in(told, spec, (bundle, bundle / GOLDEN), "cpu", None, "no source here")
    harness = harness_of(subject, recorded_runs(spec, with_source=False), Setting())
    return spec, frozenset[Claim]().union(*(proof.plan(harness) for _, proof in PROOFS.all()))


def digests_again(bundle: Path, manifest: dict[str, Any], *, parameters: bool = True) -> None:
    """Make the recorded digests of tensors those of the files, and if `parameters` the layer's own by their origins."""
    for variant in manifest["variants"].values():
        try:
            stored = stored_digests(tuple(variant["files"]), bundle)
        except ExporterError:
            continue
        variant["weights"] = stored
        if parameters:
            manifest["parameters"] |= {own: stored[name] for name, own in variant["origins"].items() if name in stored}
