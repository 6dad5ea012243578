"""Tap an ONNX model: list its intermediate values among the outputs of the graph."""

from __future__ import annotations

import shutil
from pathlib import Path

from exporter.base.readers.base import map_file
from exporter.base.readers.wire import Message, root
from exporter.prove.root_cause.taps.base import Tap, field, link_others

_MODEL = "model.onnx"


def tap(folder: Path, into: Path) -> tuple[str, ...]:
    """Append a second `graph` field that holds nothing but outputs: protobuf merges the two when it reads them.

    Outputs without a type are allowed; the engines infer it (ONNX Runtime 1.31).
    """
    content = map_file(folder / _MODEL)
    outputs: list[str] = []
    written: list[str] = []
    read: set[str] = set()
    for part in root(content, str(folder / _MODEL)):
        if part.number == 7:
            for inner in part.message():
                if inner.number == 12:
                    outputs.append(_name(inner.message()))
                elif inner.number == 1:
                    written += _node(inner.message(), read)
    taps = [name for name in dict.fromkeys(written) if name in read and name not in outputs]
    extra = b"".join(field(12, field(1, name.encode())) for name in taps)
    shutil.copyfile(folder / _MODEL, into / _MODEL)  # never in memory, gigabytes as it may have
    with (into / _MODEL).open("ab") as stream:
        stream.write(field(7, extra))
    link_others(folder, into, _MODEL)
    return (*outputs, *taps)


def _node(node: Message, read: set[str]) -> list[str]:
    """Collect what a node reads, subgraphs included; return what it writes, constants left out."""
    written, kind = [], ""
    for part in node:
        if part.number == 1:
            read.add(part.text())
        elif part.number == 2:
            written.append(part.text())
        elif part.number == 4:
            kind = part.text()
        elif part.number == 5:
            for inner in part.message():
                if inner.number in (6, 11):  # an attribute that holds graphs: If, Loop, Scan
                    for one in inner.message():
                        if one.number == 1:
                            _node(one.message(), read)
    return [] if kind == "Constant" else [name for name in written if name]


def _name(value: Message) -> str:
    return next((part.text() for part in value if part.number == 1), "")


plugin: Tap = tap
