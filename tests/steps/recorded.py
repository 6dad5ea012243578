"""What a release records of a chain of training, made in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from exporter.steps.chain import read_chain, steps_of
from exporter.steps.material import Material


def recorded(side: str, training: Sequence[Any], samples: Mapping[str, Any]) -> Material:
    """The material of samples: raw ones before the model, one output called `scores` each behind it."""
    material = Material.of(samples)
    if side == "after":
        material = Material.of(dict.fromkeys(samples, np.zeros(1)))
        material.outputs = ("scores",)
        material.tensors.update({f"outputs/{number}/scores": value for number, value in enumerate(samples.values())})
    for number in material.numbers:
        for step, state in enumerate(steps_of(read_chain(training), material.start(side, number), "training")):
            material.keep(side, "training", step + 1, number, state)
    return material
