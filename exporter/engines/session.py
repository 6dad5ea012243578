"""What every engine's session goes through, once: whole files, effective settings, and inputs that are the model's.

Without it Paddle loads a truncated or foreign `.pdiparams` without a word, the predictor takes the bytes of a wrong
dtype for numbers, and eager promotes what the artifact was never traced for (3.3.1).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from exporter.base.errors import BundleError, UsageError
from exporter.base.readers import read
from exporter.base.readers.base import map_file
from exporter.base.readers.kinds import pdiparams
from exporter.base.tensors import Array, TensorMap, TensorSpec
from exporter.engines.base import Engine, EngineRefused, Runnable, Session, SessionAround, SettingsUnmet


@contextlib.contextmanager
def started(engine: Engine, artifact: Runnable, device: str) -> Iterator[Session]:
    """Open an artifact and check all that passes.

    Raises:
        EngineRefused: a file is missing or damaged, or the engine does not load it.
        SettingsUnmet: a setting is not in effect.
    """
    takes = _inputs(artifact)
    with engine.open(artifact, device) as session:
        if session.settings.unmet():
            raise SettingsUnmet(session.settings)
        yield _Checked(session, takes)


def _inputs(artifact: Runnable) -> tuple[TensorSpec, ...]:
    """What the model takes, by its own file, which is read to its end."""
    if artifact.source is not None:
        return artifact.source.inputs
    try:
        facts = read(artifact.path)
        if artifact.format in ("pir", "pdmodel") and facts.weights:
            stored = artifact.path.with_suffix(".pdiparams")
            pdiparams.named(map_file(stored), str(stored), facts.weights)
    except (BundleError, UsageError) as error:
        raise EngineRefused(str(error)) from error
    return facts.inputs


class _Checked(SessionAround):
    def __init__(self, session: Session, takes: tuple[TensorSpec, ...]) -> None:
        super().__init__(session)
        self._takes = takes

    def run(self, inputs: TensorMap) -> dict[str, Array]:
        import numpy as np

        names = [one.name for one in self._takes]
        if sorted(names) != sorted(inputs):
            raise EngineRefused(f"the model takes {names}, not {sorted(inputs)}")
        for spec in self._takes:
            _refuse_other(spec, inputs[spec.name])
        # In one piece, and a copy: no engine shall write into a case.
        return self._session.run({name: np.array(value, order="C") for name, value in inputs.items()})


def _refuse_other(spec: TensorSpec, value: Array) -> None:
    """Refuse an array that is not what the spec says (dtype, rank and every size that is fixed), or that is empty.

    Dims begin at 1, so no case is empty; and on one the default predictor dies by SIGFPE (concat under oneDNN, 3.3.1).
    """
    fits = len(value.shape) == len(spec.shape) and all(
        size == wanted or (size > 0 and (isinstance(wanted, str) or wanted < 0))
        for size, wanted in zip(value.shape, spec.shape, strict=True)
    )
    # numpy has no bfloat16; its bits travel as uint16.
    dtype = "uint16" if spec.dtype == "bfloat16" else spec.dtype
    if not fits or value.dtype.name != dtype:
        raise EngineRefused(f"the model takes {spec}, and {value.dtype.name}{list(value.shape)} came")
