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
from evals.hostile.bases import Base
from evals.hostile.seal import digests_again, seal
from evals.hostile.structure import VALUES, mutate, mutate_text
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
Kind = Callable[[Base, Path, Random, Path], str]


def damaged(base: Base, folder: Path, random: Random, _outside: Path) -> str:
    """Nothing is sealed again: bits, ends, files that are gone, come, or are no files."""
    path = random.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    way = random.choice(("bent", "bent", "cut", "gone", "more", "link", "pipe", "folder", "swapped", "empty"))
    if way == "bent":
        return programs.bent(path, random)
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
    return f"{path.name}: {way}"


def manifest(base: Base, folder: Path, random: Random, _outside: Path) -> str:
    """Structural mutations of the manifest, sealed again."""
    content = base.manifest
    said = "; ".join(mutate(content, random) for _ in range(random.choice((1, 1, 1, 2, 4))))
    seal(folder, content, files=False)
    return said


def spec(base: Base, folder: Path, random: Random, _outside: Path) -> str:
    """Of the spec in it, and of what the manifest says beside it in the same words."""
    content = base.manifest
    said = mutate(content["spec"], random)
    for key in ("name", "budget", "dims", "waivers"):
        if random.random() < 0.5:
            content[key] = content["spec"].get(key, content[key])
    seal(folder, content, files=False)
    return said


def text(base: Base, folder: Path, random: Random, _outside: Path) -> str:
    """What no writer of ours writes: NaN, half a surrogate pair, depths and numbers without end."""
    name = random.choice(("manifest.json", "parity.json"))
    content, said = mutate_text(json.loads((base.folder / name).read_bytes()), random)
    (folder / name).write_bytes(content)
    if name == "parity.json":
        seal(folder, base.manifest)
    return f"{name}: {said}"


def report(base: Base, folder: Path, random: Random, _outside: Path) -> str:
    """Structural mutations of parity.json, sealed again."""
    content = json.loads((base.folder / "parity.json").read_bytes())
    if random.random() < 0.2:
        content = random.choice(VALUES)
        said = f"parity.json is {content!r}"[:200]
    else:
        said = mutate(content, random)
    (folder / "parity.json").write_bytes(json.dumps(content).encode("utf-8", "surrogatepass"))
    seal(folder, base.manifest)
    return said


def documents(base: Base, folder: Path, random: Random, _outside: Path) -> str:
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
    seal(folder, base.manifest, documents=False)
    return f"{name}: {said}"


def golden(base: Base, folder: Path, random: Random, _outside: Path) -> str:
    """Goldens, sealed again."""
    said = random.choice((goldens.numbers, goldens.numbers, goldens.names, goldens.header))(folder, random)
    seal(folder, base.manifest)
    return said


def program(base: Base, folder: Path, random: Random, outside: Path) -> str:
    """A program, sealed again, mostly with the digests of its tensors too."""
    way = random.choice(("bent", "bent", "structure", "operator", "outside", "endless"))
    onnx, pir = programs.first(folder, "*.onnx", random), programs.first(folder, "pir/model.json", random)
    if way == "structure" and pir:
        said = programs.restructured(pir, random)
    elif way == "operator" and random.random() < 0.4:
        said = programs.pdmodel_operator(next(folder.rglob("*.pdmodel")), random, outside)
    elif way == "operator" and pir and random.random() < 0.5:
        said = programs.pir_operator(pir, random)
    elif way == "operator" and onnx:
        said = programs.onnx_operator(onnx, random)
    elif way == "outside" and onnx:
        said = programs.onnx_outside(onnx, random)
    elif way == "endless" and onnx and random.random() < 0.3:
        said = programs.without_end(onnx, random)
    else:
        said = programs.bent(programs.program_of(folder, random), random)
    return f"{said}; {_sealed(base, folder, random)}"


def weights(base: Base, folder: Path, random: Random, _outside: Path) -> str:
    """Parameters, sealed again, mostly with their digests too."""
    paths = sorted((*folder.rglob("*.pdiparams"), *folder.rglob("*.onnx")))
    path = random.choice(paths)
    way = programs.bent if random.random() < 0.3 else programs.tensor_changed
    return f"{way(path, random)}; {_sealed(base, folder, random)}"


def exchanged(base: Base, folder: Path, random: Random, _outside: Path) -> str:
    """The file of one variant in the place of another's, sealed again."""
    path = random.choice(sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json"))
    other = random.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    shutil.copyfile(other, path) if other != path else path.write_bytes(b"")
    return f"{path.relative_to(folder)} is {other.relative_to(folder)}; {_sealed(base, folder, random)}"


def _sealed(base: Base, folder: Path, random: Random) -> str:
    content = base.manifest
    if again := random.random() < 0.7:
        digests_again(folder, content)
    seal(folder, content)
    return "with the digests of its tensors" if again else "with the hashes of its files"


#: Name -> the kind, and how many of each hundred bundles are of it.
KINDS: Mapping[str, tuple[Kind, int]] = {
    "damaged": (damaged, 9),
    "manifest": (manifest, 18),
    "spec": (spec, 9),
    "text": (text, 7),
    "report": (report, 7),
    "documents": (documents, 6),
    "golden": (golden, 12),
    "program": (program, 14),
    "weights": (weights, 6),
    "exchanged": (exchanged, 3),
    "by hand": (damaged, 9),  # its place: `plan` names the trick
}
#: How many of ten bundles are made of each sound one; a verify of the others takes more engines.
SHARES: Mapping[str, int] = {"plain": 6, "low": 3, "stored": 1}


@dataclass(frozen=True)
class Wanted:
    """One hostile bundle: what it is made of, how, and by which chance."""

    number: int
    kind: str
    base: str
    seed: int

    def make(self, base: Base, folder: Path, outside: Path) -> str:
        """Make it in a folder that does not exist yet; return what was done."""
        shutil.copytree(base.folder, folder)
        name, _, trick = self.kind.partition(": ")
        if trick:
            made.MADE[trick](base, folder, outside)
            return trick
        return KINDS[name][0](base, folder, Random(f"{self.seed}/{self.number}"), outside)


def plan(count: int, seed: int, names: Sequence[str]) -> list[Wanted]:
    """So many bundles of all kinds and of every base, each trick by hand at least once where there is room."""
    random, tricks = Random(seed), sorted(made.MADE)
    random.shuffle(tricks)
    pack = [kind for kind, (_, share) in KINDS.items() for _ in range(share)]
    wanted = []
    for number in range(count):
        if number % len(pack) == 0:
            random.shuffle(pack)
        kind, base = pack[number % len(pack)], random.choices(list(names), [SHARES[name] for name in names])[0]
        if kind == "by hand":
            trick = tricks.pop() if tricks else random.choice(sorted(made.MADE))
            kind, base = f"{kind}: {trick}", names[0]
        wanted.append(Wanted(number, kind, base, seed))
    return wanted
