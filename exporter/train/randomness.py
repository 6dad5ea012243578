"""In a child: every source of random numbers that training may draw from, seeded, written down, put back.

No pickles: Paddle's generator states are read through the tuple that they offer to pickle, and kept as JSON.
"""

from __future__ import annotations

import random
from typing import Any, cast

from exporter.workers import Json


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
        "paddle": {kind: [_to_json(one) for one in _states(kind)] for kind in _kinds()},
    }


def restore(state: Json) -> None:
    """Put back what :func:`capture` gave; the devices must be of the same kinds and as many."""
    import numpy as np
    import paddle

    version, keys, gauss = state["python"]
    random.setstate((version, tuple(keys), gauss))
    np.random.set_state(tuple(state["numpy"]))
    for kind, saved in state["paddle"].items():
        generators = [_from_json(one, like) for one, like in zip(saved, _states(kind), strict=True)]
        paddle.set_rng_state(generators, kind)


def _kinds() -> list[str]:
    import paddle

    return ["cpu", "gpu"] if paddle.get_device().startswith("gpu") else ["cpu"]


def _states(kind: str) -> list[Any]:
    import paddle

    return list(paddle.get_rng_state(kind))


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
