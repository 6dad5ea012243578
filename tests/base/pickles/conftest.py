from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.base.pickles.hand_built import write_old_layouts

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of the real Paddle and hand-built ones of older layouts, each with what `paddle.load` says of it."""
    folder = tmp_path_factory.mktemp("saved")
    write_old_layouts(folder)
    script = [sys.executable, "-W", "ignore", Path(__file__).with_name("paddle_files.py"), folder]
    subprocess.run(script, check=True, capture_output=True, cwd=ROOT)
    return folder
