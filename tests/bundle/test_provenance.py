"""Where a bundle comes from: what is recorded of the machine, and where its goldens' bits may be demanded."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from exporter.base import machine
from exporter.bundle.provenance import provenance, unlike_the_recorded
from exporter.spec.model import Spec

SPEC = Spec.model_validate(
    {
        "name": "here",
        "model": "tests.models.sound:mlp",
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 8]}},
        "dims": {"batch": {"min": 1, "typical": 2, "max": 3}},
    }
)


@pytest.fixture
def recorded() -> dict[str, Any]:
    """The provenance of a bundle that was made here and now."""
    return provenance(SPEC, None)


def test_bits_are_demanded_of_the_cpu_and_the_paddle_that_recorded_the_goldens(recorded: dict[str, Any]) -> None:
    assert recorded["packages"]["paddlepaddle"] and recorded["machine"]["cpu"]
    assert unlike_the_recorded(recorded, "cpu") == ""
    recorded["packages"]["paddlepaddle-gpu"] = recorded["packages"].pop("paddlepaddle")
    assert unlike_the_recorded(recorded, "cpu") == "", "the GPU build has the same kernels for the CPU"


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        (("machine", "cpu"), "Another CPU @ 3 GHz", "CPU was Another CPU @ 3 GHz"),
        (("machine", "abilities"), ["avx_of_tomorrow"], "instruction sets were avx_of_tomorrow"),
        (("machine", "abilities"), [], "instruction sets were none"),
        (("machine", "system"), "Plan 9", "system was Plan 9"),
        (("packages", "paddlepaddle"), "3.0.0", "recorded by Paddle 3.0.0"),
    ],
)
def test_elsewhere_it_is_said_what_is_another(
    key: tuple[str, str], value: object, said: str, recorded: dict[str, Any]
) -> None:
    changed = copy.deepcopy(recorded)
    changed[key[0]][key[1]] = value
    assert said in unlike_the_recorded(changed, "cpu")


def test_on_a_gpu_no_bits_of_the_cpu_are_demanded(recorded: dict[str, Any]) -> None:
    assert "gpu:1" in unlike_the_recorded(recorded, "gpu:1")


def test_what_an_old_bundle_does_not_say_does_not_count() -> None:
    assert unlike_the_recorded({"model": "recipes.digits:build"}, "cpu") == ""


def test_gpus_and_their_driver_are_recorded_where_there_are_any(
    recorded: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not machine.gpus():
        assert {"gpus", "driver"}.isdisjoint(recorded["machine"])
    rows = [{"name": "NVIDIA A10", "compute_capability": "8.6", "memory": "23028 MiB"}]
    monkeypatch.setattr(machine, "gpus", lambda: rows)
    monkeypatch.setattr(machine, "driver", lambda: "570.86.15 (CUDA 12.8)")
    about = provenance(SPEC, None)["machine"]
    assert (about["gpus"], about["driver"]) == (rows, "570.86.15 (CUDA 12.8)")
    assert provenance(SPEC, None)["machine"] == about
