"""What a run took at its release bounds what a later run may take."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import ChildOutOfMemory, ChildTimedOut
from exporter.engines.cost import LEAST_TIMES_SECONDS, TIMES_MEGABYTES, TIMES_SECONDS, Cost, beyond
from exporter.process.workers import Beyond, Limits, Setting, call
from exporter.prove.harness import Bench
from exporter.prove.verdict.plan import Run
from tests import children
from tests.command import ROOT

CHILD = children.loads_what_a_stranger_wrote
TINY = {"seconds": 0.5, "megabytes": 128}


@pytest.fixture(autouse=True)
def where_children_find_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@given(st.floats(0, 1e5), st.floats(0, 1e7))
def test_no_run_is_allowed_less_than_some_times_what_it_took(seconds: float, megabytes: float) -> None:
    allowed = beyond(Cost(seconds, megabytes).coarse())
    times = LEAST_TIMES_SECONDS if seconds <= 1 else TIMES_SECONDS
    assert allowed.seconds >= times * seconds and allowed.megabytes >= TIMES_MEGABYTES * megabytes - 1


def test_what_is_recorded_is_coarse_so_that_a_second_release_records_the_same() -> None:
    assert Cost(0.2, 40).coarse() == Cost(0.5, 110).coarse() == TINY
    assert Cost(0.51, 40).coarse() == Cost(0.95, 110).coarse() == {"seconds": 1.0, "megabytes": 128}
    assert Cost(1.9, 300).coarse() == {"seconds": 4.0, "megabytes": 512}
    assert beyond(TINY) == Beyond(2.0, 384) and beyond(Cost(1.9, 300).coarse()) == Beyond(120.0, 1536)


def test_a_record_of_nothing_is_the_smallest_step() -> None:
    assert beyond({"seconds": 1e-9, "megabytes": 1e-9}) == beyond(TINY)


def test_imports_do_not_count_and_what_comes_after_them_does() -> None:
    limits = Limits(beyond=Beyond(2.0, 96))
    assert call(CHILD, {"imports": 3.0, "before": 160, "loads": 0.2}, limits) == {"held": 10}
    with pytest.raises(ChildTimedOut, match="2 s of processor time"):
        call(CHILD, {"imports": 0.0, "loads": 30.0}, limits)
    with pytest.raises(ChildOutOfMemory, match="96 MB more memory"):
        call(CHILD, {"imports": 0.0, "before": 160, "megabytes": 1600}, limits)


def _allowed(device: str = "cpu", *, follows: bool = True, engine: str = "onnxruntime") -> Beyond | None:
    costs = {"onnx/onnxruntime": TINY, "pir/jit_load": {"seconds": 2.0, "megabytes": 256}}
    bench = Bench(Path(), Path(), (), {}, ("y",), ("x",), None, device, 4.0, costs=costs)
    return bench.bounded(Run("onnx", "fp32", engine), Setting(follows_costs=follows)).limits.beyond


def test_a_run_may_take_what_its_own_release_took_and_an_unknown_one_more_than_any() -> None:
    assert _allowed() == beyond(TINY)
    unknown = _allowed(engine="openvino")
    assert unknown is not None and unknown.seconds > beyond({"seconds": 2.0, "megabytes": 256}).seconds


def test_who_sets_a_limit_or_runs_on_a_gpu_or_has_an_older_bundle_gets_no_other() -> None:
    assert _allowed(follows=False) is None and _allowed("gpu") is None
    older = Bench(Path(), Path(), (), {}, ("y",), ("x",), None, "cpu", 4.0)
    assert older.bounded(Run("onnx", "fp32", "onnxruntime"), Setting()).limits.beyond is None
