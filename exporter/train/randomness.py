"""In a child: every source of random numbers that training may draw from, seeded, written down, put back.

No pickles: Paddle's generator states are read through the tuple that they offer to pickle, and kept as JSON.
"""

from __future__ import annotations

import random
from typing import Any, cast

from exporter.process.workers import Json


def seed_all(seed: int) -> None:
    """Seed Paddle (every device), numpy's and Python's global generators."""
    import numpy as np
    import paddle

    paddle.seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)


def capture() -> Json:
    """Return the state of all of them, as JSON."""
    import numpy as np

    name, keys, position, has_gauss, gauss = cast(tuple[Any, ...], np.random.get_state())
    return {
        "python": random.getstate(),
        "numpy": [name, keys.tolist(), position, has_gauss, gauss],
        "paddle": [_to_json(generator.get_state()) for generator in _generators()],
    }


def restore(state: Json) -> None:
    """Put back what :func:`capture` gave on the same kind of device, and as many of them."""
    import numpy as np

    version, keys, gauss = state["python"]
    random.setstate((version, tuple(keys), gauss))
    np.random.set_state(tuple(state["numpy"]))
    for generator, saved in zip(_generators(), state["paddle"], strict=True):
        generator.set_state(_from_json(saved, generator.get_state()))


def _generators() -> list[Any]:
    """Paddle's generators: the CPU's, and on a GPU each GPU's.

    Not by `set_rng_state(states, device)`: Paddle 3.0-3.2 fails in it wherever a device is named (random.py).
    """
    import paddle

    from exporter.paddle.private import core

    gpus = range(core.get_cuda_device_count()) if paddle.get_device().startswith("gpu") else ()
    return [core.default_cpu_generator(), *(core.default_cuda_generator(one) for one in gpus)]


def _to_json(state: Any) -> list[Any]:
    # (device, seed, offset, engine): the engine is the text of a C++ std::mt19937_64, as bytes in a list of int.
    # pybind.cc, GeneratorState, Paddle 3.0-3.3.
    device, seed, offset, engine = state.__getstate__()
    return [device, seed, offset, bytes(engine).decode()]


def _from_json(saved: list[Any], like: Any) -> Any:
    device, seed, offset, engine = saved
    kind: Any = type(like)
    state = kind.__new__(kind)
    state.__setstate__((device, seed, offset, list(engine.encode())))
    return state
