"""Bundles made by hand, one for each trick that somebody has tried or that structure alone does not find."""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from evals.hostile.aims import COMPUTED, NOTHING, Aim, claims, reader
from evals.hostile.bases import Base
from evals.hostile.bombs import BOMBS, ENDLESS, bomb, paddle_bomb
from evals.hostile.graphs import GRAPHS, graph_of
from evals.hostile.seal import ALL, seal
from exporter.bundle.manifest import BOM, PROVENANCE
from tests.command import STORED

#: Modules that something on the way imports.
SHADOWS = ("numpy", "json", "__future__", "typing", "paddle", "onnxruntime", "exporter/process/workers", "payload")
NAMES = ("a\nverdict: PASSED \x1b[2J\u202e", "\udc80\udcff", "x" * 200, " ", "-rf", "a\\b", "$(touch x)", ".hidden")
#: Names in a manifest that lead elsewhere.
ELSEWHERE = ("../x", "/etc/passwd", "a/../b", "a//b", "", ".", "x\0y")


def put(path: Path, way: str, sound: Path) -> None:
    """What lies there in the place of a file."""
    if way == "link":
        path.symlink_to(sound)
    elif way == "pipe":
        os.mkfifo(path)
    elif way == "folder":
        path.mkdir()
    elif way == "empty":
        path.write_bytes(b"")


def stowaway(folder: Path, random: Random) -> None:
    """A file, a folder or a link more, somewhere."""
    place = random.choice(sorted(path for path in (folder, *folder.rglob("*")) if path.is_dir()))
    path = place / random.choice((*NAMES, "numpy.py", "model.pdmodel", "golden.safetensors", "manifest.json.py"))
    while path.exists() or path.is_symlink():
        path = path.with_name(f"{path.name}x")
    way = random.choice(("file", "folder", "link", "pipe"))
    if way == "file":
        path.write_bytes(b"import os\n")
    else:
        put(path, way, Path("/etc/passwd"))


def trap(folder: Path, outside: Path, names: tuple[str, ...] = SHADOWS) -> None:
    """Modules that leave a trace when they are imported."""
    for name in names:
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({os.fspath(outside)!r}, 'a').write({name!r})\n")


def _shadows(base: Base, folder: Path, outside: Path) -> None:
    trap(folder, outside)
    seal(folder, base.manifest)


def _payload(base: Base, folder: Path, outside: Path) -> None:
    """The recorded spec names a module that lies in the bundle, and records its digest."""
    trap(folder, outside, ("payload",))
    content = base.manifest
    content["spec"]["model"] = "payload:build"
    content["provenance"]["code"] = {"payload.py": content["files"]["parity.json"]["sha256"]}
    seal(folder, content)


def _names_payload(base: Base, folder: Path, outside: Path) -> None:
    """It names one that lies in the working folder, beside it."""
    trap(folder.parent, outside, ("payload", "numpy", "onnxruntime", "paddle"))
    content = base.manifest
    content["spec"]["model"] = "payload:build"
    seal(folder, content)


def _listed_name(name: str) -> Callable[[Base, Path, Path], None]:
    def make(base: Base, folder: Path, _outside: Path) -> None:
        content = base.manifest
        content["files"][name] = {"sha256": "0" * 64, "size": 1}
        seal(folder, content, keep=("files",))

    return make


def _many_files(_base: Base, folder: Path, _outside: Path) -> None:
    (folder / "pir").mkdir(exist_ok=True)
    for number in range(20_000):
        (folder / "pir" / f"{number}").touch()


