"""A bundle that passed, as the command line makes it."""

from __future__ import annotations

from tests.bundle.conftest import artifacts, bundle

__all__ = ["artifacts", "bundle"]
