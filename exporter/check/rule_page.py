"""The page of a rule, read from its docstring: shown by `explain`, and in SARIF. docs/rules is made of them."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
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
