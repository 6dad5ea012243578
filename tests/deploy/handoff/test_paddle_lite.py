"""Paddle Lite by its own optimizer, in its own old Python: made, run on x86 and compared before it is handed over."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from exporter.base.files import user_cache
from tests import faults
from tests.command import Done, contents, environment, exporter, refused
from tests.deploy.handoff.old_python import old_python


@pytest.fixture(scope="module")
def variables() -> dict[str, str]:
    python = old_python(7)
    if python is None:
        pytest.skip("no Python 3.7 here, for which paddlelite has its last wheel")
    return environment(PATH=os.pathsep.join((str(python.parent), os.environ["PATH"])))


def hand(bundle: Path, cwd: Path, variables: dict[str, str], out: str = "given") -> Done:
    return exporter("handoff", bundle, "--to", "paddle_lite", "--out", out, cwd=cwd, env=variables)


@pytest.mark.slow
def test_it_is_optimized_run_and_compared(bundle: Path, tmp_path: Path, variables: dict[str, str]) -> None:
    done = hand(bundle, tmp_path, variables)
    assert done.code == 0, done.err
    said = "model_x86.nb gave what the bundle recorded in Paddle Lite 2.12 on this CPU: 4 recorded cases"
    assert done.out.startswith(f"verified here: yes ({said}"), done.out
    print(f"\n{done.out}")  # for docs/targets.md
    files = contents(tmp_path / "given")
    assert "Only generated, and not run here: model_arm.nb" in files["README.md"].decode()
    assert files["model_arm.nb"] != files["model_x86.nb"]
    assert hand(bundle, tmp_path, variables, "again").code == 0
    assert contents(tmp_path / "again") == files, "the same bundle gives the same bytes"


@pytest.mark.slow
def test_the_device_s_scripts_replay_it(bundle: Path, tmp_path: Path, variables: dict[str, str]) -> None:
    assert hand(bundle, tmp_path, variables).code == 0
    home = user_cache("runtimes") / "paddlelite-2.12-py3.7/bin/python"
    (tmp_path / "outputs").mkdir()
    run = [home, "run.py", "model_x86.nb", tmp_path / "outputs"]
    judge = [sys.executable, "-I", "judge.py", tmp_path / "outputs"]
    for command in (run, judge):
        ended = subprocess.run(command, cwd=tmp_path / "given", capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.startswith("passed: 4 cases, largest error ratio ")


@pytest.mark.slow
def test_a_faulty_artifact_is_not_handed_over(bundle: Path, tmp_path: Path, variables: dict[str, str]) -> None:
    copy = faults.copied(bundle, tmp_path / "bundle")
    faults.scale_tensor(copy / "pdmodel/model.pdiparams", factor=1.0001)
    faults.reseal(copy)
    refused(hand(copy, tmp_path, variables), 4, "run.py ran and does not give what the bundle recorded")
    assert not (tmp_path / "given").exists()


def test_without_an_old_python_it_says_what_is_missing(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    variables = environment(PATH=str(tmp_path / "empty"), XDG_CACHE_HOME=str(tmp_path / "cache"))
    refused(hand(bundle, tmp_path, variables), 3, "no Python was found", "python3.7")
    assert not (tmp_path / "given").exists()
