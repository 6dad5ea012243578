"""The weights of an fp16 variant, proven by content: each is fp32's, rounded once or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from exporter.lower._stored import stored_weights
from exporter.lower.base import Artifact
from exporter.lower.precision._half import rounded_to_half
from exporter.tensors import Array
from exporter.verdict.claim import Evidence, Outcome


def prove_halved(artifact: Artifact, plain: Artifact, folder: Path) -> Evidence:
    """At release: every tensor of fp32's file is in this one under its name, as it was or rounded to the nearest fp16.

    A constant beyond fp16 stands at its limit; the writer keeps layers with such weights in float32.
    """
    stored, content = stored_weights(artifact.files, folder)
    exact, before = stored_weights(plain.files, folder)
    halved = 0
    for name, weight in exact.items():
        if name not in stored:
            return Evidence(Outcome.MISMATCH, f"tensor '{name}' of fp32's file is gone")
        want, got = weight.array(before), stored[name].array(content)
        if got.dtype == np.float16:
            want = rounded_to_half(want)
            halved += got.size
        if not _same(want, got):
            return Evidence(Outcome.MISMATCH, f"tensor '{name}' is not fp32's, rounded to the nearest fp16")
    if not halved:
        return Evidence(Outcome.VACUOUS, "no stored tensor is fp16, so this proves nothing")
    total = sum(one.elements for one in stored.values())
    said = f"{halved:,} of {total:,} stored numbers are fp32's, rounded to fp16; the others are as they were"
    return Evidence(Outcome.MATCH, said, elements=halved, provider="by content")


def _same(want: Array, got: Array) -> bool:
    return want.dtype == got.dtype and want.shape == got.shape and bool(np.array_equal(want, got))
