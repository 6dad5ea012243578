"""The kinds of hostile bundles: each changes a copy of a sound one, by chance, and says what it did."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from evals.hostile import goldens, made, programs
from evals.hostile.aimed import numbers, quantised, stated, steps, weakened
from evals.hostile.aimed import programs as computed
from evals.hostile.aims import Aim, Made, reader
from evals.hostile.bases import Base
from evals.hostile.seal import ALL, digests_again, seal
from evals.hostile.structure import VALUES, mutate, mutate_text
from exporter.bundle.layout import REPORT
from exporter.bundle.manifest import BOM, PROVENANCE

#: Parts of the documents that the bundle says as well, or could.
_STATED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    PROVENANCE: (
        ("subject",),
        ("predicate", "buildDefinition", "externalParameters"),
        ("predicate", "buildDefinition", "internalParameters"),
        ("predicate", "runDetails"),
    ),
    BOM: (("components",), ("metadata",)),
}
#: Changes the copy in the folder; what it does outside would show at the given path, where nothing may come to lie.
Kind = Callable[[Base, Path, Random, Path], Made]
_PROOFS = frozenset(("weights", "outputs", "agreement", "interface", "process", "snr_db", "top1", "size", "overflow"))
#: Bytes that were changed: by what reads the file, by the digests of its tensors, or by what it computes.
_BYTES = Aim("bytes of a program", _PROOFS, r"model\.(onnx|json|pdmodel|pdiparams)")
_GOLDENS = Aim("goldens", frozenset(("outputs", "snr_db")), r"golden\.safetensors|goldens")
_INTEGRITY = reader("integrity", ".")
_OPERATORS = Aim("reader: operators", frozenset(("outputs", "process")), r"operator|program|model\.json")
_EXCHANGED = Aim("a file exchanged", _PROOFS | {"pipeline"}, r"\.(json|onnx|pdmodel|pdiparams|safetensors|py)")


def damaged(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """Nothing is sealed again: bits, ends, files that are gone, come, or are no files."""
    path = random.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    way = random.choice(("bent", "bent", "cut", "gone", "more", "link", "pipe", "folder", "swapped", "empty"))
    if way == "bent":
        return Made(programs.bent(path, random), _INTEGRITY)
    if way == "cut":
        os.truncate(path, random.randrange(path.stat().st_size))
    elif way in ("gone", "link", "pipe", "folder", "empty"):
        path.unlink()
        made.put(path, way, base.folder / path.relative_to(folder))
    elif way == "more":
        made.stowaway(folder, random)
    else:
        other = random.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
        content = path.read_bytes()
        path.write_bytes(other.read_bytes())
        other.write_bytes(content)
    return Made(f"{path.name}: {way}", _INTEGRITY)


def manifest(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """Structural mutations of the manifest, sealed again."""
    content = base.manifest
    said = "; ".join(mutate(content, random) for _ in range(random.choice((1, 1, 1, 2, 4))))
    seal(folder, content, keep=("files",))
    return Made(said)


def spec(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """Of the spec in it, and of what the manifest says beside it in the same words."""
    content = base.manifest
    said = mutate(content["spec"], random)
    for key in ("name", "budget", "dims", "waivers"):
        if random.random() < 0.5:
            content[key] = content["spec"].get(key, content[key])
    seal(folder, content, keep=("files",))
    return Made(said)


def text(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """What no writer of ours writes: NaN, half a surrogate pair, depths and numbers without end."""
    name = random.choice(("manifest.json", "parity.json"))
    content, said = mutate_text(json.loads((base.folder / name).read_bytes()), random)
    (folder / name).write_bytes(content)
    if name == "parity.json":
        seal(folder, base.manifest, keep=(REPORT,))
    return Made(f"{name}: {said}", reader("text", name.replace(".", r"\.")))


def report(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """Structural mutations of parity.json, sealed again."""
    content = json.loads((base.folder / "parity.json").read_bytes())
    if random.random() < 0.2:
        content = random.choice(VALUES)
        said = f"parity.json is {content!r}"[:200]
    else:
        said = mutate(content, random)
    (folder / "parity.json").write_bytes(json.dumps(content).encode("utf-8", "surrogatepass"))
    seal(folder, base.manifest, keep=(REPORT,))
    return Made(said)


def documents(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """Provenance and bill of materials, of which nothing is made right again but the hashes."""
    name = random.choice((PROVENANCE, BOM))
    if not (folder / name).is_file():
        return manifest(base, folder, random, _outside)
    content = json.loads((folder / name).read_bytes())
    whole, inner = content, content
    for key in random.choice(_STATED[name]):
        inner = inner[key]
    said = mutate(inner if random.random() < 0.7 else whole, random)
    (folder / name).write_bytes(json.dumps(whole).encode("utf-8", "surrogatepass"))
    seal(folder, base.manifest, keep=(PROVENANCE, BOM))
    return Made(f"{name}: {said}")


def golden(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """The names, dtypes and header of the goldens, sealed again."""
    said = random.choice((goldens.names, goldens.header))(folder, random)
    seal(folder, base.manifest)
    return Made(said, _GOLDENS)


def program(base: Base, folder: Path, random: Random, outside: Path) -> Made:
    """A program, sealed again, mostly with the digests of its tensors too."""
    way = random.choice(("bent", "bent", "structure", "operator", "outside", "endless"))
    onnx, pir = programs.first(folder, "*.onnx", random), programs.first(folder, "pir/model.json", random)
    aim = _BYTES
    if way == "structure" and pir:
        said = programs.restructured(pir, random)
    elif way == "operator" and random.random() < 0.4 and (legacy := next(folder.rglob("*.pdmodel"), None)):
        said, aim = programs.pdmodel_operator(legacy, random, outside), _OPERATORS
    elif way == "operator" and pir and random.random() < 0.5:
        said, aim = programs.pir_operator(pir, random), _OPERATORS
    elif way == "operator" and onnx:
        said, aim = programs.onnx_operator(onnx, random), _OPERATORS
    elif way == "outside" and onnx:
        said, aim = programs.onnx_outside(onnx, random), reader("external data", "another file|unsafe path")
    elif way == "endless" and onnx and random.random() < 0.3:
        said, aim = programs.without_end(onnx, random), reader("size of a program", "more than|levels|too|most")
    else:
        said = programs.bent(programs.program_of(folder, random), random)
    return Made(f"{said}; {_sealed(base, folder, random)}", aim)


def weights(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """Parameters, sealed again, mostly with their digests too."""
    paths = sorted((*folder.rglob("*.pdiparams"), *folder.rglob("*.onnx")))
    path = random.choice(paths)
    way = programs.bent if random.random() < 0.3 else programs.tensor_changed
    return Made(f"{way(path, random)}; {_sealed(base, folder, random)}", _BYTES)


def exchanged(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """The file of one variant in the place of another's, sealed again."""
    free = ("manifest.json", "report.html")
    path = random.choice(sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in free))
    other = random.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    shutil.copyfile(other, path) if other != path else path.write_bytes(b"")
    keep = [name for name in ALL if name == path.name]
    said = f"{path.relative_to(folder)} is {other.relative_to(folder)}; {_sealed(base, folder, random, keep)}"
    return Made(said, _EXCHANGED)


