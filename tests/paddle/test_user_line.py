"""Whose a file in a traceback is: the user's, or an installed package's, also of another environment on the path."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.command import ROOT, environment

ASKS = """
import sys
from exporter.paddle.user_line import is_models, is_users
print(*[f"{is_users(path)} {is_models(path)}" for path in sys.argv[1:]], sep="\\n")
"""


def test_packages_of_another_environment_are_no_code_of_the_users(tmp_path: Path) -> None:
    """As a `.pth` file or PYTHONPATH adds it."""
    place = tmp_path / "base/lib/python3/site-packages"
    files = [place / "paddle/jit/a.py", place / "numpy/b.py", place / "paddlenlp/c.py", tmp_path / "net.py"]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    known = environment(PYTHONPATH=f"{ROOT}:{place}")
    command = [sys.executable, "-c", ASKS, *map(str, files)]
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:-1] == ["False False", "False False", "False True", "True True"]
