"""When a mutation is harmless: a bundle that passes differs from the sound one in nothing that verify can compute.

It may differ in what nobody can compute from the bundle: what it says of its origin, of its methods, of metrics that
were measured at its release, names of versions and producers, the page for people. Whatever else differs has to compute
the same: each program is run on inputs that no golden holds, and has to give what the sound one gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from evals.hostile.bases import Base
from evals.hostile.fresh import differ
from evals.hostile.seal import files_of
from exporter.base.errors import ExporterError
from exporter.base.readers import read
from exporter.bundle.layout import INFER, PIPELINE, VERIFY
from exporter.spec.model import Spec

#: Places of the manifest that no proof rests on, dotted; what stands below is free as well.
FREE = re.compile(
    r"digest|files\..*|provenance(\..*)?|notes(\..*)?|not_reproducible(\..*)?|version|spec\.version"
    r"|left_out(\..*)?|spec\.(targets|golden_mb|device|opset|seed|model|args|prune)(\..*)?|name|spec\.name"
    r"|cases\.\d+\.outputs\.[^.]+\.(method|exact|scale_max|scale_l2|e_ref_max|e_ref_l2|allowance|gate|scores)(\..*)?"
    r"|variants\.[^.]+\.(details|origins|weights)(\..*)?|parameters(\..*)?|schema"
    r"|spec\.inputs\.[^.]+\.values|spec\.precisions\.[^.]+\..*|outputs\.\d+\.shape.*|budget|spec\.budget"
)
#: Relative to the largest recorded value: beyond any tolerance here, goldens that were changed no longer fit.
NEAR = 1e-4


def why_harmful(base: Base, bundle: Path) -> str:
    """Why a bundle that passed must not; empty where the difference does no harm."""
    content = json.loads((bundle / "manifest.json").read_bytes())
    filled = {**content, "spec": _with_defaults(content["spec"], base.manifest["spec"])}
    for place in changed(base.manifest, filled):
        if not FREE.fullmatch(place):
            return f"{place} differs"
    return _documents(content, bundle) or _goldens(base, bundle) or _report(base, bundle) or _programs(base, bundle)


def _with_defaults(spec: dict[str, Any], sound: dict[str, Any]) -> dict[str, Any]:
    """The spec with the keys that it leaves out, and whose defaults are what the sound one says."""
    filled = Spec.model_validate(spec).model_dump(mode="json")
    return {**spec, **{key: filled[key] for key in sound if key not in spec and filled.get(key) == sound[key]}}


def changed(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Dotted places at which two JSON values differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}, key=str):
            yield from changed(old.get(key), new.get(key), f"{place}.{key}" if place else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (was, now) in enumerate(zip(old, new, strict=True)):
            yield from changed(was, now, f"{place}.{at}")
    elif old != new or type(old) is not type(new):
        yield place


def _documents(content: dict[str, Any], bundle: Path) -> str:
    """The files that both documents list are those that lie there; and they are about this spec and this name."""
    if not content.get("documents"):
        return ""
    statement, bill = (json.loads((bundle / name).read_bytes()) for name in ("provenance.intoto.json", "bom.cdx.json"))
    later = ("manifest.json", "provenance.intoto.json", "bom.cdx.json", VERIFY, INFER, PIPELINE)
    there = {name: facts["sha256"] for name, facts in files_of(bundle).items() if name not in later}
    listed = [{part["name"]: part["digest"]["sha256"] for part in statement["subject"]}]
    listed += [{part["name"]: part["hashes"][0]["content"] for part in bill["components"] if part["type"] == "file"}]
    if listed != [there, there] or len(statement["subject"]) != len(there):
        return "its documents list other files"
    about = bill["metadata"]["component"]
    said = (statement["predicate"]["buildDefinition"]["externalParameters"]["spec"], about["name"], about["version"])
    return "" if said == (content["spec"], content["name"], content["version"]) else "its documents are about another"


def _goldens(base: Base, bundle: Path) -> str:
    old, new = (load_file(folder / "golden.safetensors") for folder in (base.folder, bundle))
    named = {case["name"] for case in base.manifest["cases"]}
    used = {name for name in old if name.split("/")[0] in named}
    if gone := sorted(used - set(new)):
        return f"the goldens lack {gone[0]}"
    for name in sorted(used):
        was, now = old[name], new[name]
        if (was.dtype, was.shape) != (now.dtype, now.shape):
            return f"{name} of the goldens is {now.dtype}{list(now.shape)}"
        scale = float(np.abs(was.astype("float64")).max(initial=1e-30))
        off = float(np.abs(now.astype("float64") - was.astype("float64")).max(initial=0.0)) / scale
        if not off <= NEAR and "/input/" not in name:
            return f"{name} of the goldens is off by {off:.1e}"
    return ""


def _report(base: Base, bundle: Path) -> str:
    old, new = (json.loads((folder / "parity.json").read_bytes()) for folder in (base.folder, bundle))
    told = [check["outcome"] for check in new["checks"]]
    if new["verdict"] != old["verdict"] or new["planned"] != len(told) or set(told) - {"match", "waived"}:
        return "its report says otherwise"
    return ""


def _programs(base: Base, bundle: Path) -> str:
    for name, variant in base.manifest["variants"].items():
        pairs = [(base.folder / file, bundle / file) for file in variant["files"]]
        if all(old.read_bytes() == new.read_bytes() for old, new in pairs):
            continue
        try:
            facts = [[read(path) for path in side] for side in zip(*pairs, strict=True)]
        except ExporterError as error:
            return f"{name} cannot be read: {error}"
        for old, new in zip(*facts, strict=True):
            if (old.inputs, old.outputs) != (new.inputs, new.outputs):
                return f"{name} takes or gives something else"
        if why := differ(base, bundle, name):
            return f"{name} {why}"
    return ""
