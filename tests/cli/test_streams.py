"""Where the output goes: a stream that is closed, full or left, and text that could take a terminal over."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import faults
from tests.command import COMMAND, PATIENCE, STORED, environment


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    whole = f"{shlex.join(COMMAND)} {command}"
    return subprocess.run(
        ["bash", "-c", whole], cwd=cwd, capture_output=True, text=True, env=environment(), timeout=PATIENCE, check=False
    )


@pytest.mark.parametrize("streams", [">&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("options", ["", " --json"])
def test_a_closed_stream_is_nobodys_wish_to_see_it(tmp_path: Path, streams: str, options: str) -> None:
    done = shell(f"inspect {STORED}{options} {streams}", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("verb", [f"inspect {STORED}", f"inspect {STORED} --json", "explain EX101", "--version"])
def test_an_output_that_is_lost_is_no_success(tmp_path: Path, verb: str) -> None:
    done = shell(f"{verb} > /dev/full", tmp_path)
    assert done.returncode == 3
    assert done.stderr.startswith("error: standard output: ") and done.stderr.count("No space left") == 1


@pytest.mark.parametrize("reader", ["true", "head -1"])
@pytest.mark.parametrize(("verb", "code"), [("inspect", 0), ("verify --engines onnxruntime", 1)])
def test_a_reader_that_leaves_changes_nothing(tmp_path: Path, verb: str, code: int, reader: str) -> None:
    """What `verify` tells of a failure is more than a pipe's buffer takes at once."""
    bundle = faults.copied(STORED, tmp_path / "bundle")
    if code:
        faults.scale_tensor(bundle / "onnx/model.onnx", place=1, factor=1.5)
        faults.reseal(bundle)
    done = shell(f"{verb} bundle --json 2>said | {reader}; exit ${{PIPESTATUS[0]}}", tmp_path)
    assert done.returncode == code and "error" not in (tmp_path / "said").read_text()


@pytest.mark.parametrize("verb", ["inspect", "verify"])
def test_no_name_of_a_file_forges_a_line(tmp_path: Path, verb: str) -> None:
    shutil.copytree(STORED, tmp_path / "bundle")
    (tmp_path / "bundle/a\nverdict: PASSED \x1b[2J\u202e").write_text("")
    done = shell(f"{verb} bundle", tmp_path)
    assert done.returncode == 5
    assert "\x1b" not in done.stderr and "\u202e" not in done.stderr
    assert not any(line.startswith("verdict") for line in (done.stdout + done.stderr).splitlines())
