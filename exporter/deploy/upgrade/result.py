"""What an upgrade moves: a cell for each variant and newer version, a word for all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from exporter.base.errors import ExitCode

#: What became of a variant in the newer version; `not run` where it, or what it is held against, could not be run.
SAME, WITHIN, CHANGED, NOT_RUN = "the same bits", "within the rule", "changed", "not run"


@dataclass(frozen=True)
class Moved:
    """A variant in a newer version, held against an older one: `against`.

    `case` and `output` are where it is furthest off: by `relative` of the output's size (of whole numbers the share
    that differs), which is `ratio` in units of the rule, and was `before` in the older one. `where` names the operator
    whose values move first, `reason` says why a variant changed or was not run.
    """

    variant: str
    against: str
    word: str
    case: str = ""
    output: str = ""
    relative: float | None = None
    before: float | None = None
    ratio: float | None = None
    where: str = ""
    reason: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the object of `diff --runtime --json`; what is not finite is null."""
        return {name: None if value in (float("inf"), float("nan")) else value for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Step:
    """A newer version of an engine and the variants that run in it; `why_not` there are none."""

    runtime: str
    variants: tuple[Moved, ...] = ()
    why_not: str = ""

    @property
    def exit(self) -> ExitCode:
        """Tell what was not shown (3) from what changed (1) and from neither."""
        words = {moved.word for moved in self.variants}
        if not words or NOT_RUN in words:
            return ExitCode.ENVIRONMENT
        return ExitCode.REFUSED if CHANGED in words else ExitCode.PASSED


@dataclass(frozen=True)
class Upgrade:
    """Every version that was asked for but those that the others are held against."""

    bundle: str
    digest: str
    steps: tuple[Step, ...]

    @property
    def exit(self) -> ExitCode:
        """The highest of the steps': 3 where something could not be shown, else 1 where something changed."""
        return max((step.exit for step in self.steps), default=ExitCode.ENVIRONMENT)

    @property
    def word(self) -> str:
        """The worst of what was shown; `not run` where nothing was."""
        words = {moved.word for step in self.steps for moved in step.variants}
        return next((word for word in (CHANGED, WITHIN, SAME) if word in words), NOT_RUN)

    def to_json(self) -> dict[str, object]:
        """The object that `diff --runtime --json` prints."""
        steps = [
            {
                "runtime": step.runtime,
                "why_not": step.why_not,
                "variants": [moved.to_json() for moved in step.variants],
                "exit": int(step.exit),
            }
            for step in self.steps
        ]
        return {"bundle": self.bundle, "digest": self.digest, "word": self.word, "upgrades": steps}

    def markdown(self) -> str:
        """A table, a row for each version and variant; below it what could not be run, and why what changed did."""
        lines = [
            "| from | to | variant | what moved | by how much | in which operator first |",
            "|:--|:--|:--|:--|:--|:--|",
        ]
        reasons = []
        for step in self.steps:
            for moved in step.variants:
                cells = (moved.against, step.runtime, moved.variant, moved.word, _much(moved), moved.where)
                lines.append(f"| {' | '.join(map(_cell, cells))} |")
                reasons += [f"- {step.runtime}, {moved.variant}: {moved.reason}"] if moved.reason else []
            reasons += [f"- {step.runtime}: {step.why_not}"] if step.why_not else []
        table = lines if any(step.variants for step in self.steps) else []
        return "\n".join([*table, *([""] if table and reasons else []), *reasons])


def _much(moved: Moved) -> str:
    return "; ".join(_parts(moved))


def _parts(moved: Moved) -> Iterator[str]:
    if moved.relative is None:
        return
    yield f"{moved.relative:.2g} of {moved.output} in {moved.case}"
    if moved.ratio is not None and moved.before is not None:
        yield f"error ratio {moved.before:.3g} -> {moved.ratio:.3g}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
