"""A find: a script of stock packages alone that ends well once the defect is mended, and what its docstring says of it.

The docstring of a script has a title, then one line `key: value` for each of :data:`KEYS`, then what happens. A script
prints lines `expected by NAME: VALUE` and `actual: VALUE`, and its last statement asserts that they agree.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
#: What stands between the title and the text.
KEYS = ("tool", "shows", "needs", "cause")
#: The package whose version says whether a find shows, by tool.
PACKAGES: Mapping[str, str] = {
    "Paddle": "paddlepaddle",
    "Paddle Inference": "paddlepaddle",
    "paddle2onnx": "paddle2onnx",
    "ONNX Runtime": "onnxruntime",
    "OpenVINO": "openvino",
}
#: The classes, worst first.
CLASSES = ("silently wrong", "ends the process", "never ends", "refuses what is right")


@dataclass(frozen=True)
class Find:
    """One defect. `shows` is the outcome by which it shows; see :func:`evals.finds.run.outcome`."""

    path: Path
    title: str
    tool: str
    shows: str
    needs: tuple[str, ...]
    cause: str
    text: str
    script: str

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def kind(self) -> str:
        """The class: one of :data:`CLASSES`."""
        if self.shows.startswith("fails"):
            return CLASSES[3]
        return {"wrong": CLASSES[0], "hangs": CLASSES[2]}.get(self.shows, CLASSES[1])

    @property
    def package(self) -> str:
        return PACKAGES[self.tool]


def read(path: Path) -> Find:
    """Return the find of a script.

    Raises:
        ValueError: its docstring lacks a part.
    """
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, _, rest = (ast.get_docstring(tree) or "").partition("\n\n")
    head, _, text = rest.partition("\n\n")
    values: dict[str, str] = {}
    key = ""
    for line in head.splitlines():
        if not line.startswith(" "):
            key, _, line = line.partition(": ")
        values[key] = f"{values.get(key, '')} {line.strip()}".strip()
    if set(values) != set(KEYS) or not all((title, text, *values.values())):
        raise ValueError(f"{path.name}: its docstring has a title, the lines {', '.join(KEYS)}, and what happens")
    script = "".join(source.splitlines(keepends=True)[tree.body[0].end_lineno :]).lstrip("\n")
    needs = tuple(values["needs"].split())
    return Find(path, title, values["tool"], values["shows"], needs, values["cause"], text, script)


def finds() -> dict[str, Find]:
    """Return all finds by name: the worst class first, then by tool."""
    order = list(PACKAGES)
    every = [read(path) for path in SCRIPTS.glob("*.py")]
    every.sort(key=lambda find: (CLASSES.index(find.kind), order.index(find.tool), find.name))
    return {find.name: find for find in every}
