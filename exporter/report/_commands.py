"""Workflow commands of GitHub Actions: how they are written, and how other text is kept from being one.

The runner reads every line that a step writes (actions/runner, `src/Runner.Common/ActionCommand.cs`): one that begins
with `::`, blanks before it aside, and one that holds `##[name]` anywhere, is a command if it knows the name.
"""

from __future__ import annotations

from collections.abc import Mapping

from exporter.report._words import plain


def command(name: str, properties: Mapping[str, str | int], message: str) -> str:
    """`::error file=net.py,line=6,title=EX101::message`, on one line, whatever the texts hold."""
    told = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {told}::{_data(message)}"


def harmless(line: str) -> str:
    """The line, with a blank where it could be taken for a command of the older form, `##[error]`.

    One that begins with `::` is left: the caller knows how its lines begin.
    """
    return line.replace("##[", "## [")


def _data(text: str) -> str:
    """As the toolkit's `escapeData` (actions/toolkit, `packages/core/src/command.ts`); lines stay lines."""
    cleaned = "\n".join(plain(line) for line in text.splitlines())
    return cleaned.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """As the toolkit's `escapeProperty`."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
