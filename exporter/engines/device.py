"""Which device runs: what is asked for is what runs. Nothing falls back in silence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import EnvironmentLacks, UsageError, did_you_mean
from exporter.engines.probe import availability
from exporter.process.workers import Limits


@dataclass(frozen=True)
class Device:
    """The device of a whole verdict, `cpu` or `gpu:N`; `notes` say why `auto` did not take a GPU that is here."""

    name: str
    notes: tuple[str, ...] = ()


def choose_device(asked: str, engines: Sequence[str], limits: Limits, *, every: bool = False) -> Device:
    """Turn `auto`, `cpu`, `gpu` or `gpu:N` into the device on which all `engines` will run.

    `auto` takes the first GPU if there is one on which every engine computes, else the CPU. A GPU that is asked for is
    taken if any engine computes on it: the others will be missing from the verdict, each with its reason.

    Raises:
        UsageError: it is none of these.
        EnvironmentLacks: a GPU is asked for, and no engine computes on it, or with `every` not each of them.
    """
    kind, device = parse_device(asked)
    if kind == "cpu" or (kind == "auto" and not nvidia_here()):
        return Device("cpu")
    answers = availability(list(dict.fromkeys(engines)), device, limits)
    unable = {name: answer for name, answer in answers.items() if not answer.available}
    if kind == "auto" and unable:
        reasons = "; ".join(f"{name}: {answer.why_not} ({answer.cure})" for name, answer in sorted(unable.items()))
        return Device(
            "cpu", (f"all engines ran on the CPU, though there is a GPU, since not all can use it: {reasons}",)
        )
    if unable and (every or len(unable) == len(answers)):
        name, answer = next(iter(unable.items()))
        raise EnvironmentLacks(f"{asked} was asked for: {answer.why_not}", where=f"engine {name}", hint=answer.cure)
    return Device(device)


def parse_device(asked: str) -> tuple[str, str]:
    """Return what is asked for (`auto`, `cpu` or `gpu`), and which GPU that would be: `gpu:0` without a number.

    Raises:
        UsageError: it is none of these.
    """
    kind, _, number = asked.partition(":")
    if kind not in ("auto", "cpu", "gpu") or (":" in asked and (kind != "gpu" or not number.isdecimal())):
        hint = did_you_mean(kind, ("auto", "cpu", "gpu"), "use {} or gpu:N")
        raise UsageError(f"'{asked}' is no device", where="--device", hint=hint)
    return kind, f"gpu:{number or 0}"


def nvidia_here() -> bool:
    """Without the driver's device files there is no NVIDIA GPU; saves a child that would import Paddle to see it.

    Under Windows' Linux (WSL 2) the driver has one file, `/dev/dxg`.
    """
    return any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/dxg").exists()
