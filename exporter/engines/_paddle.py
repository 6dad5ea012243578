"""What the engines made of Paddle share: the probe, the device, and the border where its exceptions end."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from exporter.engines.base import Availability, EngineRefused
from exporter.tensors import Array, TensorMap

INSTALL = "install it with: scripts/install, or pip install paddlepaddle==3.3.1"


def probe_paddle(device: str) -> Availability:
    """Look whether Paddle imports here and can use the device."""
    try:
        import paddle
    except ImportError as error:
        return Availability(why_not=f"paddle cannot be imported: {error}", cure=INSTALL)
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


@contextlib.contextmanager
def border() -> Iterator[None]:
    """Paddle raises its own C++ errors as RuntimeError, ValueError and the like; here they become one."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError, KeyError, IndexError, AttributeError, OSError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        telling = [line for line in lines if "Error" in line or "[Hint" in line] or lines or ["no message"]
        raise EngineRefused(f"{type(error).__name__}: {' '.join(telling[:2])[:500]}") from error


def call_layer(layer: object, order: tuple[str, ...], inputs: TensorMap) -> object:
    """Call a layer on numpy inputs, passed by position in `order`, without gradients."""
    import paddle

    with paddle.no_grad():
        return layer(*[paddle.to_tensor(inputs[name]) for name in order])  # type: ignore[operator]


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
