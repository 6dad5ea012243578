"""The contract of a renderer: a pure function of a Report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from exporter.prove.judge.report import Report

Renderer: TypeAlias = Callable[[Report], str]
