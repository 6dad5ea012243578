"""Which device runs: what is asked for is what runs. Nothing falls back in silence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exporter.errors import EnvironmentLacks, UsageError
from exporter.workers import Limits, call


def require_device(asked: str, engines: Sequence[str], limits: Limits) -> str:
    """Turn `auto`, `cpu`, `gpu` or `gpu:N` into `cpu` or `gpu:N`.

    `auto` takes the GPU where there is one that every engine can use, else the CPU.

    Raises:
        UsageError: it is none of these.
        EnvironmentLacks: a GPU is asked for, and an engine cannot use it; the hint says how to get there.
    """
    kind, device = parse_device(asked)
    if kind == "cpu" or (kind == "auto" and not nvidia_here()):
        return "cpu"
    answers = call("exporter.engines._child:probe", {"engines": list(engines), "device": device}, limits)
    for name, found in answers.items():
        if found["why_not"] and kind == "auto":
            return "cpu"
        if found["why_not"]:
            raise EnvironmentLacks(
                f"{asked} was asked for: {found['why_not']}", where=f"engine {name}", hint=found["cure"]
            )
    return device


def parse_device(asked: str) -> tuple[str, str]:
    """Return what is asked for (`auto`, `cpu` or `gpu`), and which GPU that would be: `gpu:0` without a number.

    Raises:
        UsageError: it is none of these.
    """
    kind, _, number = asked.partition(":")
    if kind not in ("auto", "cpu", "gpu") or (number and (kind != "gpu" or not number.isdigit())):
        raise UsageError(f"'{asked}' is no device", where="--device", hint="use auto, cpu, gpu or gpu:N")
    return kind, f"gpu:{number or 0}"


def nvidia_here() -> bool:
    """Without the driver's device files there is no NVIDIA GPU; saves a child that would import Paddle to see it."""
    return any(Path("/dev").glob("nvidia[0-9]*"))
