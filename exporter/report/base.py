"""The contract of a renderer: a pure function of a Report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from exporter.judge.report import Report

Renderer: TypeAlias = Callable[[Report], str]
