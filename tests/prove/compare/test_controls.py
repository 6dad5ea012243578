"""Probing cases that say more of the order of sums than of the artifact."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evals.clean._child import recorded
from evals.clean.networks import NETWORKS
from exporter.base.numbers.golden import GoldenCase
from exporter.export.trace.layer import load_layer
from exporter.prove.goldens.telling import AMPLIFIED, amplified
from exporter.spec.model import Spec
from tests.prove.compare.goldens import cases_of, golden


def case(e_ref: float, gate: str = "") -> GoldenCase:
    (output,) = cases_of([(4, 6)])
    return GoldenCase("c", {}, {"y": replace(output, e_ref=(e_ref, e_ref / 2), gate=gate)}, "c")


@pytest.mark.parametrize(("times", "told"), [(1.0, False), (AMPLIFIED * 0.99, False), (AMPLIFIED * 1.01, True)])
def test_what_amplifies_rounding_beyond_the_plain_cases_is_named(times: float, told: bool) -> None:
    plain = [case(2e-7), case(1e-6), case(1.0, gate="shut")]
    assert bool(amplified(case(times * 1e-6), plain)) == told


def test_whole_numbers_and_shut_gates_amplify_nothing() -> None:
    labels = GoldenCase("c", {}, {"y": golden(np.arange(3))}, "c")
    assert not amplified(labels, [labels]) and not amplified(case(1.0), [case(1.0, gate="shut")])


def test_an_image_of_zeros_in_a_norm_is_such_a_case() -> None:
    """Its maps are constant, and the norm divides by the root of epsilon: OpenVINO's order of sums failed it."""
    model, described = NETWORKS["norm_instance"]
    spec = Spec.model_validate({"name": "n", "model": model, "weights": "factory", "device": "cpu", **described})
    goldens = recorded(load_layer(model, None, 0), spec, ("y",))
    assert "amplifies rounding" in goldens.left_out["batch=3:zeros"]
    assert "batch=3:large" in {one.name for one in goldens.cases}
