"""One artifact on the table: its program and its stored tensors, to be changed, and written as a faulty copy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from exporter.base.files import sha256_bytes
from exporter.base.readers.external import lend
from exporter.base.registry import Registry
from exporter.base.tensors import Array
from exporter.bundle.drill.programs.base import Program, Unplantable
from exporter.export.lower.base import Artifact
from exporter.export.lower.stored import StoredTensors, stored_tensors

PROGRAMS: Registry[type[Program]] = Registry("exporter.bundle.drill.programs", "editable format")
_PARAMETERS = ".pdiparams"


@dataclass
class Material:
    """An artifact of the bundle in `folder`, for one fault: changes are kept apart until they are written.

    `layer` holds the layer's own name for stored tensors, as far as it is known; `older` another checkpoint's tensors
    by the stored names; `batch` the typical size of each input's first dimension, if that varies (else 0).
    """

    artifact: Artifact
    folder: Path
    layer: Mapping[str, str] = field(default_factory=dict)
    older: Mapping[str, Array] = field(default_factory=dict)
    batch: int = 0
    _tensors: dict[str, Array] = field(default_factory=dict)
    _edited: Program | None = None

    @property
    def place(self) -> str:
        """The folder of the files, relative to the bundle."""
        return Path(self.artifact.main).parent.as_posix()

    @cached_property
    def _stored(self) -> StoredTensors:
        return stored_tensors(self.artifact.files, self.folder)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The stored float32 tensors: the layer's own and what they were folded to, else all that are no scalar."""
        weights = self._stored.weights
        floats = [name for name, one in weights.items() if one.dtype == "float32" and one.pieces]
        folded = self.artifact.details.get("folded", {})
        own = [name for name in floats if name in self.layer or folded.get(name)]
        return tuple(own or [name for name in floats if weights[name].elements > 1])

    def array(self, name: str) -> Array:
        """A stored tensor as it was."""
        return self._stored.array(name)

    def stores(self, values: Iterable[str]) -> bool:
        """Whether one of these values is a stored tensor of the layer: no constant of the program."""
        return any(name in self.parameters for name in values)

    def replace(self, name: str, value: Array) -> None:
        """Give a stored tensor other numbers.

        Raises:
            Unplantable: they are the same.
        """
        old = self.array(name)
        value = np.ascontiguousarray(value, dtype="<f4").reshape(old.shape)
        if value.tobytes() == old.tobytes():
            raise Unplantable("the numbers would stay as they are")
        self._tensors[name] = value

    @cached_property
    def program(self) -> Program:
        """The program, parsed anew and only to be looked at; see :meth:`edit`."""
        return PROGRAMS[self.artifact.format].parse((self.folder / self.artifact.main).read_bytes())

    def edit(self) -> Program:
        """The program, to be changed."""
        self._edited = PROGRAMS[self.artifact.format].parse((self.folder / self.artifact.main).read_bytes())
        return self._edited

    def clear(self) -> None:
        """Forget every change."""
        self._tensors, self._edited = {}, None

    def fingerprint(self) -> str:
        """Equal for two faults that change the artifact in the same way."""
        parts = [name.encode() + value.tobytes() for name, value in sorted(self._tensors.items())]
        return sha256_bytes(b"".join([*parts, self._edited.encode() if self._edited else b""]))

    def write(self, into: Path) -> None:
        """Write the artifact with its fault below `into`, under the names that it has in the bundle."""
        (into / self.place).mkdir(parents=True, exist_ok=True)
        changed = {self._file_of(name) for name in self._tensors}
        for name in self.artifact.files:
            target = into / name
            target.unlink(missing_ok=True)
            if name == self.artifact.main and self._edited:
                target.write_bytes(self._edited.encode())
            elif name in changed:
                target.write_bytes(self._patched(name))
            else:
                lend(self.folder / name, target)

    def _file_of(self, tensor: str) -> str:
        """Return the file of the bundle that holds the numbers of a stored tensor."""
        if beside := self._stored.weights[tensor].file:
            return f"{self.place}/{beside}"
        return next((name for name in self.artifact.files if name.endswith(_PARAMETERS)), self.artifact.main)

    def _patched(self, file: str) -> bytearray:
        """Return a file of the bundle with the other numbers of those tensors that it holds."""
        patched = bytearray((self.folder / file).read_bytes())
        for name, value in ((name, value) for name, value in self._tensors.items() if self._file_of(name) == file):
            raw, taken = value.tobytes(), 0
            for start, stop in self._stored.weights[name].pieces:
                patched[start:stop] = raw[taken : taken + stop - start]
                taken += stop - start
            assert taken == len(raw) == 4 * math.prod(value.shape)  # noqa: S101  # the reader checked it
        return patched
