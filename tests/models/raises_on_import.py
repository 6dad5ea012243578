from __future__ import annotations

raise ValueError("this module cannot be imported today")


def build() -> None: ...
