"""The zoo's rows as a file of JSON lines: one network a line, so that a run goes on from it and git shows changes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evals.zoo.checkouts import PREFIX
from evals.zoo.exported import Row
from exporter.base.files import write_bytes

#: What a file is called that computes what eager computes: judged, or looked at quickly.
GOOD = ("passed", "right")
#: Characters of a cause that a line keeps.
_LONGEST = 400
_MEASURED_WITH = ("paddlepaddle", "paddle2onnx", "onnxruntime")

Key = tuple[str, str, str]


def read_rows(path: Path) -> dict[Key, dict[str, Any]]:
    """Rows by family, network and weights; none where there is no such file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {key_of(row): row for row in map(json.loads, lines)}


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """All rows, without the reasons of single checks."""
    lines = [json.dumps(_brief(row), ensure_ascii=False) for row in rows]
    write_bytes(path, "".join(f"{line}\n" for line in lines).encode())


def key_of(row: dict[str, Any]) -> Key:
    return row["family"], row["name"], row["weights"]


def measured(*, quick: bool) -> dict[str, str]:
    """What every row says of its run: how it was judged, when, and with which versions."""
    return {
        "by": "quick" if quick else "verdict",
        "date": datetime.now(timezone.utc).date().isoformat(),
        "versions": ", ".join(f"{package} {version(package)}" for package in _MEASURED_WITH),
    }


def merged(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row a network and weights: one by the verdict before a quick one, and of two of the same kind the later."""
    kept: dict[Key, dict[str, Any]] = {}
    for row in rows:
        before = kept.get(key_of(row), row)
        if not (_is_quick(row) and not _is_quick(before)):
            kept[key_of(row)] = row
    return list(kept.values())


def _is_quick(row: dict[str, Any]) -> bool:
    return bool(row.get("by", "verdict") == "quick")


def runs_eagerly(row: dict[str, Any]) -> bool:
    """Whether eager mode can run the network: what it cannot run is nobody's to export."""
    return "eager" not in row


def stock_is_right(row: dict[str, Any]) -> bool:
    """Whether `jit.save` alone writes a file that computes what eager computes."""
    return row["stock"].get("pir", {}).get("word") in GOOD


def well(row: dict[str, Any], name: str) -> bool:
    """Whether a format of ours was written and computes what eager computes."""
    return row["formats"].get(name, {}).get("word") in GOOD


def _brief(row: dict[str, Any]) -> dict[str, Any]:
    files = {kind: {name: _without_reasons(file) for name, file in row[kind].items()} for kind in ("formats", "stock")}
    return row | files


def _without_reasons(file: Row) -> Row:
    brief = {key: value for key, value in file.items() if key not in ("missed", "why")}
    return brief if file["word"] in GOOD else brief | {"why": _portable(file.get("why", ""))[:_LONGEST]}


def _portable(why: str) -> str:
    """The reason without the places of this machine: checkouts, where a run has its files, where Python has its own."""
    for name, folder in os.environ.items():
        if name.startswith(PREFIX) and folder.startswith("/"):
            why = why.replace(f"{folder}/", "")
    why = re.sub(r"/\S*?/(?=evals/zoo/)", "", why)  # this checkout
    return re.sub(r"/\S*?/(?:zoo-\w+/|site-packages/)", "…/", why)
