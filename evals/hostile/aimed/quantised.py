"""Variants of low precision that are not fp32 rounded, or of which the manifest says what is not so."""

from __future__ import annotations

from pathlib import Path
from random import Random

import onnx
from onnx import numpy_helper

from evals.hostile.aimed.programs import WRONG, any_aim, stored_number
from evals.hostile.aimed.programs import _replaced as replaced
from evals.hostile.aims import Made, claims
from evals.hostile.bases import Base
from evals.hostile.bombs import Graph
from evals.hostile.seal import digests_again, seal

_NUMBERS = any_aim("weights", "snr_db", "top1", "size", "overflow")
_FILE = "onnx-int8/model.onnx"


def codes(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """A stored number of the int8 program is another; digests as released, or made right."""
    content = base.manifest
    name = stored_number(folder / _FILE, random)
    if again := random.random() < 0.6:
        digests_again(folder, content, parameters=False)
    seal(folder, content)
    return Made(f"int8: a number of {name}{', digests made right' if again else ''}", _NUMBERS, wrong=not again)


def graph(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """The int8 program computes something else, or is the fp32 program."""
    content, names = base.manifest, ("negated", "x1.5", "zeros", "absolute", "NaN", "0.01 more", "fp32", "fp32 as int8")
    name = random.choice(names)
    if name.startswith("fp32"):
        (folder / _FILE).write_bytes((folder / "onnx/model.onnx").read_bytes())
        if name == "fp32 as int8":
            content["variants"]["onnx-int8"]["details"].pop("layers")
    else:
        changed = Graph(folder / _FILE)
        replaced(changed, WRONG[name])
        changed.path.write_bytes(changed.model.SerializeToString())
    digests_again(folder, content, parameters=False)
    seal(folder, content)
    small = name == "0.01 more"
    return Made(f"int8: the output is {name}", _NUMBERS, wrong=not small)


def layers(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """What the manifest says of how a layer was rounded is false."""
    content = base.manifest
    name = random.choice([one for one in content["variants"] if one.endswith("int8")])
    told = content["variants"][name]["details"]["layers"]
    layer = random.choice(sorted(told))
    way = random.choice(("gone", "all gone", "weight", "codes", "scales", "axis", "no scales"))
    others = [one for one in told if one != layer]
    if way == "gone":
        del told[layer]
    elif way == "all gone":
        told.clear()
    elif way == "axis":
        told[layer]["axis"] = 1 - told[layer]["axis"]
    elif way == "no scales":
        told[layer]["scales"] = ""
    else:
        told[layer][way] = told[random.choice(others)][way]
    seal(folder, content)
    aim = claims("weights", "size", "snr_db", "overflow", "outputs", name="weights", says="layers?|int8")
    return Made(f"{name}: {way} of {layer}", aim, wrong=True)


def budget(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """More noise than a release lets through, and a budget that allows it; or a promise that the files do not keep."""
    content = base.manifest
    told = content["spec"]["precisions"]["int8"]["budget"]
    way = random.choice(("a higher promise", "a smaller size", "noise and a lower promise", "a share of labels"))
    aim = claims("snr_db", "top1", "size", name="budget")
    if way == "a higher promise":
        told["min_snr_db"] = 80.0
    elif way == "a smaller size":
        told["max_size"] = 0.2
    elif way == "a share of labels":
        told |= {"min_snr_db": 70.0, "min_top1": 1.0}
    else:
        told["min_snr_db"], aim = 0.001, _NUMBERS
        model = onnx.load(folder / _FILE)
        for tensor in model.graph.initializer:
            value = numpy_helper.to_array(tensor).copy()
            if value.dtype.name == "int8" and value.size > 1:
                flat = value.reshape(-1)
                flat[:] = -flat
                tensor.CopyFrom(numpy_helper.from_array(value, tensor.name))
        (folder / _FILE).write_bytes(model.SerializeToString())
        digests_again(folder, content, parameters=False)
    for variant in content["variants"].values():
        if variant["precision"] == "int8":
            asked = {key: value for key, value in told.items() if value is not None}
            variant["details"]["budget"] = variant["details"].get("budget", {}) | asked
    seal(folder, content)
    return Made(f"int8: {way}", aim, wrong=True)
