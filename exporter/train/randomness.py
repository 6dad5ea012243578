"""In a child: every source of random numbers that training may draw from, seeded, written down, put back.

No pickles: Paddle's generator states are read through the tuple that they offer to pickle, and kept as JSON.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

#: Device, seed, offset, and the text of the engine.
Generator: TypeAlias = tuple[int, int, int, str]


@dataclass(frozen=True)
class RandomState:
    """The states of Python's and numpy's global generators, as these give them, and of Paddle's by device."""

    python: tuple[int, tuple[int, ...], float | None]
    numpy: tuple[str, tuple[int, ...], int, int, float]
    paddle: tuple[Generator, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"python": self.python, "numpy": self.numpy, "paddle": self.paddle}

    @classmethod
    def of_json(cls, content: Mapping[str, Any]) -> RandomState:
        """Read what :meth:`to_json` gave."""
        version, keys, gauss = content["python"]
        name, numbers, *rest = content["numpy"]
        generators = tuple(cast(Generator, tuple(state)) for state in content["paddle"])
        return cls((version, tuple(keys), gauss), (name, tuple(numbers), *rest), generators)


def seed_all(seed: int) -> None:
    """Seed Paddle (every device), numpy's and Python's global generators."""
    import numpy as np
    import paddle

    paddle.seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)


def capture() -> RandomState:
    """Return the state of all of them."""
    import numpy as np

    name, keys, position, has_gauss, gauss = cast(tuple[Any, ...], np.random.get_state())
    return RandomState(
        python=random.getstate(),
        numpy=(name, tuple(keys.tolist()), position, has_gauss, gauss),
        paddle=tuple(_plain(generator.get_state()) for generator in _generators()),
    )


def restore(state: RandomState) -> None:
    """Put back what :func:`capture` gave on the same kind of device, and as many of them."""
    import numpy as np

    random.setstate(state.python)
    name, keys, position, has_gauss, gauss = state.numpy
    np.random.set_state((name, np.array(keys, "uint32"), position, has_gauss, gauss))
    for generator, saved in zip(_generators(), state.paddle, strict=True):
        generator.set_state(_like(saved, generator.get_state()))


def _generators() -> list[Any]:
    """Paddle's generators: the CPU's, and on a GPU each GPU's.

    Not by `set_rng_state(states, device)`: Paddle 3.0-3.2 fails in it wherever a device is named (random.py).
    """
    import paddle

    from exporter.paddle.private import core

    gpus = range(core.get_cuda_device_count()) if paddle.get_device().startswith("gpu") else ()
    return [core.default_cpu_generator(), *(core.default_cuda_generator(number) for number in gpus)]


def _plain(state: Any) -> Generator:
    # (device, seed, offset, engine): the engine is the text of a C++ std::mt19937_64, as bytes in a list of int.
    # pybind.cc, GeneratorState, Paddle 3.0-3.3.
    device, seed, offset, engine = state.__getstate__()
    return device, seed, offset, bytes(engine).decode()


def _like(saved: Generator, like: Any) -> Any:
    device, seed, offset, engine = saved
    kind: Any = type(like)
    state = kind.__new__(kind)
    state.__setstate__((device, seed, offset, list(engine.encode())))
    return state
