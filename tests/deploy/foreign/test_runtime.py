"""Runtimes of devices by the command line: what is handed over was run, the same each time; and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from exporter.deploy.foreign.runtime import refusal
from exporter.prove.judge.report import Report
from exporter.prove.verdict.claim import Claim, Evidence, Outcome, Verdict
from tests.command import STORED, contents, environment, exporter, refused


@pytest.mark.parametrize("target", ["onnxruntime_mobile", "mnn", "opencv_dnn", "ncnn", "litert"])
def test_what_is_handed_over_answers_the_bundle_wherever_it_runs(target: str, python: str, tmp_path: Path) -> None:
    done = exporter("handoff", STORED, "--to", target, "--using", python, "--out", "there", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    told = done.json()
    assert told["verified_here"] is True and "largest error ratio" in told["how"]
    assert ("partial" in told) is (target in ("ncnn", "litert"))
    ran = subprocess.run([python, "-B", "run.py"], cwd=tmp_path / "there", capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    narrowed = ["--dim", "batch=1"] if "partial" in told else []
    words = ["--answers", "there/answers", "--engine", f"{target} in a test", *narrowed]
    judged = exporter("verify", STORED, *words, "--json", cwd=tmp_path)
    assert judged.code == 0, judged.out + judged.err
    assert judged.json()["verdict"] == ("partial" if narrowed else "passed")


@pytest.mark.parametrize("target", ["onnxruntime_mobile", "mnn"])
def test_the_same_bundle_gives_the_same_bytes(target: str, python: str, tmp_path: Path) -> None:
    for _ in range(2):
        done = exporter("handoff", STORED, "--to", target, "--using", python, "--out", "there", "--json", cwd=tmp_path)
        assert done.code == 0, done.err
    assert done.json()["written"] is False
    assert {"kit.json", "run.py", "engine.py", "README.md", "MANIFEST.json"} < set(contents(tmp_path / "there"))


@pytest.mark.parametrize("target", ["mnn"])
@pytest.mark.parametrize("precision", ["fp16", "int8"])
def test_a_lower_precision_is_judged_by_its_budget(target: str, precision: str, python: str, tmp_path: Path) -> None:
    words = ["--to", target, "--using", python, "--precision", precision, "--out", "there"]
    done = exporter("handoff", STORED, *words, "--json", cwd=tmp_path)
    if done.code == 4:  # a budget that is not kept is refused with its name, and nothing is left
        assert "dB" in done.err + done.out and not (tmp_path / "there").exists()
    else:
        assert done.code == 0 and f"{precision}: " in done.json()["how"], done.err
        content = json.loads((tmp_path / "there/kit.json").read_text())
        assert content["runtime"]["precision"] == precision


def test_a_promise_that_was_narrowed_is_called_partial(tmp_path: Path) -> None:
    words = ["--to", "onnxruntime_mobile", "--dim", "batch=1", "--out", "there"]
    done = exporter("handoff", STORED, *words, "--json", cwd=tmp_path)
    assert (done.code, done.json()["partial"]) == (0, "only the sizes batch=1"), done.err
    there = tmp_path / "there"
    assert "Partial: only the sizes batch=1." in (there / "README.md").read_text()
    assert json.loads((there / "MANIFEST.json").read_text())["verified_here"]["partial"] == "only the sizes batch=1"
    assert {case["name"] for case in json.loads((there / "kit.json").read_text())["cases"]} == {
        "batch=1", "batch=2:one_row"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--to", "onnxruntime_mobile", "--precision", "int8"], 2, "does not make int8 of the variant onnx"),
        (["--to", "onnxruntime_mobile", "--dim", "batch=77"], 2, "no recorded case has these sizes"),
        (["--to", "onnxruntime_mobile", "--using", "nowhere/python"], 2, "is no program"),
        (["--to", "plain", "--dim", "batch=1"], 2, "--dim is for runtimes of devices, and plain is none"),
        (["--to", "plain", "--using", "x", "--precision", "fp16"], 2, "--using and --precision is for runtimes"),
        (["--to", "rknn"], 3, "nothing here runs rknn"),
        (["--to", "onnxruntime-web"], 2, "unknown target 'onnxruntime-web'"),
        (["--to", "onnxruntime_web", "--using", "nowhere"], 3, "onnxruntime-web is not installed in nowhere"),
    ],
)
def test_what_makes_no_sense_or_is_not_here_is_refused(words: list[str], code: int, said: str, tmp_path: Path) -> None:
    refused(exporter("handoff", STORED, *words, "--out", "there", cwd=tmp_path), code, said)
    assert not (tmp_path / "there").exists()


def test_a_python_without_the_runtime_says_what_to_install(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    words = ["--to", "mnn", "--using", bare / "bin/python", "--out", "there"]
    done = exporter("handoff", STORED, *words, cwd=tmp_path)
    refused(done, 3, "is not installed")
    assert "pip install mnn==3.6.1" in done.err


def test_a_runtime_that_computes_something_else_is_not_handed_over(tmp_path: Path) -> None:
    """The Python that it names feeds every input twice as large: its answers are wrong, and the cause is named."""
    folder = tmp_path / "lies"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        "import numpy\nreal = numpy.frombuffer\nnumpy.frombuffer = lambda *words: real(*words) * 2\n"
    )
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nshift 3\nPYTHONPATH={folder} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    words = ["--to", "onnxruntime_mobile", "--using", python, "--out", "there"]
    done = exporter("handoff", STORED, *words, cwd=tmp_path)
    refused(done, 4, "does not give what the bundle recorded")
    assert "likely cause: " in done.err or "own error" in done.err
    assert not (tmp_path / "there").exists()


def test_the_kit_of_a_runtime_has_no_answers(tmp_path: Path) -> None:
    done = exporter("handoff", STORED, "--to", "onnxruntime_mobile", "--out", "there", cwd=tmp_path)
    assert done.code == 0, done.err
    named = set(contents(tmp_path / "there"))
    assert not any("golden" in name or name.startswith(("answers/", "expected/")) for name in named)
    ran = subprocess.run(
        [sys.executable, "-B", "run.py", "nonsense"],
        cwd=tmp_path / "there",
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2 and "usage: python run.py" in ran.stderr


def test_what_tells_nothing_is_not_called_wrong() -> None:
    """A budget that the mean would keep too says nothing of a runtime."""
    vague = Claim("onnx", "fp16", "answers", "", "y", "snr_db")
    evidence = {vague: Evidence(Outcome.INCONCLUSIVE, "76 dB; but the mean would have 42 dB", stage="run")}
    error = refusal(Report("net", "1", Verdict(frozenset(evidence), evidence), 4.0), "MNN 3.6.1")
    assert error.what == "what MNN 3.6.1 gives cannot be judged (1 of 1): 76 dB; but the mean would have 42 dB"
    assert error.hint.startswith("give the bundle inputs")
    wrong = replace(vague, case="batch=1", kind="outputs")
    evidence[wrong] = Evidence(Outcome.MISMATCH, "other values")
    mixed = refusal(Report("net", "1", Verdict(frozenset(evidence), evidence), 4.0), "MNN 3.6.1")
    assert mixed.what.startswith("MNN 3.6.1 does not give what the bundle recorded (2 of 2)")
