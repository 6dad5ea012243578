"""The pages of the rules: read from their docstrings, shown by `explain`, written to `docs/rules`.

`python -m exporter.check.documentation docs/rules` writes them anew.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

from exporter.check.rules.base import Rule

HEADINGS = ("What", "Why", "Example", "Use instead", "Source")
MARK = "# <- here"


@dataclass(frozen=True)
class Page:
    """What a rule says of itself. `example` still holds the mark at the line where it fires."""

    code: str
    severity: str
    title: str
    what: str
    why: str
    example: str
    instead: str
    source: str

    def markdown(self) -> str:
        """The page, for `docs/rules`."""
        example, instead = (f"```python\n{code}\n```" for code in (self.example, self.instead))
        parts = [f"# {self.code}: {self.title}", f"Severity: {self.severity}."]
        for heading, body in zip(HEADINGS, (self.what, self.why, example, instead, self.source), strict=True):
            parts += [f"## {heading}", body]
        return "\n\n".join(parts) + "\n"

    def text(self) -> str:
        """The page, for a terminal."""
        parts = [f"{self.code} ({self.severity}): {self.title}"]
        for heading, body in zip(HEADINGS, (self.what, self.why, self.example, self.instead, self.source), strict=True):
            parts.append(f"{heading}:\n{indent(body, '    ')}")
        return "\n\n".join(parts) + "\n"


def page(rule: Rule) -> Page:
    """Read the page of a rule.

    Raises:
        ValueError: a heading is missing, double or out of order.
    """
    text = inspect.getdoc(type(rule)) or ""
    pieces = re.split(r"^(What|Why|Example|Use instead|Source):\n", text, flags=re.MULTILINE)
    if tuple(pieces[1::2]) != HEADINGS:
        raise ValueError(f"the docstring of {type(rule).__name__} must have {', '.join(HEADINGS)}, in this order")
    what, why, example, instead, source = (inspect.cleandoc("\n" + each) for each in pieces[2::2])
    title = pieces[0].strip().rstrip(".")
    return Page(rule.code, rule.severity.value, title, _flow(what), _flow(why), example, instead, _flow(source))


def _flow(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def pages(every: Iterable[Rule]) -> dict[str, str]:
    """The files of `docs/rules`, by name: a page a rule, and a list of them."""
    found = [page(rule) for rule in every]
    table = "\n".join(f"| [{one.code}]({one.code}.md) | {one.severity} | {one.title} |" for one in found)
    index = f"# Rules\n\n| code | severity | what is found |\n| --- | --- | --- |\n{table}\n"
    return {"README.md": index, **{f"{one.code}.md": one.markdown() for one in found}}


def _main(folder: Path) -> None:
    from exporter.base.files import write_bytes
    from exporter.check.run import rules

    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(rules().values()).items():
        write_bytes(folder / name, text.encode())


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
