"""The tensors that an artifact's files store, read without any engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from exporter.base.readers import read
from exporter.base.readers.base import Content, ModelFacts, Weight, map_file
from exporter.base.readers.kinds import openvino, pdiparams
from exporter.base.tensors import digest
from exporter.export.lower.base import main_file


def stored_weights(
    files: Sequence[str], folder: Path, facts: ModelFacts | None = None
) -> tuple[dict[str, Weight], Content]:
    """Every stored tensor by the file's name for it, and the bytes that hold them; `facts` if they were read before.

    Raises:
        BundleError: a file is damaged, or the two of a Paddle format do not belong together.
    """
    main = folder / main_file(files)
    beside = next((folder / name for name in files if name.endswith(".pdiparams")), None)
    declared = (facts or read(main)).weights
    if beside is not None:
        content = map_file(beside)
        return pdiparams.named(content, str(beside), declared), content
    numbers = next((folder / name for name in files if name.endswith(".bin")), None)
    if numbers is not None:  # OpenVINO's, which says itself where each begins
        openvino.covered(declared, map_file(numbers), str(numbers))
    # ONNX holds its tensors itself; a Paddle program without a file beside it holds none.
    weights = [one for one in declared if one.dtype != "string" and one.nbytes]
    times = Counter(one.name for one in weights)
    # Subgraphs may use a name again; then its place tells them apart.
    named = {one.name if times[one.name] == 1 else f"{one.name}@{at}": one for at, one in enumerate(weights)}
    return named, map_file(numbers or main)


def stored_digests(files: Sequence[str], folder: Path, facts: ModelFacts | None = None) -> dict[str, str]:
    """The digest of every stored tensor; raises as :func:`stored_weights`."""
    weights, content = stored_weights(files, folder, facts)
    with ThreadPoolExecutor() as pool:  # hashing holds no lock
        found = pool.map(lambda weight: digest(weight.array(content, copy=False)), weights.values())
        return dict(zip(weights, found, strict=True))
