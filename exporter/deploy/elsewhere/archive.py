"""Answers as one file: the tar that the page for onnxruntime-web saves, in the form of `exporter pack`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from exporter.base.errors import BundleError, UsageError
from exporter.deploy.transfer.packed import unpack_files
from exporter.process.scratch import scratch


@contextmanager
def answers_in(path: Path) -> Iterator[Path]:
    """Yield the folder of answers: `path` itself, or what is in that archive.

    Raises:
        UsageError: the file is no such archive.
    """
    if not path.is_file():
        yield path
        return
    with scratch() as place:
        try:
            unpack_files(path, place)
        except BundleError as error:
            hint = "give the answers.tar as it was saved, or the folder of answers"
            raise UsageError(f"is no archive of answers: {error.what}", where=str(path), hint=hint) from error
        yield place
