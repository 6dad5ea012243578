"""What a rule is. One file a rule; it ends in ``plugin: Rule = …``."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator

from exporter.check.module import ParsedModule
from exporter.check.paper.facts import Site
from exporter.diagnostics import Diagnostic, Severity


class Rule(ABC):
    """A judgement on the facts of running a model on paper.

    The docstring of a rule has the headings What, Why, Example, Use instead and Source. It is the page of the rule, the
    text of `exporter explain` and its test: the example must fire at the line marked `# <- here` and nowhere else, and
    what to use instead must not.
    """

    code: str
    severity: Severity = Severity.ERROR

    @abstractmethod
    def check(self, module: ParsedModule) -> Iterator[Diagnostic]:
        """Yield what is wrong with a module that has been run (`module.facts`)."""

    def at(self, site: Site, message: str, cure: str, severity: Severity | None = None) -> Diagnostic:
        """A finding where a fact happened."""
        return self.on(site.module, site.node, message, cure, severity)

    def on(
        self, module: ParsedModule, node: ast.AST, message: str, cure: str, severity: Severity | None = None
    ) -> Diagnostic:
        """A finding at a node of a module."""
        return Diagnostic(self.code, severity or self.severity, module.location(node), message, cure)
