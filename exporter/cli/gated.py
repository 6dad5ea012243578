"""How a gate's outcome is shown: lines as specs are done, one JSON object, and the files that CI takes."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exporter.base.errors import Refusal, UsageError, harmless
from exporter.cli.run import Ending

if TYPE_CHECKING:
    from exporter.report.gate import Gated

Junit = Annotated[Path | None, typer.Option("--junit", help="Also write JUnit XML.", metavar="FILE")]
Markdown = Annotated[Path | None, typer.Option("--markdown", help="Also write Markdown.", metavar="FILE")]
Quality = Annotated[
    Path | None, typer.Option("--code-quality", help="Also write what GitLab shows beside the code.", metavar="FILE")
]
Annotations = Annotated[
    str | None,
    typer.Option("--annotations", help="github: also print what GitHub shows beside the code.", metavar="github"),
]


@dataclass(frozen=True)
class Shown:
    """In which forms it is shown what became of the specs."""

    as_json: bool
    annotations: str | None
    junit: Path | None
    markdown: Path | None
    quality: Path | None

    def check(self, *others: Path | None) -> None:
        """Fail now, and not after an hour of releases; `others` are files that will be written, too.

        Raises:
            UsageError: a file cannot be written, or there is no such form.
        """
        if self.annotations not in (None, "github"):
            hint = "github; what GitLab shows is written by --code-quality FILE"
            raise UsageError(f"unknown annotations '{self.annotations}'", where="--annotations", hint=hint)
        if self.annotations and self.as_json:
            hint = "leave out --json, or --annotations"
            raise UsageError("stdout holds one object or lines, not both", where="--annotations", hint=hint)
        for file in filter(None, (self.junit, self.markdown, self.quality, *others)):
            _refuse_unwritable(file)

    def tell(self, result: Gated, excuses: Sequence[str] = ()) -> None:
        """Say at once what became of a spec; below it, why each changed file does not count, one a line."""
        from exporter.report import gate as forms

        if self.as_json:
            return
        sys.stdout.writelines(
            harmless(line) + "\n" for line in (forms.line(result), *(f"  {text}" for text in excuses))
        )
        if self.annotations and not result.passed and not result.unreleased:
            from exporter.report.annotations import as_github, repository

            sys.stdout.write(as_github(result, repository(Path.cwd())))
        sys.stdout.flush()

    def conclude(self, results: Sequence[Gated]) -> None:
        """Write the files, and say how many passed."""
        from exporter.report import gate as forms

        for file, text in self._files(results):
            _write(file, text)
        told = json.dumps(forms.as_json(results)) if self.as_json else harmless(forms.headline(results))
        sys.stdout.write(told + "\n")

    def _files(self, results: Sequence[Gated]) -> Iterator[tuple[Path, str]]:
        if self.junit is not None:
            from exporter.report.gate_junit import as_junit

            yield self.junit, as_junit(results)
        if self.markdown is not None:
            from exporter.report.gate_markdown import as_markdown

            yield self.markdown, as_markdown(results)
        if self.quality is not None:
            from exporter.report.annotations import as_code_quality, repository

            yield self.quality, as_code_quality(results, repository(Path.cwd()))


def ending(results: Sequence[Gated]) -> Ending:
    """The worst of the exit codes; and what shows in full why the first spec that has it did not pass."""
    from exporter.report import gate as forms

    if not (code := forms.worst(results)):
        return code
    spec = next(gated.spec for gated in results if gated.exit is code)
    return Refusal(code, f"exporter release {shlex.quote(spec)}, which tells in full why it does not pass")


def _write(file: Path, text: str) -> None:
    from exporter.base.files import write_bytes

    write_bytes(file, text.encode())


def _refuse_unwritable(file: Path) -> None:
    from exporter.base.files import is_stream, sibling

    if is_stream(file):
        return
    if file.is_dir():
        raise UsageError("is a folder", where=str(file), hint="give the path of a file")
    with sibling(file.resolve() if file.is_symlink() else file) as draft:
        draft.touch()
