"""The file that a spec's `source` names, in one of the predictors that serve it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from exporter.base.readers import read_program
from exporter.base.references import split_factory
from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import Availability, Engine, EngineRefused, Runnable, Session, SessionAround


class _Renamed(SessionAround):
    """A session whose inputs and outputs have the spec's names; the file's own are those at the same places."""

    def __init__(self, session: Session, inputs: dict[str, str], outputs: dict[str, str]) -> None:
        super().__init__(session)
        self._inputs, self._outputs = inputs, outputs

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        outputs = self._session.run({native: inputs[name] for name, native in self._inputs.items()})
        return {name: outputs[native] for name, native in self._outputs.items()}


class GivenFile(Engine):
    """An engine of the format `source` that runs the program as it was given, by the engine `served_by`."""

    formats = ("source",)
    served_by: ClassVar[Engine]

    def environment(self, device: str) -> Mapping[str, str | None]:
        return self.served_by.environment(device)

    def probe(self, device: str) -> Availability:
        return self.served_by.probe(device)

    @contextlib.contextmanager
    def open(self, artifact: Runnable, device: str) -> Iterator[Session]:
        assert artifact.source is not None  # noqa: S101  # the format is `source`
        _, arguments = split_factory(artifact.source.model)
        _, plain = split_factory(arguments["model"]) if "pipeline" in arguments else (None, arguments)
        program = Path(plain["program"])
        facts = read_program(program)
        natives = [spec.name for spec in facts.outputs]
        names = natives if plain is not arguments else _called(natives, artifact.outputs)
        inputs = {name: spec.name for name, spec in zip(plain["inputs"], facts.inputs, strict=True)}
        with tempfile.TemporaryDirectory(prefix="exporter-") as place:
            model = Path(place, f"model{program.suffix}")
            model.symlink_to(program.resolve())
            if parameters := plain.get("parameters"):
                model.with_suffix(".pdiparams").symlink_to(Path(parameters).resolve())
            files = Runnable(
                facts.format,
                Path(place),
                model.name,
                tuple(inputs.values()),
                tuple(natives),
                threads=artifact.threads,
            )
            with self.served_by.open(files, device) as session:
                renamed = _Renamed(session, inputs, dict(zip(names, natives, strict=True)))
                yield renamed if plain is arguments else _folded(renamed, plain["inputs"], arguments, artifact.outputs)


def _called(natives: Sequence[str], outputs: Sequence[str]) -> Sequence[str]:
    """Name the file's outputs as a spec does: by their own names where it names just these, else by their places."""
    if len(natives) != len(outputs):
        raise EngineRefused(f"the file puts out {len(natives)} tensors, not {len(outputs)}")
    return natives if set(natives) == set(outputs) else outputs


def _folded(session: Session, names: Sequence[str], specs: Mapping[str, object], outputs: Sequence[str]) -> Session:
    from exporter.engines.folded_file import FoldedFile  # pydantic and the steps, which few specs need

    return FoldedFile(session, names, specs, outputs)
