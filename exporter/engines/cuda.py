"""CUDA as a process sees it, whichever engine uses it: versions of its libraries, and what a failure to load means."""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path

#: Library -> the function that tells its version, and how many units the major and the minor version count.
_VERSIONS = {
    "cuda": (r"libcudart\.so[.\d]*", "cudaRuntimeGetVersion", (1000, 10)),
    "cudnn": (r"libcudnn\.so[.\d]*", "cudnnGetVersion", (10000, 100)),
}
_NOT_FOUND = re.compile(r"(lib[\w.+-]+\.so[.\d]*): cannot open shared object file")
#: What brings a library, by the beginning of its name.
_BROUGHT_BY = (
    ("libnvinfer", "the TensorRT that the engine was built with"),
    ("libnvonnxparser", "the TensorRT that the engine was built with"),
    ("libcudnn", "the cuDNN that the engine was built with"),
    ("libcuda.", "the NVIDIA driver"),
    ("libnvidia", "the NVIDIA driver"),
    ("libcu", "the CUDA that the engine was built with"),
    ("libnv", "the CUDA that the engine was built with"),
)
#: What CUDA's own words mean for whoever reads them; the first that is found counts.
_CURES = (
    (
        r"driver version is insufficient|failure 35\b",
        "install or update the NVIDIA driver (nvidia-smi shows it), or install an engine for an older CUDA",
    ),
    (
        r"no CUDA-capable device|failure 100\b|CUDA_ERROR_NO_DEVICE",
        "check that nvidia-smi lists a GPU; start a container with --gpus all",
    ),
    (r"invalid device ordinal|failure 101\b", "name a GPU that nvidia-smi lists, and look at CUDA_VISIBLE_DEVICES"),
    (r"no kernel image|failure 209\b", "install an engine that was built for this GPU's compute capability"),
    (r"out of memory|failure 2\b", "end what else uses the GPU (nvidia-smi lists it), or name another with gpu:N"),
)


def libraries() -> dict[str, str]:
    """Versions of CUDA's runtime and of cuDNN, of those loaded into this process; Linux tells which."""
    maps = Path("/proc/self/maps")
    text = maps.read_text() if maps.exists() else ""
    versions = {}
    for name, (pattern, function, units) in _VERSIONS.items():
        loaded = re.search(rf"(/\S*/{pattern})$", text, re.MULTILINE)
        number = _version(loaded[1], function) if loaded else 0
        if number:
            major, rest = divmod(number, units[0])
            versions[name] = f"{major}.{rest // units[1]}"
    return versions


def _version(path: str, function: str) -> int:
    """The version by a library's own function: cuDNN returns it, CUDA's runtime writes it through a pointer."""
    library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    if function == "cudnnGetVersion":
        library.cudnnGetVersion.restype = ctypes.c_size_t
        return int(library.cudnnGetVersion())
    number = ctypes.c_int(0)
    return number.value if getattr(library, function)(ctypes.byref(number)) == 0 else 0


def missing_library(said: str) -> str:
    """The shared library that a message says is not to be found, as `libcudnn.so.9`; empty where it says none."""
    found = _NOT_FOUND.search(said)
    return found[1] if found else ""


def how_to_get(library: str) -> str:
    """What to install for a shared library that an engine misses."""
    package = next(
        (name for start, name in _BROUGHT_BY if library.startswith(start)), f"the package that has {library}"
    )
    return f"install {package}, and put its folder on LD_LIBRARY_PATH if it lies in none that the loader knows"


def cure(said: str, install: str) -> str:
    """What to do about a failure to use a GPU; `install` says how to get the libraries that the engine needs."""
    if missing_library(said):
        return install
    return next((cure for pattern, cure in _CURES if re.search(pattern, said)), f"check nvidia-smi; {install}")
