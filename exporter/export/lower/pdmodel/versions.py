"""Versions of Paddle in which something that this room depends on changed."""

from __future__ import annotations

from packaging.version import Version

#: `round(decimals=…)`: the operator of 2.6 has no such attribute and rounds to whole numbers without a word.
KNOWS_ROUND_DECIMALS = Version("3.0")
