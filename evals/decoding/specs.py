"""The spec of each decoder, as a user writes it."""

from __future__ import annotations

from typing import Any

from evals.decoding.networks import HEAD, HEADS, PLACES, SHARED, WIDTH

#: How each decoder is called, and what shows a place that is one off in it; two have none, there it is a slow drift.
KINDS = ("GPT", "Llama", "Qwen2", "Mistral", "T5", "Bloom", "Seq2Seq", "Mamba", "Static")
DRIFTING = ("Seq2Seq", "Mamba")
_IDS = {"dtype": "int64", "shape": ["batch", 1], "values": "integers(0,50)"}
_PLACE = {"dtype": "int64", "shape": ["batch", 1], "values": "integers(past,past+1)"}
_MEMORY = {"dtype": "float32", "shape": ["batch", "source", WIDTH]}
_PAST = {"min": 1, "typical": 8, "max": 80}
_SOURCE = {"min": 2, "typical": 5, "max": 9}


def _real(*shape: int | str) -> dict[str, Any]:
    return {"dtype": "float32", "shape": ["batch", *shape]}


def _blocks(count: int, heads: int) -> dict[str, Any]:
    """Keys and values of so many blocks."""
    return {f"{part}_{at}": _real(heads, "past", HEAD) for at in range(count) for part in ("key", "value")}


#: The inputs of each but the ids, which come first; then the dims beside the batch, and what else is said of decoding.
_MADE: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "GPT": ({"position": _PLACE, **_blocks(2, HEADS)}, {"past": _PAST}, {}),
    "Llama": ({"position": _PLACE, **_blocks(2, HEADS)}, {"past": _PAST}, {}),
    "Qwen2": (
        {
            "position": _PLACE,
            "mask": {"dtype": "int64", "shape": ["batch", "past+1"], "values": "integers(0,2)", "empty_rows": False},
            **_blocks(2, SHARED),
        },
        {"past": _PAST},
        {},
    ),
    "Mistral": ({"position": _PLACE, **_blocks(2, SHARED)}, {"past": _PAST}, {}),
    "T5": (
        {"memory": _MEMORY, "key": _real(HEADS, "past", HEAD), "value": _real(HEADS, "past", HEAD)},
        {"past": _PAST, "source": _SOURCE},
        {"held": ["memory"]},
    ),
    "Bloom": (_blocks(2, HEADS), {"past": _PAST}, {}),
    "Seq2Seq": (
        {"memory": _MEMORY, "hidden": _real(WIDTH), "cell": _real(WIDTH), "state": _real(WIDTH)},
        {"source": _SOURCE},
        {"held": ["memory"]},
    ),
    "Mamba": ({"recent": _real(WIDTH, 4), "state": _real(WIDTH, 8)}, {}, {}),
    "Static": (
        {
            "position": {"dtype": "int64", "shape": ["batch", 1], "values": f"integers(0,{PLACES})"},
            "keys": _real(HEADS, PLACES, HEAD),
            "values": _real(HEADS, PLACES, HEAD),
        },
        {},
        {"counts": ["position"]},
    ),
}


def spec(kind: str, steps: int = 64, **fault: int) -> dict[str, Any]:
    """The spec of a decoder; `fault` are arguments of its factory."""
    inputs, dims, said = _MADE[kind]
    cache = {name: f"next_{name}" for name in inputs if name not in ("position", "mask", "memory")}
    return {
        "name": kind.lower(),
        "model": "evals.decoding.networks:build",
        "args": {"kind": kind, **fault},
        "weights": "factory",
        "inputs": {"ids": _IDS, **inputs},
        "dims": {"batch": {"min": 1, "typical": 2, "max": 3}, **dims},
        "outputs": ["logits", *cache.values()],
        "decoding": {"cache": cache, "tokens": {"ids": "logits"}, "steps": steps, **said},
    }
