"""A release that is kept when it passes, and reuses the steps that were kept before."""

from __future__ import annotations

from pathlib import Path

from exporter import pipeline
from exporter.bundle.open import open_bundle
from exporter.gate.reuse.on_the_way import on_the_way
from exporter.gate.reuse.records import Passed
from exporter.gate.reuse.release import Kept, Releases
from exporter.gate.reuse.told import told_findings, told_measured, told_report
from exporter.pipeline import Product, Taken
from exporter.process.memo import remembering
from exporter.process.workers import Setting
from exporter.report.summary import headline
from exporter.spec.model import Spec


def release(
    spec: Spec,
    root: Path,
    setting: Setting,
    known: Releases | None,
    *,
    trains: bool = True,
    taken: Taken = Taken.REFUSE,
) -> Product:
    """Release a spec; keep what passes among the releases that are `known`, and take steps from there.

    Raises:
        ExporterError: as :func:`exporter.pipeline.release`.
    """
    if known is None:
        return pipeline.release(spec, root, setting, trains=trains, taken=taken)
    made = on_the_way(spec)
    with known.keeping(spec, root, made) as keeper, remembering(known.answers(spec, root, made)):
        product = pipeline.release(spec, root, setting, trains=trains, taken=taken)
        if product.bundle and product.report and product.report.verdict.passed:
            keeper.product = Passed(
                bundle=product.bundle.folder,
                digest=product.bundle.manifest.digest,
                word=product.report.verdict.word,
                said=headline(product.report),
                report=told_report(product.report),
                findings=told_findings(product.findings),
                measured=told_measured(product.measured),
            )
    return product


def kept(found: Kept) -> Product:
    """Return what a release that still holds has given."""
    return Product(found.findings(), open_bundle(found.bundle), found.report(), found.measured())
