"""Temporary folders of processes that start at once: none takes another's for one that was left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.command import PATIENCE, ROOT, environment

SCRIPT = """
from exporter.process import scratch

for number in range(150):
    scratch._sweep.cache_clear()
    with scratch.scratch() as place:
        (place / "file").write_text("kept")
        assert (place / "file").read_text() == "kept" and place.is_dir()
"""


def test_those_that_are_just_being_made_are_nobody_elses_to_remove(tmp_path: Path) -> None:
    own = environment(TMPDIR=str(tmp_path), PYTHONPATH=str(ROOT))
    pipes = {"stderr": subprocess.PIPE, "text": True}
    started = [subprocess.Popen([sys.executable, "-c", SCRIPT], env=own, **pipes) for _ in range(4)]  # type: ignore[call-overload]
    said = [process.communicate(timeout=PATIENCE)[1] for process in started]
    assert [process.returncode for process in started] == [0] * 4, said
    assert os.listdir(tmp_path) == []  # noqa: PTH208
