"""The table: every API whose body Paddle moved to C++, by family."""

from __future__ import annotations

from exporter.export.lower.pdmodel.entry import Sunk
from exporter.export.lower.pdmodel.table import arrange, binary, reduce, unary

TABLE: dict[str, Sunk] = {entry.api: entry for family in (unary, binary, reduce, arrange) for entry in family.ENTRIES}
