"""The device of this process's Paddle, and what makes its results on a GPU float32 and repeatable.

Every child computes on the CPU from the moment it imports Paddle (:mod:`exporter.paddle.child`): a GPU build would take
the first GPU. Only an engine and a training take another device, and they take it here.
"""

from __future__ import annotations

import contextlib
import os
from types import ModuleType

#: On a GPU: flags of Paddle's (`paddle/common/flags.cc`) by the names under which a run records them. cuDNN's fastest
#: algorithm is found by measuring, and may be another one in the next process; some sum in no fixed order.
_FLAGS = {
    "cudnn_deterministic": "FLAGS_cudnn_deterministic",
    "cudnn_exhaustive_search": "FLAGS_cudnn_exhaustive_search",
    "cuda_graph": "FLAGS_new_executor_use_cuda_graph",
}
#: Whether an operator without a kernel for the GPU runs on the CPU. Paddle tells of no operator where it ran.
_FALLBACK = "FLAGS_enable_api_kernel_fallback"
#: What a run of the gate asks for on a GPU. TF32 would cut the mantissa of float32 to 10 bits on Ampere and later.
FLOAT32 = {
    "tf32_cublas": False,
    "tf32_cudnn": False,
    "cudnn_deterministic": True,
    "cudnn_exhaustive_search": False,
    "cuda_graph": False,
}


def start_on_cpu(paddle: ModuleType) -> None:
    """Compute on the CPU until :func:`take_device` says otherwise."""
    paddle.set_device("cpu")


def take_device(device: str) -> str:
    """Compute on `cpu` or `gpu:N` from now on; returns the device that Paddle says it has taken.

    Raises:
        ValueError, RuntimeError: Paddle has no such device.
    """
    import paddle

    paddle.set_device(device)
    return str(paddle.get_device())


def present() -> dict[str, int]:
    """How many devices of each kind this Paddle computes on here, by Paddle's names: `cpu`, `gpu`, `xpu`, a plugin's.

    A kind that Paddle was built for, and of which there is none, counts 0.
    """
    import paddle

    found = {"cpu": 1}
    if paddle.is_compiled_with_cuda():
        found["gpu"] = int(paddle.device.cuda.device_count())
    if paddle.is_compiled_with_xpu():
        found["xpu"] = int(paddle.device.xpu.device_count())
    kinds = [str(name).partition(":")[0] for name in paddle.device.get_available_custom_device() or ()]
    return {**found, **{kind: kinds.count(kind) for kind in sorted(set(kinds))}}


def demand_float32() -> dict[str, bool]:
    """Switch TF32, cuDNN's search and CUDA graphs off; returns what was asked for: :data:`FLOAT32`."""
    import paddle

    from exporter.paddle.private import core

    core.set_cublas_switch(FLOAT32["tf32_cublas"])
    core.set_cudnn_switch(FLOAT32["tf32_cudnn"])
    for name, flag in _FLAGS.items():
        with contextlib.suppress(ValueError):  # a flag that this build has not is missing among the effective ones
            paddle.set_flags({flag: FLOAT32[name]})
    return dict(FLOAT32)


def gpu_settings() -> dict[str, str | int | bool]:
    """What decides the arithmetic on a GPU, as it is in effect; a flag that this build has not is left out."""
    import paddle

    from exporter.paddle.private import core

    found: dict[str, str | int | bool] = {
        "tf32_cublas": bool(core.get_cublas_switch()),
        "tf32_cudnn": bool(core.get_cudnn_switch()),
        "tf32_override": os.environ.get("NVIDIA_TF32_OVERRIDE", ""),
    }
    for name, flag in {**_FLAGS, "cpu_fallback": _FALLBACK}.items():
        with contextlib.suppress(ValueError):
            found[name] = bool(paddle.get_flags([flag])[flag])
    return found
