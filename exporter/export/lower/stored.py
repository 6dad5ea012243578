"""The tensors that an artifact's files store, read without any engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from exporter.base.readers import read
from exporter.base.readers.base import Content, ModelFacts, Weight, map_file
from exporter.base.readers.external import refuse_misplaced
from exporter.base.readers.kinds import openvino, pdiparams
from exporter.base.tensors import Array, digest
from exporter.export.lower.base import main_file

#: So many bytes of an array tell most contents apart.
_HEAD = 64
#: So many are compared at a time.
_PIECE = 1 << 20


@dataclass(frozen=True)
class StoredTensors:
    """What an artifact stores: each tensor's place by the file's name for it, and the files that hold the numbers."""

    weights: Mapping[str, Weight]
    contents: Mapping[str, Content]

    def array(self, name: str, *, copy: bool = True) -> Array:
        """The numbers of a tensor; raises as :meth:`exporter.base.readers.base.Weight.array`."""
        weight = self.weights[name]
        return replace(weight, file="").array(self.contents[weight.file], copy=copy)

    def arrays(self) -> dict[str, Array]:
        """The numbers of every tensor, by its name, as they lie in files that stay as they are."""
        return {name: self.array(name, copy=False) for name in self.weights}


def stored_tensors(files: Sequence[str], folder: Path, facts: ModelFacts | None = None) -> StoredTensors:
    """Every stored tensor of these files; `facts` of the program if they were read before.

    Raises:
        BundleError: a file is damaged, or the two of a Paddle format do not belong together.
    """
    main = folder / main_file(files)
    beside = next((folder / name for name in files if name.endswith(".pdiparams")), None)
    declared = (facts or read(main)).weights
    if beside is not None:
        content = map_file(beside)
        return StoredTensors(pdiparams.named(content, str(beside), declared), {"": content})
    numbers = next((folder / name for name in files if name.endswith(".bin")), None)
    if numbers is not None:  # OpenVINO's, which says itself where each begins
        openvino.covered(declared, map_file(numbers), str(numbers))
    # ONNX holds its tensors itself; a Paddle program without a file beside it holds none.
    weights = [one for one in declared if one.dtype != "string" and one.nbytes]
    times = Counter(one.name for one in weights)
    # Subgraphs may use a name again; then its place tells them apart.
    named = {one.name if times[one.name] == 1 else f"{one.name}@{at}": one for at, one in enumerate(weights)}
    refuse_misplaced(weights, main.parent)
    apart = {weight.file: map_file(main.parent / weight.file) for weight in weights if weight.file}
    return StoredTensors(named, {"": map_file(numbers or main), **apart})


class Digests:
    """The digest of each array by :func:`exporter.base.tensors.digest`; bytes that were hashed before are compared.

    The formats of a model store the same numbers, and to compare them takes a quarter of the time. Each array that was
    hashed is kept, so they lie best in mapped files, which must stay as they are.
    """

    def __init__(self) -> None:
        self._hashed: dict[tuple[str, int, bytes], list[tuple[Array, str]]] = {}

    def of(self, array: Array) -> str:
        """Hash an array, or find the digest of one with the same dtype and the same bytes."""
        import numpy as np

        plain = np.ascontiguousarray(array).reshape(-1).view("uint8")
        alike = self._hashed.setdefault((array.dtype.str, plain.size, plain[:_HEAD].tobytes()), [])
        found = next((known for other, known in alike if _same_bytes(other, plain)), None)
        if found is None:
            found = digest(array)
            alike.append((plain, found))
        return found


def _same_bytes(first: Array, second: Array) -> bool:
    """Compare two arrays of bytes of one size, in pieces that a cache holds."""
    pieces = range(0, first.size, _PIECE)
    return all(bool((first[at : at + _PIECE] == second[at : at + _PIECE]).all()) for at in pieces)


def stored_digests(
    files: Sequence[str], folder: Path, facts: ModelFacts | None = None, digests: Digests | None = None
) -> dict[str, str]:
    """The digest of every stored tensor; raises as :func:`stored_tensors`."""
    stored = stored_tensors(files, folder, facts)
    hashed = digests or Digests()
    with ThreadPoolExecutor() as pool:  # hashing holds no lock
        found = pool.map(lambda name: hashed.of(stored.array(name, copy=False)), stored.weights)
        return dict(zip(stored.weights, found, strict=True))
