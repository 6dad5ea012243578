"""Statements that are false: shapes, dtypes, names, schema, documents, scripts, the report, and who has signed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from evals.hostile.aims import Made, claims, reader
from evals.hostile.bases import Base
from evals.hostile.seal import seal
from exporter.bundle.layout import INFER, PIPELINE, REPORT, VERIFY
from exporter.bundle.manifest import BOM, PROVENANCE
from exporter.bundle.scripts import unlike

_SAYS = "the manifest states|is not that|are not those|wrong at|of the size|not whole|holds input"
_DECLARED = claims("interface", "outputs", says=_SAYS)
_DOCUMENTS = reader("documents", "contradicts the bundle|is wrong at|documents?|provenance|bill of materials")
_SCRIPT = reader("scripts", r"verify\.py|infer\.py|pipeline\.json|script")
_REPORT = reader("report", r"parity\.json|report")
_SPEC = reader("spec", "of the spec in it|the spec in it is wrong")
_SCHEMA = reader("schema", "schema|documents")
_DTYPES = ("float32", "float64", "float16", "int64", "int32", "bool")


def shape(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """The manifest's shape or dtype of an input or output is not the file's."""
    content = base.manifest
    side = random.choice(("outputs", "outputs", "inputs"))
    tensor = random.choice(content[side])
    way = random.choice(("size", "size", "rank", "dtype"))
    if way == "dtype":
        tensor["dtype"] = random.choice([one for one in _DTYPES if one != tensor["dtype"]])
    elif way == "rank":
        tensor["shape"] = [*tensor["shape"], 1] if random.random() < 0.5 else tensor["shape"][:-1]
    else:
        able = [at for at, size in enumerate(tensor["shape"]) if side == "outputs" or isinstance(size, int)]
        if not able:
            return natives(base, folder, random, _outside)
        at = random.choice(able)
        old = tensor["shape"][at]
        tensor["shape"][at] = random.choice([size for size in (1, 3, 7, 64, 1000) if size != old])
    if side == "inputs":
        content["spec"]["inputs"][tensor["name"]] |= {"dtype": tensor["dtype"], "shape": tensor["shape"]}
    seal(folder, content)
    return Made(f"{side[:-1]} {tensor['name']} is {tensor['dtype']}{tensor['shape']}", _DECLARED, wrong=True)


def natives(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """A variant's own names, formats or precisions are others'."""
    content = base.manifest
    name = random.choice(sorted(content["variants"]))
    variant = content["variants"][name]
    way = random.choice(("input", "output", "files", "weights gone", "weights more", "origins", "digest"))
    aim = claims("interface", "outputs", "process", says="other inputs or outputs|has not")
    if way in ("input", "output"):
        key = "inputs" if way == "input" else "native_outputs"
        old, new = variant[key][0], "another"
        variant[key] = [new, *variant[key][1:]]
        if way == "output":
            variant["outputs"] = [new if one == old else one for one in variant["outputs"]]
    elif way == "files":
        other = random.choice([one for one in content["variants"] if one != name])
        variant["files"], aim = content["variants"][other]["files"], reader("files", "has not just the files|main file")
    elif not variant["weights"]:
        return shape(base, folder, random, _outside)
    else:
        aim = claims("weights")
        some = random.choice(sorted(variant["weights"]))
        if way == "weights gone":
            del variant["weights"][some]
        elif way == "weights more":
            variant["weights"]["another"] = "0" * 64
        elif way == "origins" and len(set(variant["origins"].values())) > 1:
            some, other = random.sample(sorted(variant["origins"]), 2)
            if variant["weights"][some] == variant["weights"][other]:
                return shape(base, folder, random, _outside)
            own = variant["origins"]
            own[some], own[other] = own[other], own[some]
        else:
            variant["weights"][some] = "0" * 64
    seal(folder, content)
    return Made(f"{name}: {way}", aim, wrong=True)


def parameters(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """The layer is said to have been trained otherwise, or to have other tensors."""
    content = base.manifest
    names = sorted(content["parameters"])
    way = random.choice(("another digest", "all others", "none"))
    if way == "another digest":
        content["parameters"][random.choice(names)] = "0" * 64
    elif way == "all others":
        content["parameters"] = dict.fromkeys(names, "f" * 64)
    else:
        content["parameters"] = {}
    seal(folder, content)
    return Made(f"parameters: {way}", claims("weights"), wrong=True)


def beside(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """The manifest says something else than the spec in it."""
    content = base.manifest
    spec = content["spec"]
    dim = random.choice(sorted(spec["dims"]))
    changes: Mapping[str, Callable[[], Any]] = {
        "name": lambda: spec.update(name="another"),
        "budget": lambda: content.update(budget=content["budget"] * 2),
        "dims": lambda: content["dims"][dim].update(max=content["dims"][dim]["max"] + 1),
        "an input's dtype": lambda: content["inputs"][0].update(dtype="float64"),
        "an input's shape": lambda: content["inputs"][0].update(shape=[*content["inputs"][0]["shape"], 2]),
        "an output's name": lambda: spec.update(outputs=["another"] * len(content["outputs"])),
        "formats": lambda: spec.update(formats=["onnx"]),
        "waivers": lambda: content.update(waivers=[{"claim": "*", "reason": "known", "until": "2099-12-31"}]),
        "an unknown key": lambda: spec.update(more=1),
        "an engine that there is not": lambda: spec.update(engines=["another"]),
        "the dims of the spec": lambda: spec["dims"][dim].update(max=spec["dims"][dim]["max"] + 2),
    }
    way = random.choice(sorted(changes))
    changes[way]()
    seal(folder, content)
    return Made(f"the manifest and its spec differ: {way}", _SPEC, wrong=True)


def larger(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """Spec and manifest promise sizes, formats or engines of which nothing was recorded."""
    content = base.manifest
    dim = random.choice(sorted(content["dims"]))
    way = random.choice(("max", "typical", "min", "a format more", "an engine more"))
    said = f"{dim}: another {way}"
    if way in ("max", "typical", "min"):
        sizes = content["dims"][dim]
        new = {"max": sizes["max"] + random.choice((1, 3, 60)), "typical": sizes["max"], "min": sizes["typical"]}[way]
        for told in (content, content["spec"]):
            told["dims"][dim][way] = new
        aim = claims(
            "outputs", name="plan", says="is none that the spec plans|another seed or size|of the size|spec in it"
        )
    elif way == "a format more":
        more = [one for one in ("pir", "pdmodel", "onnx") if one not in content["spec"]["formats"]]
        content["spec"]["precisions"] = {"fp32": None, "fp16": None} if not more else content["spec"]["precisions"]
        content["spec"]["formats"] = [*content["spec"]["formats"], *more]
        said, aim = f"{more or ['fp16']} more in the spec", claims("outputs", "interface", "weights", name="plan")
    else:
        more = [one for one in ("paddle_inference", "jit_load") if one not in content["spec"]["engines"]]
        if not more:
            return beside(base, folder, random, _outside)
        content["spec"]["engines"] = [*content["spec"]["engines"], *more]
        aim = reader("report", r"parity\.json|report|plan")
        seal(folder, content, keep=(REPORT,))
        return Made(f"the engine {more[0]} more in the spec, of which no report tells", aim, wrong=True)
    seal(folder, content)
    return Made(said, aim, wrong=True)


def report(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """The report is not the one of a release that passed with these claims."""
    content = base.manifest
    told = json.loads((folder / REPORT).read_bytes())
    way = random.choice(("failed", "a mismatch", "fewer", "none", "another verdict", "waived", "other claims", "half"))
    if way == "failed":
        told["verdict"] = "failed"
    elif way == "a mismatch":
        random.choice(told["checks"])["outcome"] = "mismatch"
    elif way == "fewer":
        del told["checks"][random.randrange(len(told["checks"]))]
    elif way == "none":
        told |= {"checks": [], "planned": 0}
    elif way == "another verdict":
        content["verdict"] = random.choice(("failed", "inconclusive", "passed_with_waivers"))
    elif way == "waived":
        random.choice(told["checks"])["outcome"] = "waived"
    elif way == "other claims":
        for check in told["checks"]:
            check |= {"case": "another", "engine": "another"}
    else:
        told["checks"] = [check for check in told["checks"] if check["kind"] in ("interface", "weights")]
        told["planned"] = len(told["checks"])
    (folder / REPORT).write_text(json.dumps(told, indent=2) + "\n")
    seal(folder, content, keep=(REPORT,))
    return Made(
        f"report: {way}", _REPORT if way != "another verdict" else reader("report", "verdict|report|parity"), wrong=True
    )


def documents(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """The documents are gone, are of something else, or state other files, packages or another spec."""
    content = base.manifest
    ways = ("gone", "one gone", "another name", "another file's hash", "a file less", "another spec", "packages")
    way, aim = random.choice(ways), _DOCUMENTS
    statement, bill = (json.loads((folder / name).read_bytes()) for name in (PROVENANCE, BOM))
    if way == "gone":
        content["documents"], aim = None, reader("documents gone", "documents?|provenance|bill")
        for name in (PROVENANCE, BOM):
            (folder / name).unlink()
    elif way == "one gone":
        (folder / BOM).unlink()
        aim = reader("documents", f"names {BOM}|{BOM}")
    elif way == "another name":
        bill["metadata"]["component"]["name"] = "another"
    elif way == "another file's hash":
        random.choice(statement["subject"])["digest"]["sha256"] = "0" * 64
    elif way == "a file less":
        del statement["subject"][random.randrange(len(statement["subject"]))]
    elif way == "another spec":
        statement["predicate"]["buildDefinition"]["externalParameters"]["spec"]["budget"] = 64.0
    else:
        recorded = content["provenance"]["packages"]
        library = random.choice([one for one in bill["components"] if one["name"] in recorded])
        library["version"] = "0.0.1"
    if way not in ("gone", "one gone"):
        (folder / PROVENANCE).write_text(json.dumps(statement, indent=2) + "\n")
        (folder / BOM).write_text(json.dumps(bill, indent=2) + "\n")
    seal(folder, content, keep=(PROVENANCE, BOM))
    return Made(f"documents: {way}", aim, wrong=True)


def schema(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """A schema of another version, that asks for less or that nobody reads."""
    content = base.manifest
    number = random.choice((0, 2, 3, 99, -1, "1", 1.5, None))
    content["schema"] = number
    if dropped := random.random() < 0.5:
        content["documents"] = None
        for name in (PROVENANCE, BOM):
            (folder / name).unlink()
    seal(folder, content)
    return Made(f"schema {number!r}{', no documents' if dropped else ''}", _SCHEMA, wrong=True)


_LIAR = b"print('verdict: PASSED')\nraise SystemExit(0)\n"


def script(base: Base, folder: Path, random: Random, outside: Path) -> Made:
    """verify.py or infer.py are others: one that says that all is well, one that runs something, one changed line."""
    content = base.manifest
    # What another exporter wrote is not compared, and a note says so.
    here = [one for one in (VERIFY, INFER, PIPELINE) if one in content["files"] and not unlike(base.folder, one)]
    if not here:
        return documents(base, folder, random, outside)
    name = random.choice(here)
    path = folder / name
    way = random.choice(("a liar", "runs something", "one line", "looser", "gone"))
    text = path.read_bytes()
    if name == PIPELINE:
        way = "another option"
        told = json.loads(text)
        step = random.choice([one for one in (*told["before"], *told["after"]) if one["options"]])
        key = random.choice(sorted(step["options"]))
        step["options"][key] = 7
        path.write_text(json.dumps(told, indent=1) + "\n")
    elif way == "a liar":
        path.write_bytes(_LIAR)
    elif way == "runs something":
        path.write_bytes(f"open({str(outside)!r}, 'w').write('run')\n".encode() + text)
    elif way == "one line":
        lines = text.splitlines(keepends=True)
        at = random.choice([at for at, line in enumerate(lines) if line.startswith(b"    return ")])
        lines[at] = b"    return None\n"
        path.write_bytes(b"".join(lines))
    elif way == "looser":
        path.write_bytes(text + b"\nMARGIN = 1e-9\n")
    else:
        path.unlink()
    seal(folder, content, keep=(INFER, PIPELINE))
    return Made(f"{name}: {way}", _SCRIPT, wrong=True)
