"""Workflow commands of GitHub Actions: how they are written; what keeps text from being one is `errors.harmless`."""

from __future__ import annotations

from collections.abc import Mapping

from exporter.base.words import plain


def command(name: str, properties: Mapping[str, str | int], message: str) -> str:
    """`::error file=net.py,line=6,title=EX101::message`, on one line, whatever the texts hold."""
    told = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {told}::{_data(message)}"


def _data(text: str) -> str:
    """As the toolkit's `escapeData` (actions/toolkit, `packages/core/src/command.ts`); lines stay lines."""
    cleaned = "\n".join(plain(line) for line in text.splitlines())
    return cleaned.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """As the toolkit's `escapeProperty`."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
