"""Where the runtimes are that these tests run, and why they are skipped where they are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

#: The module of each runtime that is a package of Python.
MODULES = {
    "litert": "onnx2tf, ai_edge_litert",
    "mnn": "MNN",
    "ncnn": "ncnn",
    "onnxruntime_mobile": "onnxruntime",
    "opencv_dnn": "cv2",
}


@cache
def python_with(target: str) -> str:
    """The first that has the runtime of those in RUNTIMES_PYTHON (separated by colons) and this one; else no text."""
    for python in filter(None, (*os.environ.get("RUNTIMES_PYTHON", "").split(":"), sys.executable)):
        command = [python, "-c", f"import {MODULES[target]}"]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return python
    return ""


@pytest.fixture
def python(request: pytest.FixtureRequest) -> str:
    """The Python that has the runtime of the parameter `target`."""
    target = request.getfixturevalue("target")
    found = python_with(target)
    if not found:
        pytest.skip(
            f"{MODULES[target]} is not installed: pip install -e .[devices], or name a Python in RUNTIMES_PYTHON"
        )
    return found


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """The folder that holds onnxruntime-web."""
    folder = Path(os.environ.get("NODE_MODULES_FOR_TESTS", "node_modules")).resolve()
    if shutil.which("node") is None or not (folder / "onnxruntime-web").is_dir():
        pytest.skip("no Node.js, or no onnxruntime-web: npm install onnxruntime-web@1.30.0, or NODE_MODULES_FOR_TESTS")
    return folder