def _sealed(base: Base, folder: Path, random: Random, keep: Sequence[str] = ()) -> str:
    content = base.manifest
    if again := random.random() < 0.7:
        digests_again(folder, content)
    seal(folder, content, keep)
    return "with the digests of its tensors" if again else "with the hashes of its files"


#: Name -> the kind, how many of each thousand bundles are of it, and the bases that it can be made of.
KINDS: Mapping[str, tuple[Kind, int, tuple[str, ...]]] = {
    # what aims at a proof
    "fault": (computed.fault, 90, ()),
    "retrained": (computed.retrained, 25, ()),
    "operator": (computed.operator, 35, ()),
    "wrong graph": (computed.wrong_graph, 20, ()),
    "outputs swapped": (computed.swapped_outputs, 15, ("tagged",)),
    "renamed": (computed.renamed, 10, ()),
    "goldens: outputs": (numbers.outputs, 30, ()),
    "goldens: one side": (numbers.one_side, 12, ()),
    "goldens: inputs": (numbers.inputs, 15, ()),
    "goldens: cases": (numbers.cases, 20, ()),
    "goldens: dtypes": (numbers.dtypes, 12, ()),
    "goldens: controls": (numbers.controls, 12, ("whole", "plain", "stored", "low")),
    "wrong, weakened": (weakened.wrong_and_weakened, 70, ()),
    "wrong, weakened twice": (weakened.wrong_and_weakened_twice, 30, ()),
    "weakened": (weakened.only_weakened, 25, ()),
    "stated: shape": (stated.shape, 20, ()),
    "stated: natives": (stated.natives, 20, ()),
    "stated: parameters": (stated.parameters, 8, ()),
    "stated: beside": (stated.beside, 25, ()),
    "stated: larger": (stated.larger, 15, ()),
    "stated: report": (stated.report, 20, ()),
    "stated: documents": (stated.documents, 35, ()),
    "stated: schema": (stated.schema, 15, ()),
    "stated: script": (stated.script, 30, ()),
    "steps": (steps.steps, 18, ("stored",)),
    "samples": (steps.samples, 8, ("stored",)),
    "int8: codes": (quantised.codes, 12, ("low",)),
    "int8: graph": (quantised.graph, 8, ("low",)),
    "int8: layers": (quantised.layers, 10, ("low",)),
    "int8: budget": (quantised.budget, 8, ("low",)),
    # what aims at the reader, or at nothing but a crash
    "damaged": (damaged, 40, ()),
    "manifest": (manifest, 60, ()),
    "spec": (spec, 30, ()),
    "text": (text, 25, ()),
    "report": (report, 10, ()),
    "documents": (documents, 20, ()),
    "golden": (golden, 40, ()),
    "program": (program, 50, ()),
    "weights": (weights, 12, ()),
    "exchanged": (exchanged, 10, ()),
    "by hand": (damaged, 70, ()),  # its place: `plan` names the trick
}
#: How many of ten bundles are made of each sound one; a verify of the last takes twice as many engines.
SHARES: Mapping[str, float] = {"whole": 0.5, "plain": 5.5, "tagged": 2, "low": 1.5, "stored": 0.5}


