"""A kit of the stored bundle, and right answers to it: made by the kit's own program."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import STORED, environment, exporter


@pytest.fixture(scope="session")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole kit, with layers, and the answers of run.py beside it; nobody writes into it."""
    place = tmp_path_factory.mktemp("kit")
    done = exporter("kit", STORED, "--out", place / "kit", "--layers", cwd=place)
    assert done.code == 0, done.err
    for part in ((), ("layers",)):
        ran = subprocess.run(
            [sys.executable, "run.py", *part],
            cwd=place / "kit",
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
    return place / "kit"


@pytest.fixture
def answers(kit: Path, tmp_path: Path) -> Path:
    """A copy of the right answers, that a test may spoil."""
    return Path(shutil.copytree(kit / "answers", tmp_path / "answers"))
