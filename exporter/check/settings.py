"""What a project wants of `check`: the table `[tool.exporter.check]` of its pyproject.toml.

[tool.exporter.check]
select = ["EX1"]                  # codes or beginnings of codes; everything if left out
ignore = ["EX130"]
severity = { EX107 = "warning" }  # error, warning or info
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from exporter.base.diagnostics import Severity
from exporter.base.errors import UsageError, did_you_mean

_TABLE = re.compile(r"""\bcheck["']?\s*[.=\]]""")
_KEYS = ("select", "ignore", "severity")


class Settings(NamedTuple):
    """Which rules speak, and how loudly. Codes may be beginnings of codes (`EX1`); no `select` means every rule."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = MappingProxyType({})

    def wants(self, code: str) -> bool:
        """Whether findings of a code are shown."""
        return code.startswith(self.select or ("EX",)) and not (self.ignore and code.startswith(self.ignore))

    def over(self, select: Sequence[str], ignore: Sequence[str]) -> Settings:
        """These settings with those of a command line: its `select` takes the place of this one, its `ignore` adds."""
        return self._replace(select=tuple(select) or self.select, ignore=(*self.ignore, *ignore))


def of_project(folder: Path) -> Settings:
    """The settings in the nearest pyproject.toml of a folder or above; the defaults if there is none.

    Raises:
        UsageError: the file is not TOML, or the table holds a key or value that is none of ours.
    """
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if file.is_file():
            return _from_file(file)
    return Settings()


def _from_file(file: Path) -> Settings:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"not UTF-8 at byte {error.start}", where=str(file), hint="save it as UTF-8") from error
    if not ("exporter" in text and _TABLE.search(text)):  # most files have no such table, and TOML costs an import
        return Settings()
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads(text).get("tool", {}).get("exporter", {}).get("check", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"not valid TOML: {error}", where=str(file), hint="mend the file") from error
    where = f"{file}: tool.exporter.check"
    for key in table:
        if key not in _KEYS:
            raise UsageError(f"unknown key '{key}'", where=where, hint=did_you_mean(key, _KEYS))
    return Settings(
        _codes(table, "select", where), _codes(table, "ignore", where), _severity(table.get("severity", {}), where)
    )


def _codes(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise UsageError(f"'{key}' is not a list of codes", where=where, hint=f'write {key} = ["EX101"]')
    return tuple(value)


def _severity(value: Any, where: str) -> dict[str, Severity]:
    if not isinstance(value, dict):
        raise UsageError("'severity' is not a table", where=where, hint='write severity = { EX107 = "warning" }')
    known = {each.value: each for each in Severity}
    for code, name in value.items():
        if name not in known:
            hint = did_you_mean(str(name), known)
            raise UsageError(f"'{name}' is no severity of {code}", where=where, hint=hint)
    return {code: known[name] for code, name in value.items()}
