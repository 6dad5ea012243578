"""The legacy program (`.pdmodel` + `.pdiparams`), written by :mod:`exporter.export.lower.pdmodel`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from exporter.export.lower.base import Details, Format, Wish
from exporter.export.lower.paddle_save import save
from exporter.export.lower.pdmodel.files import finish
from exporter.export.lower.pdmodel.runtimes import runtimes
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.export.lower.pdmodel.written import mend
from exporter.export.trace.traced import Traced

if TYPE_CHECKING:
    import paddle


class Pdmodel(Format):
    """The legacy program; stock Paddle 3.2 and 3.3 cannot write it for most networks, see docs/legacy.md."""

    legacy = True
    model = "model.pdmodel"
    parameters = "model.pdiparams"

    def session(self, target: str | None) -> AbstractContextManager[None]:
        return legacy_export(Version(target) if target else None)

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Details:
        assert traced is not None  # noqa: S101  # `after` is None, so the caller traced
        _copy_stored(traced.layer)
        save(traced, into, ".pdmodel")
        mend(into / self.model, traced.native_outputs, traced.outputs)
        finish(into / self.model, into / "model.pdiparams", Version(wish.target) if wish.target else None)
        able = {version: why or "loads it" for version, why in runtimes(into / self.model).items()}
        return {"paddle_versions": able}


def _copy_stored(static: paddle.nn.Layer) -> None:
    """Put an `assign` behind each output that is a parameter or a buffer as it is.

    The file has one name for a stored tensor and for what is fetched: renamed as our output it would be another tensor
    of the parameter file, whose tensors have no names but come in the order of theirs (3.3.1, `save_combine`).
    """
    import paddle

    from exporter.paddle.values import is_variable

    program = static.forward.concrete_program

    def copied(value: object) -> object:
        return paddle.assign(value) if is_variable(value) and getattr(value, "persistable", False) else value

    paddle.enable_static()
    try:
        with paddle.static.program_guard(program.main_program):
            program.outputs = paddle.utils.map_structure(copied, program.outputs)
    finally:
        paddle.disable_static()


plugin: Format = Pdmodel()
