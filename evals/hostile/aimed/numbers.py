"""Goldens that state what no artifact computes, with facts beside them that fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from evals.hostile.aims import Made, claims, reader
from evals.hostile.bases import Base
from evals.hostile.seal import seal
from exporter.base.tensors import Array

GOLDEN = "golden.safetensors"
#: In goldens that were changed, engines fail; where the change shuts the gate, nothing can be shown.
_OUTPUTS = claims("outputs", "snr_db", "top1", says="goldens are not whole|case '")
_PLAN = reader("the plan of cases", "is none that the spec plans|another seed or size|is not of the size|case '")
_ABSENT = claims("outputs", says="is none that the spec plans|left out|lacks|planned|case '")
Tensors = dict[str, Array]
_Change = Callable[[Array, np.random.Generator], Array]


def recorded(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the manifest says of every case that the goldens hold, those that tell nothing among them."""
    return [*content["cases"], *content.get("untelling", ())]


def facts_again(content: dict[str, Any], tensors: Mapping[str, Array]) -> None:
    """Make what the manifest says of each output fit its numbers, as far as it can be computed from them."""
    for case in recorded(content):
        for name, facts in case["outputs"].items():
            truth = tensors.get(f"{case['name']}/truth/{name}")
            eager = tensors[f"{case['name']}/eager/{name}"]
            facts["dtype"] = eager.dtype.name
            if f"{case['name']}/index/{name}" not in tensors:
                facts["shape"] = list(eager.shape)
            if truth is None or not truth.size:
                continue
            scale = float(np.abs(truth).max()), float(np.sqrt(np.mean(np.square(truth))))
            facts["scale_max"], facts["scale_l2"] = (one if np.isfinite(one) else 1.0 for one in scale)
            if scale[0] > 0 and np.isfinite(scale[0]):
                off = np.abs(eager.astype("float64") - truth)
                own = float(off.max()) / scale[0], float(np.sqrt(np.mean(off**2))) / scale[1]
                facts["e_ref_max"] = max(facts["e_ref_max"], own[0]) if np.isfinite(own[0]) else 1.0
                facts["e_ref_l2"] = max(facts["e_ref_l2"], own[1]) if np.isfinite(own[1]) else 1.0


def _bent(value: Array, rng: np.random.Generator) -> Array:
    flat = value.copy().reshape(-1)
    flat[rng.integers(flat.size)] += 1
    return flat.reshape(value.shape)


#: Both eager and truth become this, of one output of one case or of all cases.
_CHANGES: Mapping[str, _Change] = {
    "zeros": lambda value, _: value * 0,
    "sevens": lambda value, _: np.full_like(value, 7),
    "x2": lambda value, _: (value * 2).astype(value.dtype),
    "negated": lambda value, _: value * -1 if value.dtype != bool else ~value,
    "x1.001": lambda value, _: (value * 1.001).astype(value.dtype) if value.dtype.kind == "f" else value + 1,
    "x1.0001": lambda value, _: (value * 1.0001).astype(value.dtype) if value.dtype.kind == "f" else value + 1,
    "one number more": _bent,
    "shuffled": lambda value, rng: rng.permutation(value.reshape(-1)).reshape(value.shape),
    "rows reversed": lambda value, _: value[::-1].copy(),
    "NaN": lambda value, _: value * np.nan if value.dtype.kind == "f" else value + 1,
    "denormal": lambda value, _: np.full_like(value, 1e-42) if value.dtype.kind == "f" else value + 1,
}


