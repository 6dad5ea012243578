"""A decoder made of numpy, recorded as the child does it: a cache that grows, a state, ids, a place that is counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.tensors import Array, save
from exporter.prove.goldens.decoding import EMPTIED, finish_decoding, kept_outputs, plan_steps
from exporter.prove.goldens.finish import CaseFacts
from exporter.prove.goldens.record import RecordedCase
from exporter.spec.model import Spec
from exporter.spec.read import validate

INPUTS: dict[str, Any] = {
    "ids": {"dtype": "int64", "shape": ["batch"], "values": "integers(0,5)"},
    "at": {"dtype": "int64", "shape": [1], "values": "integers(3,99)"},
    "mask": {"dtype": "int64", "shape": ["batch", "past+1"], "values": "integers(0,2)"},
    "memory": {"dtype": "float32", "shape": ["batch", 2]},
    "key": {"dtype": "float32", "shape": ["batch", "past", 4]},
}
OUTPUTS = ("scores", "chosen", "next_key")
STEPS = 4


def spec(**more: Any) -> Spec:
    content = {
        "name": "n",
        "model": "a:b",
        "weights": "factory",
        "inputs": INPUTS,
        "dims": {"batch": {"min": 1, "typical": 2, "max": 4}, "past": {"min": 1, "typical": 3, "max": 9}},
        "outputs": list(OUTPUTS),
        "decoding": {
            "cache": {"key": "next_key"},
            "tokens": {"ids": "scores"},
            "counts": ["at"],
            "held": ["memory"],
            "steps": STEPS,
        },
    }
    return validate({**content, **more}, "test")


def recorded(of: Spec, folder: Path, width: int = 5) -> tuple[CaseFacts, ...]:
    """Write what the child leaves of each step, with so many scores, and finish it beside the goldens of the folder."""
    assert of.decoding is not None
    scratch, generator = folder / "scratch", np.random.default_rng(3)
    scratch.mkdir(parents=True)
    cases = plan_steps(of, of.decoding, {"past": 1})
    left, ids = [], np.array([1, 4])
    for at, case in enumerate([*cases, cases[-1]]):
        last = at >= STEPS - 1
        name = case.name + (EMPTIED if at == STEPS else "")
        past = case.dims["past"]
        inputs = {"ids": ids, "at": np.array([3 + at]), "mask": np.ones((2, past + 1), "int64")}
        inputs["memory"] = np.array([[1, 2], [3, 4]], "float32")
        if at == 0:
            inputs["key"] = generator.standard_normal((2, past, 4)).astype("float32")
        truth = {
            "scores": generator.standard_normal((2, width)),
            "next_key": generator.standard_normal((2, past + 1, 4)),
        }
        eager: dict[str, Array] = {key: (value * (1 + 1e-7)).astype("float32") for key, value in truth.items()}
        eager["chosen"] = eager["scores"].argmax(-1)
        tensors: dict[str, Array] = {f"{name}/input/{key}": value for key, value in inputs.items()}
        for key in kept_outputs(of.decoding, OUTPUTS, last=last):
            tensors[f"{name}/eager/{key}"] = eager[key]
            if key in truth:
                tensors[f"{name}/truth/{key}"] = truth[key]
                tensors |= {
                    f"{name}/run{run:03}/{key}": (
                        truth[key] + 3e-7 * generator.standard_normal(truth[key].shape)
                    ).astype("float32")
                    for run in range(4)
                }
        save(scratch / f"decoding-{at}.safetensors", tensors)
        kept = kept_outputs(of.decoding, OUTPUTS, last=last)
        methods = {key: "exact" if key == "chosen" else "float64" for key in kept}
        left.append(RecordedCase(name, dict(case.dims), case.seed, methods))
        ids = eager["scores"].argmax(-1)
    return finish_decoding(of, left, scratch, folder / "golden.safetensors")
