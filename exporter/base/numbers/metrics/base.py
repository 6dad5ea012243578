"""The contract of a metric: a plain function of two arrays of one shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from exporter.base.tensors import Array

Metric: TypeAlias = Callable[[Array, Array], float]
