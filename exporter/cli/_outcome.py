"""From what the pipeline gave to what the user reads, and to the exit code."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

from exporter.errors import ExitCode
from exporter.judge.report import Report
from exporter.pipeline import RENDERERS, Product, forbids
from exporter.report.console import show
from exporter.report.json import parity
from exporter.runtimes.matrix import Matrix


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
    return product.report.exit_code if product.report else ExitCode.PASSED


def conclude_report(report: Report, *, as_json: bool) -> ExitCode:
    """Print a verdict; only `passed` exits 0."""
    if as_json:
        _print_json(parity(report))
    else:
        _print_report(report)
    return report.exit_code


def conclude_matrix(matrix: Matrix, *, as_json: bool) -> ExitCode:
    """Print what a bundle computes in each runtime."""
    if as_json:
        _print_json(matrix.to_json())
    else:
        sys.stdout.write(f"{matrix.markdown()}\nverdict: {matrix.word}\n")
    return matrix.exit


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