@dataclass(frozen=True)
class Wanted:
    """One hostile bundle: what it is made of, how, and by which chance."""

    number: int
    kind: str
    base: str
    seed: int

    def make(self, base: Base, folder: Path, outside: Path) -> Made:
        """Make it in a folder that does not exist yet; return what was done, and what has to catch it."""
        shutil.copytree(base.folder, folder)
        name, _, trick = self.kind.partition(": ")
        if name == "by hand":
            made.MADE[trick](base, folder, outside)
            return Made(trick, made.aim_of(trick))
        return KINDS[self.kind][0](base, folder, Random(f"{self.seed}/{self.number}"), outside)


def plan(count: int, seed: int, names: Sequence[str]) -> list[Wanted]:
    """So many bundles of all kinds and of every base, each trick by hand at least once where there is room."""
    random, tricks = Random(seed), sorted(made.MADE)
    random.shuffle(tricks)
    pack = [
        kind for kind, (_, share, able) in KINDS.items() for _ in range(share) if not able or set(able) & set(names)
    ]
    random.shuffle(pack)
    wanted = []
    for number in range(count):
        kind = pack[number % len(pack)]
        able = [name for name in names if name in (KINDS[kind][2] or names)]
        base = random.choices(able, [SHARES[name] for name in able])[0]
        if kind == "by hand":
            trick = tricks.pop() if tricks else random.choice(sorted(made.MADE))
            kind, base = f"{kind}: {trick}", names[0]
        wanted.append(Wanted(number, kind, base, seed))
    return wanted
