"""What a rule is. One file a rule; it ends in ``plugin: Rule = …``."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import TypeAlias

from exporter.base.diagnostics import Diagnostic, Severity
from exporter.base.registry import Registry
from exporter.check.facts import Facts, Site
from exporter.check.source.project import ParsedModule

#: A node, in its module.
Place: TypeAlias = tuple[ParsedModule, ast.AST]


class Fault(str, Enum):
    """What becomes of an export, if a rule is right."""

    FAILS = "fails"  # it ends with an error
    ENDS = "ends"  # it never ends, or takes its process down
    UNUSABLE = "unusable"  # the program cannot be loaded or fed
    STRUCTURE = "structure"  # it has other outputs than the eager layer
    VALUES = "values"  # it computes other values


class Shown(str, Enum):
    """Where the fault that a rule predicts would show, so that a run which does not show it proves the rule wrong.

    `EXPORT`: writing and reading the file again. `EVERY_RUN`: each comparison with the eager layer of a case that runs
    the line. `DECISION`: a condition that the trace decides otherwise than the eager layer. `SOME_RUNS`: a comparison
    may miss it, so that only a line which the exported model does not run is none of its faults.
    """

    EXPORT = "export"
    EVERY_RUN = "every run"
    DECISION = "decision"
    SOME_RUNS = "some runs"


class Rule(ABC):
    """A judgement on the facts of running a model abstractly.

    The docstring of a rule has the headings What, Why, Example, Use instead and Source. It is the page of the rule, the
    text of `exporter explain` and its test: the example must fire at the line marked `# <- here` and nowhere else, and
    what to use instead must not.
    """

    code: str
    severity: Severity = Severity.ERROR
    #: What may become of the export, the likeliest first: which of them it is depends on the rest of the code.
    predicts: tuple[Fault, ...]
    shown: Shown = Shown.EXPORT
    #: Whether the export mends what stock Paddle exports wrong or not at all: such a finding is a note.
    mended: bool = False

    @abstractmethod
    def check(self, facts: Facts) -> Iterator[Diagnostic]:
        """Yield what is wrong, by the facts of running the models of a module."""

    def at(self, site: Site, message: str, cure: str, severity: Severity | None = None) -> Diagnostic:
        """A finding where a fact happened."""
        return self.on((site.module, site.node), site, message, cure, severity)

    def on(
        self, place: Place, site: Site | None, message: str, cure: str, severity: Severity | None = None
    ) -> Diagnostic:
        """A finding at another place than where its fact happened.

        An error is one only where the way to the fact is certain: where a condition stands before it that depends on
        arguments or a configuration which is not known, it is a warning, and says so.
        """
        severity = severity or self.severity
        if self.mended:
            message, severity = f"{message} (stock Paddle; exporter's own export mends it)", Severity.INFO
        elif severity is Severity.ERROR and site is not None and not site.certain:
            message, severity = f"{message} (where the conditions before it let this run)", Severity.WARNING
        module, node = place
        return Diagnostic(self.code, severity, module.location(node), message, cure)


@cache
def rules() -> dict[str, Rule]:
    """Every rule by its code, in the order of the codes."""
    registry: Registry[Rule] = Registry("exporter.check.rules", "rule")
    return {rule.code: rule for rule in sorted((rule for _, rule in registry.all()), key=lambda rule: rule.code)}
