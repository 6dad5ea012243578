"""A release that is kept when it passes, and reuses the steps that were kept before."""

from __future__ import annotations

from pathlib import Path

from exporter import pipeline
from exporter.bundle.open import open_bundle
from exporter.gate.reuse.records import Kept
from exporter.gate.reuse.release import Releases
from exporter.gate.told import Results, results_of, told_results
from exporter.pipeline import Product, Taken
from exporter.process.workers import Setting
from exporter.report.summary import headline
from exporter.spec.model import Spec
from exporter.spec.recipe.source import default_folder
from exporter.train import qat
from exporter.weights.prune import run as pruning


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
    with known.releasing(spec, root, _runs(spec)) as keep:
        product = pipeline.release(spec, root, setting, trains=trains, taken=taken)
        if product.bundle and product.report and product.report.verdict.passed:
            told = told_results(Results(product.report, product.findings, product.measured))
            digest, word = product.bundle.manifest.digest, product.report.verdict.word
            keep(Kept(product.bundle.folder, digest, word, headline(product.report), told))
    return product


def kept(known: Kept) -> Product:
    """Return what a release that still holds has given."""
    results = results_of(known.told)
    return Product(results.findings, open_bundle(known.bundle), results.report, results.measured)


def _runs(spec: Spec) -> list[Path]:
    """Return the folders of the runs of training, quantisation and pruning of a spec, each finished or not."""
    folders = [qat.default_folder(spec), pruning.default_folder(spec)]
    if spec.recipe is not None:
        folders.append(default_folder(spec.recipe))
    return [*folders, *(folder.with_name(f"{folder.name}.partial") for folder in folders)]
