"""Steps around a model that are not those that were trained with; the script that runs them says the same."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from evals.hostile.aims import Made, claims
from evals.hostile.bases import Base
from evals.hostile.seal import seal

_STEPS = claims("pipeline", says="pipeline|steps?|samples")


def steps(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """A step before or behind the model takes other options, is gone, or comes twice."""
    content = base.manifest
    pipeline = content["spec"]["pipeline"]
    side = random.choice(("preprocess", "preprocess", "postprocess"))
    chain = pipeline[side]["deployment"]
    at = random.randrange(len(chain))
    way = random.choice(("option", "option", "gone", "twice", "order", "tolerance"))
    before = repr(chain)
    if way == "option":
        step = chain[at]
        if step == "layout":
            chain[at] = {"layout": {"to": "hwc"}}
        else:
            (kind, options), *_ = step.items()
            options.update(_other(kind, random))
    elif way == "gone":
        del chain[at]
    elif way == "twice":
        if isinstance(chain[at], dict) and "resize" in chain[at]:  # twice to one size is the same
            at = len(chain) - 1
        chain.insert(at, chain[at])
    elif way == "order" and len(chain) > 1:
        chain.reverse()
    else:
        pipeline["tolerance"] = random.choice((0.5, 10.0, 1e9))
        chain = pipeline["preprocess"]["deployment"]
        next(iter(one["normalize"] for one in chain if "normalize" in one))["mean"] = [0.4]
    seal(folder, content)
    return Made(f"{side} of deployment: {way}, was {before[:80]}", _STEPS, wrong=True)


def _other(kind: str, random: Random) -> dict[str, object]:
    """Options of a step that are not the sound one's."""
    if kind == "resize":
        return random.choice(({"interpolation": "nearest"}, {"height": 15}, {"library": "pillow"}, {"width": 32}))
    if kind == "normalize":
        return random.choice(({"mean": [0.4]}, {"std": [0.25]}, {"scale": 1.0}, {"scale": 1 / 256}))
    return {"k": random.choice((1, 2, 4))}


def samples(base: Base, folder: Path, random: Random, _outside: Path) -> Made:
    """What was recorded of the samples is something else, or is gone."""
    path = folder / "samples.safetensors"
    with safe_open(str(path), framework="numpy") as reader:
        about = reader.metadata()
    tensors = load_file(path)
    # Other arrays of a state, as the scores beside labels, are handed on and no part of the answer.
    key = random.choice(sorted(name for name in tensors if name.startswith("raw/") or name.endswith("/value")))
    way = random.choice(("numbers", "numbers", "gone", "all gone", "rolled"))
    value = tensors[key]
    if way == "all gone":
        path.unlink()
    else:
        if way == "gone":
            del tensors[key]
        elif way == "rolled" and value.size > 1:
            tensors[key] = np.roll(value.reshape(-1), 1).reshape(value.shape)
        else:
            tensors[key] = value ^ 1 if value.dtype.kind in "iu" else ~value if value.dtype == bool else value + 1
        save_file(tensors, path, about)
    seal(folder, base.manifest)
    return Made(f"samples, {key}: {way}", _STEPS)
