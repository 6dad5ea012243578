"""The families of networks: each module here has `networks()`, and what builds them."""

from __future__ import annotations

import importlib

from evals.zoo.network import Network

#: Those that need no other package first, so that their networks are found where the others are not installed.
FAMILIES = (
    "vision",
    "sequence",
    "ocr",
    "paddlex",
    "mix",
    "segmentation",
    "speech",
    "nlp",
    "clas",
    "seg",
    "det",
    "detection",
    "steps",
    "recommend",
    "series",
    "graphs",
)


def networks_of(family: str) -> list[Network]:
    """All networks of a family; none where its code is to lie in a checkout and no checkout is named."""
    listed: list[Network] = importlib.import_module(f"evals.zoo.families.{family}").networks()
    return listed
