"""What the names of inputs and outputs say of one step of a decoder: ids, a place, a mask, a cache.

The names are those that exporters of language models give: `past_key_values.0.key` and `present.0.key`, `past_key` and
`present_key`, `cache` and `new_cache`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

#: What an input of a step holds; empty where its name says nothing of a step.
Role = Literal["cache", "place", "mask", "ids", "held", ""]

_BEFORE = frozenset(("past", "cache", "caches", "prev", "previous"))
_AFTER = frozenset(("present", "presents", "past", "cache", "caches", "new", "next", "updated", "out", "output"))
_PLACES = frozenset(("position", "positions", "pos", "place", "length", "len", "offset", "start"))
#: Words of other inputs, the first that fits a name decides.
_WORDS: tuple[tuple[Role, frozenset[str]], ...] = (
    ("place", _PLACES),
    ("mask", frozenset(("mask",))),
    ("cache", _BEFORE),
    ("held", frozenset(("encoder", "memory", "context", "cross"))),
    ("ids", frozenset(("id", "ids", "token", "tokens"))),
)
#: `past_key_values.0.key` is the key of layer 0: these words say only that it is of the past.
_COLLECTIVE = ("key", "values")


def role(name: str) -> Role:
    """Say what an input of this name holds in a step."""
    words = _words(name)
    if "type" in words:  # token_type_ids are no ids of the next step
        return ""
    return next((kind for kind, known in _WORDS if known.intersection(words)), "")


def is_step(inputs: Sequence[str]) -> bool:
    """Return whether the names are those of a step of a decoder: one of them holds what was computed before."""
    return any(role(name) == "cache" for name in inputs)


def paired(inputs: Sequence[str], outputs: Sequence[str]) -> dict[str, str]:
    """Pair each input that holds what was computed before with the output of the same name, but for `past`, `present`.

    Only where every such input has one, and no two the same: otherwise empty.
    """
    own = [name for name in inputs if role(name) == "cache"]
    after = {_core(name, _AFTER): name for name in outputs if _AFTER.intersection(_words(name))}
    pairs = {name: after.get(_core(name, _BEFORE)) for name in own}
    named = {name: output for name, output in pairs.items() if output is not None}
    if len(set(named.values())) == len(own):
        return named
    return dict(zip(own, after.values(), strict=True)) if len(after) == len(own) == 1 else {}


def renamed(cache: str) -> str:
    """Name the output that is the value of this input in the next step: `present_key` of `past_key`."""
    if "past" in _words(cache):
        return re.sub("past", "present", cache, count=1)
    return f"next_{re.sub(r'^prev(ious)?_', '', cache)}"


def _words(name: str) -> tuple[str, ...]:
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return tuple(part.lower() for part in parts)


def _core(name: str, marks: frozenset[str]) -> tuple[str, ...]:
    """The words of a name without those that say which step it belongs to."""
    words = tuple(word for word in _words(name) if word not in marks)
    collective = words[:2] == _COLLECTIVE and len(words) > len(_COLLECTIVE)
    return words[2:] if collective else words
