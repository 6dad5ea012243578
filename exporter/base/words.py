"""Words and lines, without any library: for what has to be said in a moment."""

from __future__ import annotations


def count(amount: int, noun: str) -> str:
    """`1 claim`, `3 claims`."""
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"


def plain(text: str) -> str:
    """One line without control characters: reasons quote engines, and an engine may print anything."""
    return "".join(one if one.isprintable() else "\ufffd" for one in " ".join(text.split()))


def some(names: list[str], limit: int) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - limit
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:limit])} and {rest} more"
