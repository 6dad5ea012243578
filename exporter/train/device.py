"""In a child: the device that a training runs on, by the name that Paddle gives it."""

from __future__ import annotations

from exporter.base.errors import EnvironmentLacks, UsageError, did_you_mean
from exporter.paddle.device import present, take_device

#: What Paddle itself can be built for. Another kind comes by a plugin, and is known where that is installed.
_BUILT_FOR = ("cpu", "gpu", "xpu")
#: Kinds that plugins bring (the backends of PaddleCustomDevice, 2025), known where none is installed as well.
_OF_PLUGINS = ("npu", "mlu", "gcu", "sdaa", "mps", "biren_gpu", "iluvatar_gpu", "intel_gpu", "metax_gpu")


def use_device(asked: str) -> str:
    """Make Paddle use the device asked for (`auto`: a GPU if there is one), with deterministic kernels; its name.

    A kind that a plugin of Paddle's brings (custom devices, as `npu`) is taken by its name, as `xpu` is.

    Raises:
        EnvironmentLacks: there is no such device here; nothing falls back.
        UsageError: no device is called so.
    """
    import paddle

    here = present()
    if asked == "auto":
        asked = "gpu" if here.get("gpu") else "cpu"
    kind, colon, number = asked.partition(":")
    named = kind in here or kind in _BUILT_FOR or kind in _OF_PLUGINS
    if not named or (colon and (kind == "cpu" or not number.isdigit())):
        hint = did_you_mean(kind, ("auto", *dict.fromkeys((*_BUILT_FOR, *here))), "use {}, or gpu:N for the Nth one")
        raise UsageError(f"unknown device '{asked}'", where="--device", hint=hint)
    if kind == "cpu":
        return take_device("cpu")
    if int(number or 0) >= here.get(kind, 0):
        missing = f"{here[kind]} of them here" if kind in here else _why_none(kind)
        raise EnvironmentLacks(f"no device '{asked}': {missing}", where="--device", hint=_how_to_get(kind))
    if kind == "gpu":
        paddle.set_flags({"FLAGS_cudnn_deterministic": True})  # known to GPU builds alone
    return take_device(f"{kind}:{number or 0}")


def _why_none(kind: str) -> str:
    if kind in _OF_PLUGINS:
        return f"no plugin of Paddle's brings {kind} here"
    return f"this Paddle was not built for {kind.upper()}"


def _how_to_get(kind: str) -> str:
    if kind == "gpu":
        return "use --device cpu, or install it: scripts/install --gpu cu126"
    if kind in _OF_PLUGINS:
        return f"use --device cpu, or install the plugin of PaddleCustomDevice for {kind}"
    return f"use --device cpu, or install the Paddle that was built for {kind.upper()}"
