"""The contract of a format, and what it produces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from exporter.base.bounded_json import Data
from exporter.base.errors import ModelError
from exporter.base.readers.base import ModelFacts
from exporter.base.readers.external import DATA
from exporter.base.tensors import TensorSpec
from exporter.export.trace.traced import Traced

#: What a writer says of its file, for the manifest.
Details: TypeAlias = Mapping[str, Data]
#: What a child says when it has built the layer, and tried it if that was asked for.
TRACING = "tracing"


@dataclass(frozen=True)
class Wish:
    """What is asked of a file.

    An ONNX opset, the oldest Paddle (as `2.6`) that has to load it, names for its dims, which writer of the format, and
    the bytes of an ONNX file from which on its tensors lie beside it.
    """

    opset: int | None = None
    target: str | None = None
    inputs: tuple[TensorSpec, ...] = ()
    writer: str = "program"
    data_over: int | None = None


@dataclass(frozen=True)
class Artifact:
    """The files of one variant, relative to the bundle, and what its inputs and outputs are called inside.

    `inputs` and `outputs` are in the order of the spec, `native_outputs` in the order of the file; the names are the
    same, since the writer gives the program ours. `details` holds what was asked and what became of it
    (opset, writer's version, `stateless` where the program reads no tensor of the layer), `weights` the digest of
    each tensor that the files store, by the file's name for it. `origins` is the layer's own name for each stored
    tensor that the writer took over as it was.
    """

    format: str
    precision: str
    files: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    native_outputs: tuple[str, ...]
    details: Mapping[str, Any] = field(default_factory=dict)
    weights: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def main(self) -> str:
        """The file that engines open, relative to the bundle; parameters lie beside it."""
        return main_file(self.files)

    @property
    def variant(self) -> str:
        """The variant's name, which is its folder: `onnx`, or `onnx-fp16`."""
        return self.format if self.precision == "fp32" else f"{self.format}-{self.precision}"


def is_program(file: str) -> bool:
    """Return whether a variant's file is its program, and not the parameters that lie beside it."""
    return not file.endswith((".pdiparams", ".bin", DATA))


def main_file(files: Iterable[str]) -> str:
    """Of a variant's files the program, and not the parameters that lie beside it."""
    return next(filter(is_program, files))


class Format(ABC):
    """How a traced layer is written. `write` makes the files, `ensure` compares what was read of them.

    `after` names the format whose files this one is made from, if any: `write` then finds them in `source`. `folds`
    says that the writer adds constants and folds parameters, so that not every stored tensor is one of the layer's.
    `legacy` says that it is made of a trace to a legacy program, which may go through where one to PIR fails.
    `model` is the file with the program, `parameters` the one beside it with what it stores, if they lie apart.

    What else is known of a format has its name in other folders, and a package outside adds it by their entry points.
    `exporter.base.readers` reads its files, unless a reader of ours has their suffix. `exporter.prove.root_cause.taps`
    shows its intermediate values: without it a mismatch is not localised. `exporter.bundle.drill.programs` is its
    program for `drill`, which leaves a format without one out.
    """

    folds: ClassVar[bool] = False
    legacy: ClassVar[bool] = False
    after: ClassVar[str | None] = None
    model: ClassVar[str]
    parameters: ClassVar[str] = ""

    def chosen(self, wish: Wish) -> Format:
        """What writes the format as it is wished; most formats have one writer."""
        del wish
        return self

    def session(self, target: str | None) -> AbstractContextManager[None]:
        """What must surround tracing and writing; `target` is the oldest Paddle that has to load the files."""
        del target
        return nullcontext()

    @abstractmethod
    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Details:
        """Write the files into the empty folder `into`; return details for the manifest.

        Raises:
            ModelError: the format cannot hold this program; the message names the operator.
        """

    def ensure(
        self, facts: ModelFacts, inputs: Sequence[TensorSpec], outputs: Sequence[str], foreign: set[str]
    ) -> None:
        """Compare what the files say: same inputs, same outputs, and no tensor that the layer lacks (`foreign`).

        Raises:
            ModelError: the program lost an input or an output, or a parameter changed on the way.
        """
        found_inputs, found_outputs = [one.name for one in facts.inputs], [one.name for one in facts.outputs]
        for one in inputs:
            if one.name not in found_inputs:
                raise ModelError(
                    f"input '{one.name}' is not in the written program: forward's result does not depend on it",
                    where=self.model,
                    hint="remove it from the inputs, or use it in forward",
                )
        if sorted(found_outputs) != sorted(outputs):
            raise ModelError(
                f"the written program puts out {found_outputs}, and {list(outputs)} was traced",
                where=self.model,
                hint="give each output of forward a tensor of its own: one was dropped, merged or renamed on the way",
            )
        if foreign and not self.folds:
            raise ModelError(
                f"{len(foreign)} tensors in the written file are not the layer's",
                where=self.model,
                hint="look for code of the model that changed them meanwhile, or report it with the model",
            )
