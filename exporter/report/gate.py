"""What became of several specs at once, as lines and as JSON. An untouched spec is shown, too.

JUnit XML, Markdown and annotations have modules of their own, which are imported only where they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from exporter.base.errors import ExitCode
from exporter.base.words import plain

if TYPE_CHECKING:
    from exporter.base.diagnostics import Diagnostic
    from exporter.prove.judge.report import Report


@dataclass(frozen=True)
class Gated:
    """One spec: why it was touched (empty: it was not), its release's exit code, what was said of it, its report.

    `verdict` is the report's word, where there is one. `unreleased` is the word for what was not released: `touched`,
    where that was all that was asked; `untouched`; or `deleted`. `findings` are what forbade the release, each with
    its place in the code; `told` are all that were found, warnings and notes as well. `seconds` is what the release
    took by the clock, None where there was none or nobody knows; 0 where an earlier one was `reused`. `runs` has the
    seconds of each engine, as `onnx/onnxruntime`; several may have run at once.
    """

    spec: str
    why: str
    exit: ExitCode = ExitCode.PASSED
    said: str = ""
    report: Report | None = None
    verdict: str = ""
    unreleased: str = ""
    findings: tuple[Diagnostic, ...] = ()
    told: tuple[Diagnostic, ...] = ()
    seconds: float | None = None
    reused: bool = False
    runs: Mapping[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether it was released, or an earlier release holds still, and nothing speaks against it."""
        return not self.unreleased and self.exit is ExitCode.PASSED

    @property
    def word(self) -> str:
        """What became of it, in a word."""
        if self.unreleased:
            return self.unreleased
        if self.exit is ExitCode.PASSED:
            return self.verdict or "passed"  # with waivers, it is a word of its own
        return "refused" if self.exit is ExitCode.REFUSED else "failed"


def worst(results: Sequence[Gated]) -> ExitCode:
    """The exit code of all: the highest. Where no spec was touched it is 0, and :func:`headline` says so."""
    return max((one.exit for one in results), default=ExitCode.PASSED)


def headline(results: Sequence[Gated]) -> str:
    """How many of each."""
    deleted = [gated.spec for gated in results if gated.word == "deleted"]
    return _outcome([gated for gated in results if gated.word != "deleted"]) + (
        f"; deleted: {', '.join(deleted)}" if deleted else ""
    )


def _outcome(results: Sequence[Gated]) -> str:
    touched = [gated for gated in results if gated.why]
    if not touched:
        return f"nothing to gate: the change touches none of {len(results)} specs"
    if any(gated.unreleased for gated in touched):
        return f"{len(touched)} of {len(results)} specs are touched; nothing was released"
    bad = [gated.spec for gated in touched if gated.exit is not ExitCode.PASSED]
    if bad:
        return f"{len(bad)} of {len(touched)} touched specs did not pass: {', '.join(bad)}"
    return f"all {len(touched)} touched specs passed, {len(results) - len(touched)} are untouched"


def line(one: Gated) -> str:
    """One spec on one line."""
    why = f" ({one.why})" if one.why else ""
    return plain(f"{one.word:9} {one.spec}{': ' if one.said else ''}{one.said}{why}")


def as_json(results: Sequence[Gated]) -> dict[str, object]:
    """The object that `gate --json` prints."""
    return {
        "exit": worst(results),
        "touched": sum(bool(one.why) for one in results),
        "specs": [
            {
                **{"spec": one.spec, "word": one.word, "why": one.why, "exit": one.exit, "said": one.said},
                **{"seconds": one.seconds, "reused": one.reused, "runs": dict(one.runs)},
                "findings": [finding.to_json() for finding in one.told],
            }
            for one in results
        ],
    }
