"""Folders beside the versions of a bundle, whose names no version may have."""

from __future__ import annotations

from pathlib import Path

#: What did not pass; what nobody has verified; what passed beside a release of its version with another content.
FAILED, UNVERIFIED, CANDIDATE = "failed", "unverified", "candidate"
RESERVED = (CANDIDATE, FAILED, UNVERIFIED)


def said_of(bundle: Path) -> str:
    """What is added to what is said of a bundle that does not lie in the place of its version."""
    return f"; in {bundle}, beside a release of this version with another content" if bundle.name == CANDIDATE else ""
