"""What a reader stumbles over only gets less: whoever lowers a count lowers its limit in the same commit."""

from __future__ import annotations

import ast

import pytest

from tools.counts import COUNTS, places

#: The counts as they are now (`python -m tools.counts`).
LIMITS = {"words": 1795, "parameters": 243, "clauses": 591, "any": 1458, "untyped": 266}
PLANTED = """
def where(one: Any, told: dict[str, Any]) -> Json:
    '''Where it lies.'''
    for each in told:
        found, kept = each, Mapping[str, Any]

def put(path):
    '''Put it there.'''
"""


@pytest.mark.parametrize("kind", COUNTS)
def test_a_count_only_falls(kind: str) -> None:
    count = len(places(kind))
    assert count <= LIMITS[kind], f"{count - LIMITS[kind]} more: python -m tools.counts --where {kind}"
    assert count == LIMITS[kind], f"well done: the limit of {kind} is {count} now"


def test_the_counts_count() -> None:
    tree = ast.parse(PLANTED)
    counted = {kind: len([*count(tree)]) for kind, count in COUNTS.items()}
    assert counted == {"words": 2, "parameters": 2, "clauses": 1, "any": 3, "untyped": 3}
