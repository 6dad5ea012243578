"""What the engines made of Paddle share: the probe, the device, the threads, and the border of its exceptions."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from exporter.engines.base import Availability, Engine, EngineRefused, Settings, missing
from exporter.errors import ExporterError
from exporter.tensors import Array, TensorMap
from exporter.workers import PADDLE

INSTALL = "install it with: scripts/install, or pip install paddlepaddle==3.3.1"


class PaddleEngine(Engine):
    """An engine that runs Paddle's own kernels, in full precision."""

    imports = PADDLE
    paddle_kernels: ClassVar[bool] = True

    def probe(self, device: str) -> Availability:
        return probe_paddle(device)


def probe_paddle(device: str) -> Availability:
    """Look whether Paddle imports here and can use the device."""
    if found := missing("paddle", INSTALL):
        return found
    import paddle

    if device.startswith("gpu"):
        if not paddle.device.is_compiled_with_cuda():
            return Availability(
                why_not="this Paddle is built for the CPU",
                cure="install the GPU build with: scripts/install --gpu",
            )
        number = int(device.partition(":")[2] or 0)
        count = paddle.device.cuda.device_count()
        if number >= count:
            return Availability(why_not=f"{device} was asked for, and {count} GPUs are here", cure="check nvidia-smi")
    return Availability(version=paddle.__version__)


def use(device: str, threads: int) -> Settings:
    """Make the device and the number of threads Paddle's own, and tell what came of it."""
    import paddle

    with border():
        paddle.set_device(device)
    set_threads(threads)
    return Settings({"device": device, "threads": threads}, {"device": paddle.get_device(), "threads": threads_now()})


def set_threads(threads: int) -> None:
    """Compute in so many threads from now on.

    Paddle's wheels bring two OpenMP runtimes: MKL and oneDNN use Intel's, Paddle's own loops GNU's. Its setter reaches
    only the first (3.3.1, measured), so each that is loaded is told.
    """
    from paddle.base import core

    core.set_num_threads(threads)
    for runtime in _openmp():
        runtime.omp_set_num_threads(threads)


def threads_now() -> int | str:
    """How many threads the OpenMP runtimes of this process say they will use; all numbers, where they differ.

    Where there is none to ask, what the process was started with.
    """
    counts = {int(runtime.omp_get_max_threads()) for runtime in _openmp()}
    counts = counts or {int(os.environ.get("OMP_NUM_THREADS", 0))}
    return counts.pop() if len(counts) == 1 else " and ".join(map(str, sorted(counts)))


def _openmp() -> list[ctypes.CDLL]:
    """The OpenMP runtimes loaded into this process (Linux tells which)."""
    maps = Path("/proc/self/maps")
    text = maps.read_text() if maps.exists() else ""
    found = re.findall(r"(/\S*/lib(?:iomp5|gomp|omp)[-.\w]*\.so\S*)$", text, re.MULTILINE)
    return [ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY) for path in dict.fromkeys(found)]


@contextlib.contextmanager
def border() -> Iterator[None]:
    """What a layer or Paddle raises becomes one type.

    A user's `forward` may raise anything, and so may Paddle's C++: `EnforceNotMet` is nothing but an Exception (3.3.1).
    """
    try:
        yield
    except (EngineRefused, ExporterError):
        raise
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        telling = [line for line in lines if "Error" in line or "[Hint" in line] or lines or ["no message"]
        raise EngineRefused(f"{type(error).__name__}: {' '.join(telling[:2])[:500]}") from error


def call_layer(layer: object, order: tuple[str, ...], inputs: TensorMap, *, stop_gradient: bool = True) -> object:
    """Call a layer on numpy inputs, passed by position in `order`, without gradients."""
    import paddle

    with paddle.no_grad():
        tensors = [paddle.to_tensor(inputs[name], stop_gradient=stop_gradient) for name in order]
        return layer(*tensors)  # type: ignore[operator]


def named_arrays(value: object, names: tuple[str, ...]) -> dict[str, Array]:
    """Turn what a layer returned into named numpy arrays, leaf by leaf in the author's order.

    Raises:
        EngineRefused: the number of leaves is not the number of names, or a leaf is no tensor.
    """
    import paddle

    from exporter.trace.structure import leaves

    found = [leaf for _, leaf in leaves(value)]
    if len(found) != len(names):
        raise EngineRefused(f"{len(found)} outputs came, {len(names)} were expected")
    for name, leaf in zip(names, found, strict=True):
        if not isinstance(leaf, paddle.Tensor):
            raise EngineRefused(f"output '{name}' is {type(leaf).__name__}, not a tensor")
    return {name: leaf.numpy() for name, leaf in zip(names, found, strict=True)}
