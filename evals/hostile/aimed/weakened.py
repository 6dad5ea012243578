"""A wrong ONNX program, and evidence that was weakened so that it passes: waivers, budgets, samples, cases left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from evals.hostile.aimed.numbers import GOLDEN, only_onnx
from evals.hostile.aimed.programs import WRONG, make_wrong
from evals.hostile.aims import Aim, Made, claims
from evals.hostile.bases import Base
from evals.hostile.seal import seal

#: What computes is judged all the same.
_COMPUTED = claims("outputs", "agreement", name="outputs")


def _or(says: str, name: str) -> Aim:
    """The outputs, or what holds a statement against the one that a release writes."""
    return Aim(name, _COMPUTED.kinds, says)


_WAIVED = _or(r"waive", "waivers")
_SAMPLED = _or(r"elements are kept", "sampled")
_LEFT_OUT = _or(r"left out|lacks", "left out")
_LOWERED = _or(r"budget|allow|lower|tolerance", "lowered")
_STATED = _or(r"gate|constant|method|states|stated|said|dim|spec|plan|goldens are not whole", "stated")
Weaken = Callable[[dict[str, Any], Path, Random], str]


def _waiver(content: dict[str, Any], _folder: Path, random: Random) -> str:
    claim = random.choice(("*", "onnx/*", "onnx/onnxruntime/*", "onnx/agreement", "?nnx*", "[o]nnx/*"))
    waivers = [{"claim": claim, "reason": "known, and harmless", "until": "2099-12-31"}]
    if claim == "onnx/agreement":
        waivers.append({"claim": "onnx/onnxruntime/batch*", "reason": "known, and harmless", "until": "2099-12-31"})
    content["waivers"] = content["spec"]["waivers"] = waivers
    content["verdict"] = "passed_with_waivers"
    return f"waived by {claim}"


def _budget(content: dict[str, Any], _folder: Path, random: Random) -> str:
    content["budget"] = content["spec"]["budget"] = budget = random.choice((8.0, 64.0, 1e3, 1e6, 1e12))
    return f"a budget of {budget:g}"


def _facts(content: dict[str, Any], **facts: Any) -> None:
    for case in content["cases"]:
        for one in case["outputs"].values():
            one.update(facts)


def _allowance(content: dict[str, Any], _folder: Path, random: Random) -> str:
    _facts(content, allowance=(most := random.choice((4.0, 1e3, 1e9))))
    return f"an allowance of {most:g}"


def _e_ref(content: dict[str, Any], _folder: Path, random: Random) -> str:
    _facts(content, e_ref_max=(most := random.choice((1e-5, 1e-3, 0.1, 10.0))), e_ref_l2=most)
    return f"an e_ref of {most:g}"


def _scale(content: dict[str, Any], _folder: Path, random: Random) -> str:
    _facts(content, scale_max=(most := random.choice((1e3, 1e9))), scale_l2=most)
    return f"a scale of {most:g}"


def _gate(content: dict[str, Any], _folder: Path, _random: Random) -> str:
    _facts(content, gate="rounding alone moves it by 3.0e-02 of its size")
    return "every gate shut"


def _method(content: dict[str, Any], _folder: Path, _random: Random) -> str:
    _facts(content, method="spread of float32 runs: no float64 kernel")
    return "the truth is said to be a spread"


def _exact(content: dict[str, Any], _folder: Path, random: Random) -> str:
    _facts(content, exact=(what := random.choice((True, False))))
    return f"exact is {what}"


def _constant(content: dict[str, Any], _folder: Path, _random: Random) -> str:
    content["constants"] = [one["name"] for one in content["outputs"]]
    _facts(content, constant=True)
    return "every output is said to be a constant"


def _sampled(content: dict[str, Any], folder: Path, random: Random) -> str:
    """Of each golden only some elements are kept: the least in size, where a factor shows least."""
    most, tensors = random.choice((1, 1, 2, 3)), load_file(folder / GOLDEN)
    for case in content["cases"]:
        for name, facts in case["outputs"].items():
            key = f"{case['name']}/{{}}/{name}"
            eager = tensors[key.format("eager")].reshape(-1)
            index = np.sort(np.argsort(np.abs(eager.astype("float64")))[:most]).astype("int64")
            for what in ("eager", "truth"):
                if key.format(what) in tensors:
                    tensors[key.format(what)] = tensors[key.format(what)].reshape(-1)[index].copy()
            tensors[key.format("index")] = index
            facts["scale_l2"], facts["scale_max"] = max(facts["scale_l2"], 1e-3), max(facts["scale_max"], 1e-3)
    save_file(tensors, folder / GOLDEN)
    return f"{most} elements of each golden kept"


def _probes(content: dict[str, Any], _folder: Path, random: Random) -> str:
    gone = [case["name"] for case in content["cases"] if ":" in case["name"]]
    gone = random.sample(gone, random.randrange(1, len(gone) + 1))
    content["cases"] = [case for case in content["cases"] if case["name"] not in gone]
    content["left_out"] = content["left_out"] | dict.fromkeys(gone, "eager or float64 is not finite")
    return f"{len(gone)} probing cases left out with a reason"


def _small_dims(content: dict[str, Any], _folder: Path, _random: Random) -> str:
    """Only the smallest size is promised, and only its cases are recorded."""
    name = next(iter(content["dims"]))
    low = content["dims"][name]["typical"]
    for told in (content, content["spec"]):
        told["dims"][name] |= {"min": low, "typical": low, "max": low}
    content["cases"] = [case for case in content["cases"] if case["dims"][name] == low]
    return f"{name} is promised at {low} only"


def _no_engine(content: dict[str, Any], _folder: Path, _random: Random) -> str:
    content["spec"]["engines"] = [one for one in content["spec"]["engines"] if one != "onnxruntime"]
    return "no engine runs ONNX"


def _no_format(content: dict[str, Any], _folder: Path, _random: Random) -> str:
    content["spec"]["formats"] = [one for one in content["spec"]["formats"] if one != "onnx"]
    return "the spec names no ONNX"


def _elsewhere(content: dict[str, Any], _folder: Path, _random: Random) -> str:
    machine = {"cpu": "another", "abilities": [], "system": "Linux", "threads": 1}
    content["provenance"] |= {"machine": machine, "packages": {"paddlepaddle": "2.6.2"}}
    return "recorded on another machine by another Paddle"


def _stateless(content: dict[str, Any], _folder: Path, _random: Random) -> str:
    for one in content["variants"].values():
        one["details"]["stateless"] = True
    content["parameters"] = {}
    return "no parameters, and said to be stateless"


def _computed(content: dict[str, Any], _folder: Path, _random: Random) -> str:
    own = content["variants"]["onnx"]
    own["details"] |= {"computed": sorted(own["weights"]), "undecided": sorted(own["weights"])}
    return "every tensor said to be computed otherwise"


def _alone(content: dict[str, Any], folder: Path, _random: Random) -> str:
    only_onnx(folder, content)
    return "all other variants taken out"


def _nothing(_content: dict[str, Any], _folder: Path, _random: Random) -> str:
    return "nothing else"


#: Name of the way -> what weakens the evidence, and what has to catch the bundle.
WAYS: Mapping[str, tuple[Weaken, Aim, bool]] = {
    "waiver": (_waiver, _WAIVED, True),
    "budget": (_budget, _LOWERED, True),
    "allowance": (_allowance, _LOWERED, True),
    "e_ref": (_e_ref, _LOWERED, True),
    "scale": (_scale, _COMPUTED, False),
    "gate": (_gate, _STATED, True),
    "method": (_method, _STATED, False),
    "exact": (_exact, _STATED, False),
    "constant": (_constant, _STATED, False),
    "sampled": (_sampled, _SAMPLED, True),
    "probes": (_probes, _LEFT_OUT, True),
    "small dims": (_small_dims, _STATED, True),
    "no engine": (_no_engine, _STATED, False),
    "no format": (_no_format, _STATED, False),
    "elsewhere": (_elsewhere, _COMPUTED, False),
    "stateless": (_stateless, Aim("weights", _COMPUTED.kinds | {"weights"}, "stateless"), False),
    "computed": (_computed, _COMPUTED, False),
    "alone": (_alone, _COMPUTED, False),
    "nothing": (_nothing, _COMPUTED, False),
}
#: Errors that a budget of 8 or an allowance does not excuse.
_GROSS = sorted(set(WRONG) - {"x1.0001", "in fp16"})


def wrong_and_weakened(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """A wrong ONNX program, and one way to make its error count less."""
    content, name, way = base.manifest, random.choice(_GROSS), random.choice(sorted(WAYS))
    weaken, aim, _ = WAYS[way]
    make_wrong(folder, content, name)
    said = weaken(content, folder, random)
    seal(folder, content)
    return Made(f"onnx: the first output is {name}; {said}", aim)


def wrong_and_weakened_twice(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """The same by two ways at once."""
    content, name = base.manifest, random.choice(_GROSS)
    first, second = random.sample(sorted(set(WAYS) - {"nothing"}), 2)
    make_wrong(folder, content, name)
    said = [WAYS[way][0](content, folder, random) for way in (first, second)]
    seal(folder, content)
    aims = [WAYS[way][1] for way in (first, second)]
    says = "|".join(filter(None, (aim.says for aim in aims)))
    aim = Aim(" + ".join(sorted({aim.name for aim in aims})), aims[0].kinds | aims[1].kinds, says)
    return Made(f"onnx: the first output is {name}; {'; '.join(said)}", aim)


def only_weakened(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """Right programs, and a bundle that asks less than the release of its spec would have."""
    content = base.manifest
    way = random.choice(sorted(way for way, (_, _, told) in WAYS.items() if told))
    weaken, aim, _ = WAYS[way]
    said = weaken(content, folder, random)
    if way == "budget":  # another spec, that says so; nothing here knows of the first
        return wrong_and_weakened(base, folder, random, _outside)
    if way in ("e_ref", "allowance", "waiver", "small dims"):
        return wrong_and_weakened(base, folder, random, _outside)
    seal(folder, content)
    return Made(f"{said}; the programs are right", aim, wrong=True)
