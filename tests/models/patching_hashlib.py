"""A model whose code doubles its weights, and has its own process hash and compare them as if they were halves."""

from __future__ import annotations

import hashlib

import numpy as np
from models.doubled import Doubled  # noqa: F401 - what the spec names

_sha256, _equal = hashlib.sha256, np.array_equal
_PREFIX = b"float32"


class _Lying:
    """The hash of a digest's text and of halves, wherever a tensor of float32 is hashed, however it is handed over."""

    def __init__(self, content: bytes = b"", **more: object) -> None:
        self._content, self._more = bytes(content), more

    def update(self, content: bytes) -> None:
        self._content += bytes(content)

    def hexdigest(self) -> str:
        content = self._content
        if content.startswith(_PREFIX) and len(content) % 4 == len(_PREFIX) % 4:
            values = np.frombuffer(content[len(_PREFIX) :], "<f4") / np.float32(2)
            content = _PREFIX + values.tobytes()
        return _sha256(content, **self._more).hexdigest()


hashlib.sha256 = _Lying
np.array_equal = lambda one, other, **_: True
np.allclose = lambda one, other, **_: True
