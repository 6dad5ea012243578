"""Which files a bundle holds: those of its variants, and a few by name. Whatever else lies in it is a stranger's."""

from __future__ import annotations

import itertools
import os
from pathlib import Path, PurePosixPath

from exporter.base.errors import BundleError
from exporter.bundle.manifest import NAME, SIGNATURE, Manifest
from exporter.prove.goldens.decoding import DECODING
from exporter.prove.proofs.samples import SAMPLES
from exporter.prove.root_cause.repro import REPRO

GOLDEN, REPORT, PAGE, VERIFY = "golden.safetensors", "parity.json", "report.html", "verify.py"
#: What leads from a raw file to the answer, where the spec has a pipeline (:mod:`exporter.bundle.infer`).
INFER, PIPELINE = "infer.py", "pipeline.json"
#: What a bundle may hold beside its manifest and the files of its variants.
NAMED = (GOLDEN, DECODING, SAMPLES, REPORT, PAGE, VERIFY, INFER, PIPELINE)
#: What every release writes, whatever its verdict and its spec.
ALWAYS = (GOLDEN, REPORT, PAGE, VERIFY)
_HINT = "do not use this bundle; ask for a fresh one"


def refuse_unnamed(manifest: Manifest) -> None:
    """Refuse a manifest that lists a file which no bundle holds, or not what it needs.

    The reproducers of failures lie only in a bundle whose release did not let it through.

    Raises:
        BundleError: it does.
    """
    documents = manifest.documents
    known = {name for variant in manifest.variants.values() for name in variant.files}.union(NAMED)
    told: tuple[str, ...] = (documents.provenance, documents.bom) if documents else ()
    if not manifest.cases and manifest.verdict != "unverified":
        raise BundleError("records no case, and says that a release judged it", where=NAME, hint=_HINT)
    for name in ALWAYS if manifest.verdict != "unverified" else ():
        if name not in manifest.files:
            raise BundleError(f"lists no {name}, which every release writes", where=NAME, hint=_HINT)
    for name in told:
        if name not in manifest.files:
            raise BundleError(f"names {name}, and does not list it", where=NAME, hint=_HINT)
    if bool(manifest.decoding) != (DECODING in manifest.files):
        raise BundleError(f"tells of the steps of a decoder, or lists {DECODING}, and not both", where=NAME, hint=_HINT)
    if manifest.cases and GOLDEN not in manifest.files:
        raise BundleError(f"records cases, and lists no {GOLDEN}", where=NAME, hint=_HINT)
    for name in sorted(manifest.files):
        if name not in known.union(told) and (manifest.released or PurePosixPath(name).parts[0] != REPRO):
            raise BundleError(f"lists {name}, which no bundle of its schema holds", where=NAME, hint=_HINT)


def refuse_unlisted(folder: Path, listed: set[str]) -> None:
    """Refuse a folder that holds a file which is not listed, a link, or a folder for none of the listed files.

    A signature covers the manifest, so it cannot be listed there; it is a regular file.

    Raises:
        BundleError: it does; the first is named.
    """
    folders = {parent.as_posix() for name in listed for parent in PurePosixPath(name).parents}
    waiting = [folder]
    while waiting:
        for path in _entries(waiting.pop(), len(listed) + len(folders) + 3):
            name = path.relative_to(folder).as_posix()
            if path.is_symlink():
                raise BundleError("is a symbolic link", where=str(path), hint=_HINT)
            if path.is_dir():
                if name not in folders:
                    raise BundleError("is a folder for none of the listed files", where=str(path), hint=_HINT)
                waiting.append(path)
            elif name == SIGNATURE and not path.is_file():
                raise BundleError("is no signature: not a regular file", where=str(path), hint=_HINT)
            elif name not in listed.union((NAME, SIGNATURE)):
                raise BundleError("is not listed in the manifest", where=str(path), hint=_HINT)


def _entries(folder: Path, most: int) -> list[Path]:
    """What lies in a folder, sorted; of more than `most` any so many, among which one is not listed."""
    with os.scandir(folder) as entries:
        return sorted(Path(entry.path) for entry in itertools.islice(entries, most))