def outputs(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """What eager gave and the truth become something else together."""
    tensors, content = load_file(folder / GOLDEN), base.manifest
    case, output = random.choice(content["cases"])["name"], random.choice(content["outputs"])["name"]
    name, everywhere = random.choice(sorted(_CHANGES)), random.random() < 0.3
    changed = False
    for key in list(tensors):
        at, what, own = key.split("/", 2)
        if what in ("eager", "truth") and own == output and (everywhere or at == case):
            value = _CHANGES[name](tensors[key], np.random.default_rng(random.randrange(1 << 30)))
            changed |= value.tobytes() != tensors[key].tobytes()
            tensors[key] = np.ascontiguousarray(value)
    facts_again(content, tensors)
    save_file(tensors, folder / GOLDEN)
    seal(folder, content)
    return Made(
        f"{output} of {'all cases' if everywhere else case}: {name}", _OUTPUTS, wrong=changed and not everywhere
    )


def one_side(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """Only the truth becomes something else, and e_ref is said to be as large as it then is."""
    tensors, content = load_file(folder / GOLDEN), base.manifest
    keys = sorted(key for key in tensors if "/truth/" in key)
    key = random.choice(keys)
    name = random.choice(("x2", "x1.001", "negated", "one number more", "shuffled", "zeros"))
    tensors[key] = np.ascontiguousarray(_CHANGES[name](tensors[key], np.random.default_rng(0)))
    facts_again(content, tensors)
    save_file(tensors, folder / GOLDEN)
    seal(folder, content)
    return Made(f"only the truth {key}: {name}, e_ref accordingly", _OUTPUTS)


def inputs(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """An input that was recorded is another."""
    tensors = load_file(folder / GOLDEN)
    cases = {case["name"] for case in base.manifest["cases"]}
    key = random.choice(sorted(key for key in tensors if "/input/" in key and key.split("/")[0] in cases))
    value = tensors[key]
    way = random.choice(("moved", "rolled", "another's", "one"))
    alike = [name for name in tensors if "/input/" in name and tensors[name].shape == value.shape and name != key]
    if way == "another's" and alike:
        new = tensors[random.choice(sorted(alike))]
    elif way == "one":
        new = value.copy()
        new.reshape(-1)[0] = new.reshape(-1)[0] + 1 if value.dtype.kind == "f" else (new.reshape(-1)[0] + 1) % 20
    elif way == "rolled":
        new = np.roll(value.reshape(-1), 1).reshape(value.shape)
    else:
        new = value + np.float32(0.1) if value.dtype.kind == "f" else (value + 1) % 20
    tensors[key] = np.ascontiguousarray(new.astype(value.dtype))
    save_file(tensors, folder / GOLDEN)
    seal(folder, base.manifest)
    return Made(f"{key}: {way}", _OUTPUTS)


def cases(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """Cases that the spec plans are gone, are another's, or have other sizes, seeds and names."""
    tensors, content = load_file(folder / GOLDEN), base.manifest
    plain = [case for case in content["cases"] if ":" not in case["name"]]
    case = random.choice(plain)
    way = random.choice(
        ("gone", "all but one gone", "another's numbers", "another seed", "another size", "another name")
    )
    aim = _ABSENT
    if way == "gone":
        content["cases"].remove(case)
    elif way == "all but one gone":
        content["cases"] = [case]
        content["left_out"] = {one["name"]: "it tells nothing" for one in base.manifest["cases"] if one is not case}
    elif way == "another's numbers":
        alike = [one for one in plain if one["dims"] == case["dims"] and one is not case]
        if not alike:
            return outputs(base, folder, random, _outside)
        other = random.choice(alike)
        for key in list(tensors):
            if key.startswith(f"{case['name']}/") and "/input/" not in key:
                tensors[key] = tensors[f"{other['name']}/{key.split('/', 1)[1]}"]
        facts_again(content, tensors)
        aim = _OUTPUTS
    elif way == "another seed":
        case["seed"], aim = case["seed"] + random.choice((1, 7, -3)), _PLAN
    elif way == "another size":
        name = random.choice(sorted(case["dims"]))
        case["dims"][name], aim = case["dims"][name] + 1, _PLAN
    else:
        old, new = case["name"], "batch=7"
        case["name"], aim = new, _PLAN
        tensors = {f"{new}{key[len(old) :]}" if key.startswith(f"{old}/") else key: one for key, one in tensors.items()}
    save_file(tensors, folder / GOLDEN)
    seal(folder, content)
    return Made(f"{case['name']}: {way}", aim, wrong=True)


def dtypes(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """An output was recorded in another dtype or shape, and the manifest says so."""
    tensors, content = load_file(folder / GOLDEN), base.manifest
    output = random.choice(content["outputs"])
    way = random.choice([one for one in (*_DTYPES, *_SHAPES) if one != output["dtype"]])
    for case in recorded(content):
        facts = case["outputs"][output["name"]]
        eager, truth = (f"{case['name']}/{what}/{output['name']}" for what in ("eager", "truth"))
        if way in _SHAPES:
            tensors |= {key: _SHAPES[way](tensors[key]).copy() for key in (eager, truth) if key in tensors}
            continue
        facts["exact"] = not way.startswith("float")
        tensors[eager] = tensors[eager].astype(way)
        if facts["exact"]:
            tensors.pop(truth, None)
        else:
            tensors[truth] = tensors[eager].astype("float64")
    output["dtype"] = way if way in _DTYPES else output["dtype"]
    facts_again(content, tensors)
    save_file(tensors, folder / GOLDEN)
    seal(folder, content)
    return Made(f"{output['name']} is recorded as {way}", claims("outputs", "interface"), wrong=True)


_DTYPES = ("float64", "float16", "int64", "int32")
_SHAPES: Mapping[str, Callable[[Array], Array]] = {
    "flat": lambda value: value.reshape(-1),
    "a dim more": lambda value: value[None],
    "twice": lambda value: np.concatenate([value, value]),
}


def controls(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """Goldens by which an impostor passes, and an ONNX program that is one: the same numbers in every case."""
    import onnx
    from onnx import helper, numpy_helper

    tensors, content = load_file(folder / GOLDEN), base.manifest
    output = content["outputs"][0]["name"]
    value = random.choice((1.0, 0.5, -3.25))
    path = folder / "onnx/model.onnx"
    model = onnx.load(path)
    node = next(node for node in model.graph.node if output in node.output)
    node.output[list(node.output).index(output)] = "before"
    for reader_ in model.graph.node:
        for at, name in enumerate(reader_.input):
            reader_.input[at] = "before" if name == output else name
    model.graph.initializer.append(numpy_helper.from_array(np.array([0.0], "float32"), "nothing"))
    model.graph.initializer.append(numpy_helper.from_array(np.array([value], "float32"), "always"))
    model.graph.node.append(helper.make_node("Mul", ["before", "nothing"], ["none"]))
    model.graph.node.append(helper.make_node("Add", ["none", "always"], [output]))
    path.write_bytes(model.SerializeToString())
    for key in tensors:
        if key.split("/", 2)[1] in ("eager", "truth") and key.split("/", 2)[2] == output:
            tensors[key] = np.full_like(tensors[key], value)
    said = [name for name in content["variants"] if name != "onnx"]
    if alone := random.random() < 0.5:  # the other variants are taken out, so that none contradicts
        only_onnx(folder, content)
    if random.random() < 0.5:
        content["constants"] = [output]
        for case in content["cases"]:
            case["outputs"][output]["constant"] = True
    facts_again(content, tensors)
    save_file(tensors, folder / GOLDEN)
    from evals.hostile.aimed.programs import untraced

    untraced(content, folder, "onnx")
    seal(folder, content)
    more = f", {', '.join(said)} taken out" if alone else ""
    return Made(f"{output} is {value} in every golden and in ONNX{more}", claims("outputs", "interface"), wrong=True)


def only_onnx(folder: Path, content: dict[str, Any]) -> None:
    """Take every variant but ONNX out of a bundle and its spec."""
    import shutil

    for name in [name for name in content["variants"] if name != "onnx"]:
        del content["variants"][name]
        shutil.rmtree(folder / name)
    content["spec"] |= {"formats": ["onnx"], "engines": ["onnxruntime"], "precisions": ["fp32"]}
    costs = content["provenance"].get("costs", {})
    content["provenance"]["costs"] = {name: one for name, one in costs.items() if name.startswith("onnx/")}
