"""What a result depends on besides files of the project: our own code, installed packages, the machine."""

from __future__ import annotations

import hashlib
import os
import platform
import site
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from exporter.base import machine

#: Facts by name, each a text or texts by name.
Facts: TypeAlias = Mapping[str, str | Mapping[str, str]]

#: Variables that libraries read in compiled code, where nobody sees it.
_PREFIXES = (
    *("CUDA", "CUBLAS", "CUDNN", "NVIDIA", "FLAGS_", "PADDLE", "ORT_", "ORTMODULE", "ONNX", "OV_", "OPENVINO"),
    *("OMP_", "KMP_", "GOMP_", "MKL", "DNNL", "ONEDNN", "OPENBLAS", "BLIS", "NPY_", "LD_", "MALLOC", "PYTHON"),
)


def identity(device: str) -> Facts:
    """Return the facts of here and now; the GPUs only where the device may be one."""
    about = machine.cpu()
    facts: dict[str, str | Mapping[str, str]] = {
        "exporter": code_digest(),
        "Python": sys.version,
        "the system": f"{platform.platform()} {' '.join(platform.libc_ver())}",
        "the CPU": f"{about['model']}: {' '.join(about['abilities'])}",
        "package": _packages(),
        "variable": {name: value for name, value in sorted(os.environ.items()) if name.startswith(_PREFIXES)},
    }
    if device != "cpu":
        facts["a GPU"] = {str(at): str(gpu) for at, gpu in enumerate([*machine.gpus(), machine.driver()])}
    return facts


def difference(before: Facts, now: Facts) -> str:
    """The first fact that is another one, in words; empty where none is."""
    for name in sorted({*before, *now}):
        was, is_ = before.get(name), now.get(name)
        if was == is_:
            continue
        if not isinstance(was, Mapping) or not isinstance(is_, Mapping):
            return f"{name} is another one"
        inner = next(key for key in sorted({*was, *is_}) if was.get(key) != is_.get(key))
        return f"{name} {inner} is {is_.get(inner, 'not there')}, and was {was.get(inner, 'not there')}"
    return ""


def read_facts(content: Any) -> Facts:
    """Return the facts of a record; what is no text stays what it is, and so differs from each fact of now.

    Raises:
        TypeError, ValueError: they are no facts by name.
    """
    return dict(content)


@cache
def code_digest() -> str:
    """A digest of every file of this package."""
    root, hashed = Path(__file__).parents[2], hashlib.sha256()
    for folder, inner, names in os.walk(root):
        inner[:] = sorted(name for name in inner if name != "__pycache__")
        for name in sorted(names):
            path = Path(folder, name)
            hashed.update(f"{path.relative_to(root)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return hashed.hexdigest()


@cache
def _packages() -> dict[str, str]:
    """The installed packages and their versions, by the names of their metadata: to read it takes ten times as long."""
    found: dict[str, str] = {}
    places = [*os.environ.get("PYTHONPATH", "").split(os.pathsep), *site.getsitepackages(), site.getusersitepackages()]
    # Not sys.path: setuptools puts a folder of its own there when it is imported.
    for place in dict.fromkeys(path for path in places if os.path.isdir(path)):  # noqa: PTH112 - of many
        for name in os.listdir(place):  # noqa: PTH208
            if name.endswith(".dist-info"):
                package, _, version = name.removesuffix(".dist-info").rpartition("-")
                found.setdefault(package, version)
    return dict(sorted(found.items()))
