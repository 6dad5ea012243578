"""From what the pipeline gave to what the user reads, and to the exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from exporter.errors import ExitCode, UsageError
from exporter.files import write_bytes
from exporter.judge.report import Report
from exporter.pipeline import RENDERERS, Product, forbids
from exporter.report.console import show
from exporter.report.json import parity
from exporter.runtimes.matrix import Matrix
from exporter.verdict.claim import Outcome


def conclude(product: Product, *, as_json: bool) -> ExitCode:
    """Print what `convert` or `release` has made; findings that forbid it, and a verdict that failed, exit 1."""
    refused = forbids(product.findings)
    if as_json:
        _print_json(_summary(product))
    else:
        _print_findings(product)
        if product.trained:
            run = product.trained
            epoch = f"epoch {run.epoch} of {run.epochs}"
            sys.stdout.write(f"{run.recipe}: {run.metric} {run.value:.4f} on the held-out data ({epoch})\n")
        if product.report:
            _print_report(product.report)
        if product.bundle:
            sys.stdout.write(f"{product.bundle.folder}\n")
    if refused:
        return ExitCode.REFUSED
    return exit_code(product.report) if product.report else ExitCode.PASSED


def conclude_report(report: Report, *, as_json: bool) -> ExitCode:
    """Print a verdict; only `passed` exits 0."""
    if as_json:
        _print_json(parity(report))
    else:
        _print_report(report)
    return exit_code(report)


def refuse_page(page: Path | None, bundle: Path, *, bench: bool) -> None:
    """Raises UsageError where a page would be written into the bundle, or something is timed for none."""
    if page is None and bench:
        raise UsageError("--bench is about the page", where="--bench", hint="say where it goes, with --page FILE.html")
    if page is not None and page.resolve().is_relative_to(bundle.resolve()):
        raise UsageError(
            "lies in the bundle, which is sealed", where=f"--page {page}", hint="write it beside the bundle"
        )


def write_page(report: Report, page: Path) -> None:
    """Write the report as a page; raises UsageError where it cannot be written."""
    write_bytes(page, RENDERERS["html"](report).encode())


def conclude_matrix(matrix: Matrix, *, as_json: bool) -> ExitCode:
    """Print what a bundle computes in each runtime."""
    if as_json:
        _print_json(matrix.to_json())
    else:
        sys.stdout.write(f"{matrix.markdown()}\nverdict: {matrix.word}\n")
    return matrix.exit


def exit_code(report: Report) -> ExitCode:
    """3 where an engine that was planned is not here; else 1 where the gate says no; else 0."""
    evidence = [report.verdict.of(claim) for claim in report.verdict.plan]
    if any(one.outcome is Outcome.MISSING and one.stage == "environment" for one in evidence):
        return ExitCode.ENVIRONMENT
    return ExitCode.PASSED if report.verdict.passed else ExitCode.REFUSED


def _summary(product: Product) -> dict[str, Any]:
    bundle = product.bundle
    return {
        "bundle": str(bundle.folder) if bundle else None,
        "variants": list(bundle.manifest.variants) if bundle else [],
        "verdict": bundle.manifest.verdict if bundle else "refused",
        "digest": bundle.manifest.digest if bundle else None,
        "findings": [one.to_json() for one in product.findings],
        "training": {product.trained.metric: product.trained.value} if product.trained else None,
    }


def _print_report(report: Report) -> None:
    """In colour and as wide as the terminal where there is one; else plain."""
    if sys.stdout.isatty():
        show(report, Console())
    else:
        sys.stdout.write(RENDERERS["console"](report))


def _print_findings(product: Product) -> None:
    for one in product.findings:
        sys.stdout.write(f"{one.location}: {one.severity.value} {one.code}: {one.message}\n  cure: {one.cure}\n")


def _print_json(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value, allow_nan=False) + "\n")
