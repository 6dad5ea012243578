"""Pythons that old packages need."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def old_python(minor: int) -> Path | None:
    """A Python 3.`minor` that really starts, on the PATH or of pyenv, whose command on the PATH may be a signpost."""
    name, pyenv = f"python3.{minor}", Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    places = [Path(path) for path in (shutil.which(name), *pyenv.glob(f"versions/3.{minor}.*/bin/{name}")) if path]
    for place in places:
        if subprocess.run([place, "--version"], capture_output=True, check=False).returncode == 0:
            return place
    return None
