"""A bundle that passed."""

from __future__ import annotations

from tests.bundle.conftest import artifacts, bundle

__all__ = ["artifacts", "bundle"]
