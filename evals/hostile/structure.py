"""Structural mutations of JSON: a value somewhere inside becomes another, a key comes, goes, or comes twice."""

from __future__ import annotations

import json
from random import Random
from typing import Any

#: What no manifest holds at most places: other types, ends of numbers, paths that climb out, what forges a terminal.
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 7, 1 << 31, (1 << 63) - 1, 1 << 64, 10**400, 0.5, -0.0, 1e308, 5e-324),
    *("", "x", "../../etc/passwd", "/etc/passwd", "a\x1b[2Jb", "verdict: PASSED\n", "\u202e", "é", "*", "cpu"),
    *("9" * 5000, "x" * 100_000, "payload:build", "os:abort", "/proc/kmsg", "float32", "bfloat16", "batch"),
    *(
        [],
        {},
        [[]],
        [None],
        {"": None},
        ["batch", "batch"],
        [-1],
        [1 << 62, 1 << 62],
        {"min": 0, "typical": 0, "max": 0},
    ),
)
#: Written into the text in the place of a value, since Python's writer refuses them or would not write them so.
RAW = ("NaN", "Infinity", "-Infinity", "1e999", '"\\ud800"', '"\\udc80x"', "01", "9" * 400, "[" * 3000 + "]" * 3000)
_MARK = "a place of the text to be replaced"


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside."""
    found, waiting = [], [value]
    while waiting:
        inner = waiting.pop()
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner))) if isinstance(inner, list) else []
        found += [(inner, key) for key in keys]
        waiting += [inner[key] for key in keys]
    return found


def mutate(value: Any, random: Random) -> str:
    """Change one place of a JSON value as it lies; tells what. Places near the root come as often as deep ones."""
    every = places(value)
    shallow = [(value, key) for key in value] if random.random() < 0.4 and isinstance(value, dict) else every
    container, key = random.choice(shallow or every)
    way = random.choice(("value", "value", "value", "gone", "twin", "more", "number"))
    old = container[key]
    if way == "gone":
        del container[key]
        return f"{key!r} is gone"
    if way == "twin":
        other, name = random.choice(every)
        if name in other if isinstance(other, dict) else isinstance(name, int) and name < len(other):
            container[key] = json.loads(json.dumps(other[name]))
        return f"{key!r} is what {name!r} is"
    if way == "more" and isinstance(old, (dict, list)):
        if isinstance(old, dict):
            old[random.choice(("more", "", "__proto__", "a\nb", "schema"))] = random.choice(VALUES)
        else:
            old.append(random.choice([*VALUES, *old]))
        return f"{key!r} holds one more"
    if way == "number" and isinstance(old, (int, float)) and not isinstance(old, bool):
        container[key] = random.choice((old + 1, -old, old * 2, old * 1e9, old / 3, str(old)))
        return f"{key!r} is {container[key]!r}, was {old!r}"[:200]
    container[key] = random.choice(VALUES)
    return f"{key!r} is {container[key]!r}"[:200]


def mutate_text(value: Any, random: Random) -> tuple[bytes, str]:
    """As :func:`mutate`, with what no writer writes: the text, and what was done to it."""
    container, key = random.choice(places(value))
    said = random.choice(RAW)
    container[key] = _MARK
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False).replace(f'"{_MARK}"', said) + "\n"
    return text.encode("utf-8", "surrogatepass"), f"{key!r} is written {said[:20]}"
