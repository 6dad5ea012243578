"""What the machine is, as far as speed and capacity depend on it; told without an engine."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import TypedDict

#: Flags of /proc/cpuinfo that decide which kernels an engine picks. Without AVX2 engines are slow; with VNNI int8 pays;
#: with bf16 or AMX an engine may compute in bfloat16 unless it is told not to (OpenVINO 2026.4 does).
ABILITIES = ("avx2", "avx512f", "avx_vnni", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_int8", "amx_bf16")
#: Where Linux says how much memory a container may use (cgroup version 2, then 1); `max` means no limit.
_CGROUP = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))

#: Seconds for nvidia-smi, which waits for each GPU to wake up.
_PATIENCE = 30.0


class Cpu(TypedDict):
    """A CPU, as it stands in documents: its model, the cores that this process may use, its :data:`ABILITIES`."""

    model: str
    cores: int
    abilities: list[str]


class Disk(TypedDict):
    """The disk of a folder, as `doctor` tells of it: sizes in bytes, and whether the folder may be written to."""

    path: str
    total: int
    free: int
    writable: bool


def cpu() -> Cpu:
    """The CPU: its model, the cores that this process may use, and which of :data:`ABILITIES` it has.

    `abilities` is empty where the system does not tell (it is read from /proc/cpuinfo).
    """
    fields = _cpuinfo()
    flags = set(fields.get("flags", "").split())
    return {
        "model": fields.get("model name") or platform.processor() or platform.machine(),
        "cores": cores(),
        "abilities": [name for name in ABILITIES if name in flags],
    }


def adds_in_16_bits() -> bool:
    """Return whether int8 kernels add products in pairs into 16 bits here: on an x86 CPU that reports no VNNI.

    `ONEDNN_MAX_CPU_ISA` takes VNNI from oneDNN, whatever the CPU has.
    """
    if platform.machine().lower() not in ("x86_64", "amd64", "i686", "i386"):
        return False
    return onednn_is_limited() or not {"avx_vnni", "avx512_vnni"} & set(cpu()["abilities"])


def onednn_is_limited() -> bool:
    """Return whether `ONEDNN_MAX_CPU_ISA` keeps oneDNN from VNNI, and so from bfloat16, whatever the CPU has."""
    return os.environ.get("ONEDNN_MAX_CPU_ISA", "").upper() in ("SSE41", "AVX", "AVX2", "AVX512_CORE")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available() -> int:
    """Bytes of memory that the machine has left; Linux says so itself, and psutil takes 20 ms to import."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        _, _, left = Path("/proc/meminfo").read_text().partition("MemAvailable:")
        return int(left.split()[0]) << 10
    import psutil

    return int(psutil.virtual_memory().available)


def memory() -> dict[str, int]:
    """Bytes of memory: `total` that this process may use, by the machine or by its container, and `available` now."""
    import psutil

    found = psutil.virtual_memory()
    limits = [int(text) for text in map(_text, _CGROUP) if text.isdigit()]
    total = min(found.total, *limits) if limits else found.total
    return {"total": total, "available": min(found.available, total)}


def disk(folder: Path) -> Disk:
    """Bytes on the disk of a folder, and whether the folder may be written to."""
    found = shutil.disk_usage(folder)
    return {"path": str(folder), "total": found.total, "free": found.free, "writable": os.access(folder, os.W_OK)}


def gpus() -> list[dict[str, str]]:
    """NVIDIA's GPUs in the order of the driver: `name`, `compute_capability`, `memory` as `nvidia-smi` writes it.

    Empty where there is no driver. `CUDA_VISIBLE_DEVICES` may hide some of them from engines, or change their order.
    """
    lines = _nvidia_smi("--query-gpu=name,compute_cap,memory.total", "--format=csv,noheader").splitlines()
    rows = [[part.strip() for part in line.rsplit(",", 2)] for line in lines]
    return [dict(zip(("name", "compute_capability", "memory"), row, strict=True)) for row in rows if len(row) == 3]


@cache
def driver() -> str:
    """The version of NVIDIA's driver and of the newest CUDA that it serves, `570.86.15 (CUDA 12.8)`; "" without one."""
    lines = _nvidia_smi("--query-gpu=driver_version", "--format=csv,noheader").splitlines()
    if not lines:
        return ""
    serves = re.search(r"CUDA Version\s*:\s*([\d.]+)", _nvidia_smi())
    return f"{lines[0].strip()} (CUDA {serves[1]})" if serves else lines[0].strip()


def _nvidia_smi(*arguments: str) -> str:
    """Return what `nvidia-smi` prints; empty if it is not installed, fails, or takes too long."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, errors="replace", timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _cpuinfo() -> dict[str, str]:
    """The fields of the first processor."""
    lines = (line.partition(":") for line in _text(Path("/proc/cpuinfo")).split("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
