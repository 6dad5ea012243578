"""What a star import hands on."""

from __future__ import annotations

from models.sound import mlp as starred

__all__ = ["starred"]
