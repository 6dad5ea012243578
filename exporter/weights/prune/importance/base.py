"""The contract of a measure: filters, one a row, in; a number that is not negative for each out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from exporter.base.tensors import Array

Importance: TypeAlias = Callable[[Array], Array]
