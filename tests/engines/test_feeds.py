"""A case that is fed with what the one before has put out: the child of an engine holds that, and no file does."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest

from exporter.base.tensors import Array, TensorMap, load, save
from exporter.engines.base import EngineRefused, Runnable, Session, SessionAround
from exporter.engines.child import _inputs, _run_cases
from exporter.engines.job import EngineCase, RunRequest

FEEDS = {"state": "next"}
KEPT = ("next", "seen")


class Adding(SessionAround):
    """Adds a step to a state; an odd step is refused where `strict`."""

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__(cast("Session", None))
        self.strict = strict

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        if self.strict and inputs["step"].item() % 2:
            raise EngineRefused("an odd step")
        return {"next": inputs["state"] + inputs["step"], "seen": inputs["state"], "other": inputs["step"]}


@pytest.fixture
def request_of_steps(tmp_path: Path) -> RunRequest:
    steps = {f"{at}/input/step": np.array([at], "float32") for at in range(4)}
    save(tmp_path / "golden.safetensors", {**steps, "0/input/state": np.array([10], "float32")})
    cases = (EngineCase("0", "0", keeps=KEPT), *(EngineCase(str(at), str(at), 1, FEEDS, KEPT) for at in range(1, 4)))
    runnable = Runnable("onnx", None, "", ("step", "state"), ("next", "seen", "other"))
    return RunRequest("none", "cpu", runnable, tmp_path / "golden.safetensors", cases, tmp_path)


def test_each_step_goes_on_from_the_one_before(request_of_steps: RunRequest) -> None:
    refused: dict[str, str] = {}
    _run_cases(Adding(), 1, request_of_steps, refused)
    left = [load(request_of_steps.into / f"{at}.safetensors") for at in range(4)]
    assert refused == {} and [tensors["next"].item() for tensors in left] == [10, 11, 13, 16]
    assert [tensors["seen"].item() for tensors in left] == [10, 10, 11, 13]
    assert all(sorted(tensors) == sorted(KEPT) for tensors in left)


def test_behind_a_step_that_is_refused_none_is_fed(request_of_steps: RunRequest) -> None:
    refused: dict[str, str] = {}
    _run_cases(Adding(strict=True), 1, request_of_steps, refused)
    none = "the step before gave no 'next' to feed 'state' with"
    assert refused == {"1": "an odd step", "2": none, "3": none}
    assert sorted(path.name for path in request_of_steps.into.glob("?.safetensors")) == ["0.safetensors"]


def test_what_is_fed_stands_in_no_file(request_of_steps: RunRequest) -> None:
    second = request_of_steps.cases[1]
    assert _inputs(request_of_steps, second, {"next": np.array([7])})["state"].item() == 7
    with pytest.raises(EngineRefused, match="the step before gave no 'next'"):
        _inputs(request_of_steps, second, {})
