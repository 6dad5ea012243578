"""From what the pipeline gave to what the user reads, and to the exit code."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.errors import ExitCode, Refusal, UsageError
from exporter.base.files import write_bytes
from exporter.cli.findings import ending
from exporter.cli.run import Ending
from exporter.cli.screen import tell
from exporter.pipeline import RENDERERS, Product, forbids
from exporter.report import explorer
from exporter.report.advice import advice
from exporter.report.kinds.json import parity

if TYPE_CHECKING:
    from exporter.deploy.runtimes.matrix import Matrix
    from exporter.prove.judge.report import Report


def conclude(product: Product, *, as_json: bool) -> Ending:
    """Print what `convert` or `release` has made; findings that forbid it, and a verdict that failed, exit 1."""
    if as_json:
        _print_json(_summary(product))
    else:
        _print_findings(product)
        if found := product.measured:
            of = f"epoch {found.run.epoch} of {found.run.epochs}" if found.run else str(found.checkpoint)
            tell(f"{found.recipe}: {found.metric} {found.value:.4f} on the held-out data ({of})\n")
        if product.report:
            _print_report(product.report)
        if product.bundle:
            tell(f"{product.bundle.folder}\n")
    if forbids(product.findings):
        return ending(product.findings)
    if product.report is None:
        return ExitCode.PASSED
    return _ending(product.report, str(product.bundle.folder) if product.bundle else "BUNDLE")


def conclude_report(report: Report, bundle: Path, *, as_json: bool) -> Ending:
    """Print a verdict on a bundle; only `passed` exits 0."""
    if as_json:
        _print_json(parity(report))
    else:
        _print_report(report)
    return _ending(report, str(bundle))


def _ending(report: Report, bundle: str) -> Ending:
    code = report.exit_code
    return Refusal(code, advice(report, bundle)) if code else code


def refuse_page(page: Path | None, bundle: Path, *, bench: bool) -> None:
    """Raises UsageError where a page would be written into the bundle, or something is timed for none."""
    if page is None and bench:
        raise UsageError("--bench is about the page", where="--bench", hint="say where it goes, with --page FILE.html")
    if page is not None and page.resolve().is_relative_to(bundle.resolve()):
        raise UsageError(
            "lies in the bundle, which is sealed", where=f"--page {page}", hint="write it beside the bundle"
        )


def write_page(report: Report, page: Path) -> None:
    """Write the report as a page, and beside it the graph of what failed; raises UsageError where that cannot be.

    The graph is that of the first file whose operators could be judged, as Model Explorer reads it.
    """
    write_bytes(page, RENDERERS["html"](report).encode())
    blame = next((blame for blame in report.blames if blame.operators), None)
    if blame is not None:
        write_bytes(page.with_suffix(".graph.json"), explorer.graph(blame).encode())
        write_bytes(page.with_suffix(".node-data.json"), explorer.node_data(blame).encode())


def conclude_matrix(matrix: Matrix, bundle: Path, *, as_json: bool) -> Ending:
    """Print what a bundle computes in each runtime."""
    if as_json:
        _print_json(matrix.to_json())
    else:
        tell(f"{matrix.markdown()}\nverdict: {matrix.word}\n")
    if matrix.exit is ExitCode.PASSED:
        return matrix.exit
    here = f"exporter verify {shlex.quote(str(bundle))}, which says what the engines that are here make of it"
    other = "another version in --runtime, of which there is a wheel for a Python on this machine"
    return Refusal(matrix.exit, here if matrix.exit is ExitCode.REFUSED else other)


def _summary(product: Product) -> dict[str, object]:
    bundle = product.bundle
    return {
        "bundle": str(bundle.folder) if bundle else None,
        "variants": list(bundle.manifest.variants) if bundle else [],
        "verdict": bundle.manifest.verdict if bundle else "refused",
        "digest": bundle.manifest.digest if bundle else None,
        "findings": [one.to_json() for one in product.findings],
        "training": {product.measured.metric: product.measured.value} if product.measured else None,
    }


def _print_report(report: Report) -> None:
    """In colour and as wide as the terminal where there is one; else plain, and as wide as it is."""
    if sys.stdout.isatty():
        from rich.console import Console

        from exporter.report.kinds.console import show

        show(report, Console())
    else:
        tell(RENDERERS["console"](report))


def _print_findings(product: Product) -> None:
    for one in product.findings:
        tell(f"{one}\n")


def _print_json(value: Mapping[str, object]) -> None:
    sys.stdout.write(json.dumps(value, allow_nan=False) + "\n")