def _deep_folders(_base: Base, folder: Path, _outside: Path) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(400):  # deeper than a path may be long
        os.mkdir("x" * 20, dir_fd=here)
        inner = os.open("x" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def _huge(name: str, size: int) -> Callable[[Base, Path, Path], None]:
    """A file of many bytes that take no room, listed with its size."""

    def make(base: Base, folder: Path, _outside: Path) -> None:
        os.truncate(folder / name, size)
        content = base.manifest
        if name in content["files"]:
            content["files"][name]["size"] = size
            seal(folder, content, keep=ALL)  # nobody hashes 14 TB

    return make


def _keys(place: str, count: int) -> Callable[[Base, Path, Path], None]:
    def make(base: Base, folder: Path, _outside: Path) -> None:
        content: Any = base.manifest
        inner = content[place] if place else content
        inner.update({f"key {number}": number for number in range(count)})
        seal(folder, content, keep=("files",))

    return make


def _long_key(place: str) -> Callable[[Base, Path, Path], None]:
    def make(base: Base, folder: Path, _outside: Path) -> None:
        content: Any = base.manifest
        inner = content[place] if place else content
        inner["k" * 5_000_000] = 1
        seal(folder, content, keep=("files",))

    return make


def _said(*keys: str, value: Any) -> Callable[[Base, Path, Path], None]:
    """A value at a place of the manifest."""

    def make(base: Base, folder: Path, _outside: Path) -> None:
        content = base.manifest
        inner: Any = content
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        seal(folder, content, keep=("files",))

    return make


def _bytes(name: str, content: bytes) -> Callable[[Base, Path, Path], None]:
    def make(base: Base, folder: Path, _outside: Path) -> None:
        (folder / name).write_bytes(content)
        if name != "manifest.json":
            seal(folder, base.manifest, keep=(name,))

    return make


def _nested_spec(base: Base, folder: Path, _outside: Path) -> None:
    content = base.manifest
    inner: dict[str, Any] = {}
    content["spec"]["more"] = inner
    for _ in range(200):
        inner["x"] = {}
        inner = inner["x"]
    seal(folder, content, keep=("files",))


def _twice(base: Base, folder: Path, _outside: Path) -> None:
    whole = (folder / "manifest.json").read_bytes()
    (folder / "manifest.json").write_bytes(whole.replace(b'"budget"', b'"budget": 64,\n  "budget"', 1))
    del base


def _linked_folder(base: Base, folder: Path, _outside: Path) -> None:
    inner = next(path for path in sorted(folder.iterdir()) if path.is_dir())
    shutil.rmtree(inner)
    inner.symlink_to(base.folder / inner.name)


def _all_zero(base: Base, folder: Path, _outside: Path) -> None:
    """Goldens of nothing but zeros, which every artifact of zeros would compute."""
    from safetensors.numpy import load_file, save_file

    tensors = load_file(folder / "golden.safetensors")
    save_file({name: value * 0 for name, value in tensors.items()}, folder / "golden.safetensors")
    seal(folder, base.manifest)


def _one_case(base: Base, folder: Path, _outside: Path) -> None:
    content = base.manifest
    content["cases"] = content["cases"][:1]
    content["left_out"] = {case["name"]: "it tells nothing" for case in base.manifest["cases"][1:]}
    seal(folder, content, keep=("files",))


def _unverified(base: Base, folder: Path, _outside: Path) -> None:
    """As `convert` leaves it: whoever verifies it would have to run the code that it names."""
    content = base.manifest | {"verdict": "unverified", "cases": []}
    for name in ("golden.safetensors", "parity.json", "report.html", "verify.py"):
        (folder / name).unlink()
    seal(folder, content)


def _values_of_a_file(base: Base, folder: Path, _outside: Path) -> None:
    content = base.manifest
    for tensor in content["spec"]["inputs"].values():
        tensor["values"] = "/dev/zero.npy"
    seal(folder, content, keep=("files",))


def _socket(_base: Base, folder: Path, _outside: Path) -> None:
    (folder / "parity.json").unlink()
    here = os.open(folder, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{here}/parity.json")
    os.close(here)


def _hard_links(base: Base, folder: Path, _outside: Path) -> None:
    """Two names of one file, as whoever writes to it later would like."""
    (folder / "report.html").unlink()
    os.link(folder / "parity.json", folder / "report.html")
    seal(folder, base.manifest)


def _two_forms(base: Base, folder: Path, _outside: Path) -> None:
    content = base.manifest
    for name in ("re\u0301port.html", "r\u00e9port.html"):
        content["files"][name] = content["files"]["report.html"]
        shutil.copyfile(folder / "report.html", folder / name)
    seal(folder, content)


def _other_documents(base: Base, folder: Path, _outside: Path) -> None:
    """Those of another bundle, as they are."""
    for path in STORED.glob("*.*.json"):
        shutil.copyfile(path, folder / path.name)
    (folder / "report.html").write_bytes(b"changed")
    seal(folder, base.manifest, keep=(PROVENANCE, BOM))


def _no_documents(base: Base, folder: Path, _outside: Path) -> None:
    content = base.manifest
    content.pop("documents", None)
    seal(folder, content)


WAIVER = {"claim": "*", "reason": "all is well, they say", "until": "2099-12-31"}


def _waived(base: Base, folder: Path, _outside: Path) -> None:
    content = base.manifest
    content["waivers"] = content["spec"]["waivers"] = [WAIVER]
    content["parameters"] = dict.fromkeys(content["parameters"], "0" * 64)
    seal(folder, content, keep=("files",))


MADE: Mapping[str, Callable[[Base, Path, Path], None]] = {
    **{f"bomb: {name}": bomb(name) for name in BOMBS},
    **{f"bomb: {name} in {form}": paddle_bomb(name, form) for name in ENDLESS for form in ("pir", "pdmodel")},
    **{f"graph: {name}": graph_of(name) for name in GRAPHS},
    "modules beside the artifacts": _shadows,
    "a payload in the bundle": _payload,
    "a payload in the working folder": _names_payload,
    **{f"lists {name[:20]!r}": _listed_name(name) for name in (*ELSEWHERE, *NAMES) if "\udc80" not in name},
    "20,000 files": _many_files,
    "folders deeper than a path": _deep_folders,
    "goldens of 14 TB": _huge("golden.safetensors", 14 << 40),
    "parity.json of 14 TB": _huge("parity.json", 14 << 40),
    "manifest.json of 14 TB": _huge("manifest.json", 14 << 40),
    "goldens of 3 GB": _huge("golden.safetensors", 3 << 30),
    "report.html of 3 GB": _huge("report.html", 3 << 30),
    "onnx of 14 TB": _huge("onnx/model.onnx", 14 << 40),
    "onnx of 1 GB": _huge("onnx/model.onnx", 1 << 30),
    "300,000 keys": _keys("", 300_000),
    "300,000 keys in the spec": _keys("spec", 300_000),
    "290,000 parameters": _keys("parameters", 290_000),
    "290,000 dims": _keys("dims", 290_000),
    "290,000 files": _keys("files", 290_000),
    "a key of 5 MB": _long_key(""),
    "a key of 5 MB in the spec": _long_key("spec"),
    "a key of 5 MB in the dims": _long_key("dims"),
    "a spec 200 deep": _nested_spec,
    "a key twice": _twice,
    "a folder that is a link": _linked_folder,
    "goldens of zeros": _all_zero,
    "one case": _one_case,
    "never verified": _unverified,
    "everything waived": _waived,
    "a socket": _socket,
    "files that are links of one another": _hard_links,
    "names that differ in case": _listed_name("ONNX/model.onnx"),
    "a letter in two forms": _two_forms,
    "documents of another bundle": _other_documents,
    "no documents": _no_documents,
    "costs without end": _said("provenance", "costs", value={"onnx/onnxruntime": {"seconds": 1e308, "megabytes": 1}}),
    "costs of nothing": _said("provenance", "costs", value={"onnx/onnxruntime": {"seconds": 0, "megabytes": -1}}),
    "costs of a list": _said("provenance", "costs", value=[1]),
    "a manifest of nothing": _bytes("manifest.json", b""),
    "a manifest of null": _bytes("manifest.json", b"null\n"),
    "a manifest of a list": _bytes("manifest.json", b"[]\n"),
    "a manifest 100,000 deep": _bytes("manifest.json", b"[" * 100_000 + b"]" * 100_000),
    "a manifest of brackets": _bytes("manifest.json", b"[" + b"[]," * 5_000_000 + b"[]]"),
    "a manifest of one number": _bytes("manifest.json", b"9" * 5_000_000),
    "a manifest in UTF-16": _bytes("manifest.json", json.dumps({}).encode("utf-16")),
    "a report of nothing": _bytes("parity.json", b""),
    "a report of null": _bytes("parity.json", b"null"),
    "a report 100,000 deep": _bytes("parity.json", b"[" * 100_000 + b"]" * 100_000),
    "a report of 30 MB": _bytes("parity.json", b'{"checks": [' + b"{}," * 9_000_000 + b"{}]}"),
    "goldens of nothing": _bytes("golden.safetensors", b""),
    "a pickle for goldens": _bytes("golden.safetensors", b"\x80\x04cbuiltins\nopen\n."),
    "a failed release": _said("verdict", value="failed"),
    "checkpoint /proc/kmsg": _said("provenance", "weights", value={"checkpoint": "/proc/kmsg", "sha256": "0" * 64}),
    "checkpoint in the spec": _said("spec", "checkpoint", value="/proc/kmsg"),
    "no provenance": _said("provenance", value={}),
    "a provenance of null": _said("provenance", value={"weights": None, "code": None, "machine": None}),
    "a machine of null": _said("provenance", "machine", value=None),
    "packages of a list": _said("provenance", "packages", value=[1]),
    "values of a file": _values_of_a_file,
    "golden_mb without end": _said("spec", "golden_mb", value=1e300),
    "a seed of 2**32": _said("spec", "seed", value=1 << 32),
    "a dim of 2**62": _said("spec", "dims", "batch", "max", value=1 << 62),
    "engines of nothing": _said("spec", "engines", value=[]),
    "engines without end": _said("spec", "engines", value=[f"engine{number}" for number in range(20_000)]),
    "waivers without end": _said("waivers", value=[WAIVER] * 20_000),
    "targets without end": _said("spec", "targets", value=["x>=1"] * 50_000),
    "a budget of 64": _said("budget", value=64.0),
    "device gpu:999999999999": _said("spec", "device", value="gpu:999999999999"),
}

_OUTSIDE = reader("external data", "another file|unsafe path|training|sparse")
_FILES = reader("files", "listed|lists|folder for none|regular file|symbolic link|missing|forms|case|holds")
_PATHS = reader("paths", "unsafe|path|lists|missing|names")
_BYTES = reader("size", "bytes|hole|more than|large|damaged")
_MANIFEST = reader("manifest", r"manifest|spec in it|parity\.json|goldens|golden\.safetensors|device")
_RUN = Aim("limits of a run", COMPUTED.kinds, "operator|program|too|more than|takes")
_GRAPH = Aim("graph", COMPUTED.kinds | {"interface", "weights"}, r"model\.onnx")
#: How the names of tricks begin -> what has to catch them; the first that fits. What is not here aims at no proof.
AIMS: Mapping[str, Aim] = {
    "bomb: ": _RUN,
    **dict.fromkeys((f"graph: {name}" for name in GRAPHS if "outside" in name), _OUTSIDE),
    "graph: ": _GRAPH,
    "modules beside": _FILES,
    "a payload in the bundle": _FILES,
    "lists ": _PATHS,
    **dict.fromkeys(("20,000 files", "folders deeper", "a folder that is", "a socket", "names that differ"), _FILES),
    **dict.fromkeys(("files that are links", "a letter in two forms"), _FILES),
    **dict.fromkeys((f"{name} of" for name in ("goldens", "parity.json", "report.html", "onnx")), _BYTES),
    **dict.fromkeys(
        ("manifest.json of", "300,000", "290,000", "a key", "a spec 200", "a manifest", "a report"), _MANIFEST
    ),
    "goldens of zeros": claims("outputs"),
    "one case": claims("outputs", says="left out"),
    "never verified": reader("goldens", "goldens"),
    "everything waived": claims("weights", says="waive"),
    "documents of another": reader("documents", "contradicts|documents?"),
    "no documents": reader("documents gone", "documents?|provenance|bill"),
    "a pickle": _MANIFEST,
    "a failed release": reader("report", "verdict"),
    **dict.fromkeys(
        ("costs of", "no provenance", "a provenance", "a machine", "packages of", "values of", "golden_mb"), NOTHING
    ),
    **dict.fromkeys(
        ("a seed of", "a dim of", "engines", "waivers without", "a budget", "device", "checkpoint in"), _MANIFEST
    ),
}


def aim_of(trick: str) -> Aim:
    """What has to catch a trick."""
    exact = AIMS.get(trick)
    return exact or next((aim for name, aim in AIMS.items() if trick.startswith(name)), NOTHING)
