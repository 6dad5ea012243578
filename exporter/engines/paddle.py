"""What the engines made of Paddle share: the probe, the device, and the border of its exceptions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import ClassVar

import exporter.engines.cuda as cuda
from exporter.base import machine
from exporter.base.errors import EnvironmentLacks, ExporterError
from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import Availability, Engine, EngineRefused, Settings, missing
from exporter.paddle.device import demand_float32, gpu_settings, take_device
from exporter.paddle.threads import set_threads, threads_now
from exporter.process.workers import PADDLE

INSTALL = "install it with: scripts/install, or pip install paddlepaddle==3.3.1"
INSTALL_GPU = "install the GPU build with: scripts/install --gpu"


class PaddleEngine(Engine):
    """An engine that runs Paddle's own kernels, in full precision."""

    imports = PADDLE
    paddle_kernels: ClassVar[bool] = True

    def probe(self, device: str) -> Availability:
        return probe_paddle(device)


def probe_paddle(device: str) -> Availability:
    """Look whether Paddle imports here and can use the device; on a GPU it computes."""
    if lacks := missing("paddle", INSTALL):
        return lacks
    import paddle

    if device == "cpu":
        return Availability(version=paddle.__version__)
    if not paddle.device.is_compiled_with_cuda():
        return Availability(why_not="this Paddle is built for the CPU", cure=INSTALL_GPU)
    number, count = int(device.partition(":")[2] or 0), paddle.device.cuda.device_count()
    if number >= count:
        return Availability(why_not=f"{device} was asked for, and {count} GPUs are here", cure="check nvidia-smi")
    try:
        with border():
            take_device(device)
            doubled = (paddle.ones([2]) * 2).numpy().tolist()
    except (EngineRefused, EnvironmentLacks) as error:
        said = str(error)
        return Availability(why_not=f"Paddle cannot compute on {device}: {said}", cure=cuda.cure(said, INSTALL_GPU))
    if doubled != [2, 2]:
        return Availability(why_not=f"on {device} Paddle computes [1, 1] * 2 = {doubled}", cure=INSTALL_GPU)
    return Availability(version=paddle.__version__, driver=machine.driver(), libraries=cuda.libraries())


def use(device: str, threads: int) -> Settings:
    """Make the device and the number of threads Paddle's own, on a GPU in float32, and tell what came of it."""
    with border():
        taken = take_device(device)
        asked: dict[str, str | int | bool] = {"device": device, "threads": threads}
        if device != "cpu":
            asked |= demand_float32()
    set_threads(threads)
    return Settings(asked, {"device": taken, "threads": threads_now(), **on_gpu(device)})


def on_gpu(device: str) -> dict[str, str | int | bool]:
    """What is recorded of a run on a GPU: what decides its arithmetic, and whose libraries compute; else nothing."""
    if device == "cpu":
        return {}
    return {**gpu_settings(), **cuda.libraries(), "driver": machine.driver()}


@contextlib.contextmanager
def border() -> Iterator[None]:
    """What a layer or Paddle raises becomes one type.

    A user's `forward` may raise anything, and so may Paddle's C++: `EnforceNotMet` is nothing but an Exception (3.3.1).

    Raises:
        EngineRefused: with the lines that say what it is.
        EnvironmentLacks: a shared library is not to be found.
    """
    try:
        yield
    except (EngineRefused, ExporterError):
        raise
    except Exception as error:
        if library := cuda.missing_library(str(error)):
            raise EnvironmentLacks(f"{library} cannot be loaded", hint=cuda.how_to_get(library)) from error
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

    from exporter.export.trace.structure import leaves

    found = [leaf for _, leaf in leaves(value)]
    if len(found) != len(names):
        raise EngineRefused(f"{len(found)} outputs came, {len(names)} were expected")
    for name, leaf in zip(names, found, strict=True):
        if not isinstance(leaf, paddle.Tensor):
            raise EngineRefused(f"output '{name}' is {type(leaf).__name__}, not a tensor")
    return {name: leaf.numpy() for name, leaf in zip(names, found, strict=True)}
