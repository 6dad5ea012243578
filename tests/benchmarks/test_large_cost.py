"""benchmarks/large_cost.py: what a command takes, measured on commands of a known size; and the specs and cases."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.large_cost import Peak, Watched, _lay_out, compare, spec_of, watched
from exporter.spec.model import Spec
from tests.command import PATIENCE, ROOT

#: Holds 200 MB in two processes that share half of it, computes for half a second, and tells steps.
HOLDS = """
import os, sys, time
print("· writing", flush=True)
shared = bytearray(b"x") * 100_000_000
child = os.fork()
if child == 0:
    own = bytearray(b"x") * 100_000_000
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass
    print("· computing", flush=True)
    time.sleep(1)
    os._exit(0)
os.waitpid(child, 0)
sys.exit(int(sys.argv[1]))
"""


def test_memory_of_one_process_and_of_all_and_processor_time_of_children_are_measured() -> None:
    run = watched([sys.executable, "-c", HOLDS, "3"])
    assert run.code == 3 and run.told == ["· writing", "· computing"]
    assert 200 < run.peak.one < 250, "what the child shares is resident in it as well"
    assert 200 < run.peak.all < 260, "and counts once"
    assert 0.5 <= run.processor < 5 and run.seconds >= 1
    assert list(run.steps)[-2:] == ["writing", "computing"]
    assert 0 < run.steps["writing"].processor <= run.processor + 0.1


def test_limits_hold_and_are_exceeded(capsys: pytest.CaptureFixture[str]) -> None:
    def taken(one: float, processor: float) -> Watched:
        return Watched(0, Peak(one, one), {}, processor, 1.0)

    assert compare("verify", taken(130, 6), [taken(100, 1), taken(50, 1)], 3.0)
    assert "= 1.30   limit 1.3 holds" in capsys.readouterr().out
    assert not compare("verify", taken(131, 6), [taken(100, 2)], 3.0)
    assert not compare("verify", taken(100, 7), [taken(100, 2)], 3.0)
    assert "= 3.50   limit 3.0 EXCEEDED" in capsys.readouterr().out


@pytest.mark.parametrize("int8", [False, True])
def test_the_spec_is_one(int8: bool) -> None:
    spec = Spec.model_validate(spec_of(2.5, int8))
    assert spec.factory.startswith("benchmarks.large:attention") and '"gigabytes":2.5' in spec.factory
    assert (("onnx", "int8") in spec.variants()) is int8 and ("pir", "int8") not in spec.variants()


def test_bare_scripts_get_the_cases_and_arguments_of_the_spec(tmp_path: Path) -> None:
    spec = {**spec_of(0.135, False), "formats": ["pir"]}
    words = [sys.executable, str(ROOT / "benchmarks/bare_convert.py"), spec["model"], "-", "ids", "2,None"]
    words += [str(tmp_path / "bundle"), "int64", json.dumps(spec["args"]), "pir"]
    ran(words)
    described = [{"name": "ids", "dtype": "int64", "shape": [2, "time"]}]
    (tmp_path / "bundle/manifest.json").write_text(json.dumps({"spec": spec, "inputs": described}))
    _lay_out(tmp_path / "bundle", tmp_path / "cases", spec)
    cases = json.loads((tmp_path / "cases/manifest.json").read_bytes())["cases"]
    assert len(cases) > 8 and cases[0]["name"] == "time=16"
    for run in ("source/eager", "pir/jit_load"):
        said = ran([sys.executable, str(ROOT / "benchmarks/bare_verify.py"), run, str(tmp_path / "cases")])
        assert f"{len(cases) + 2} runs" in said


def ran(words: list[str]) -> str:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
