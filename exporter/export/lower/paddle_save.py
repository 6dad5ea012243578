"""`paddle.jit.save` into an empty folder, with nothing left there that we do not name."""

from __future__ import annotations

from pathlib import Path

from exporter.base.errors import ModelError
from exporter.base.readers import read
from exporter.export.trace.blame import blamed
from exporter.export.trace.traced import Traced
from exporter.export.trace.unread import unread


def save(traced: Traced, into: Path, suffix: str) -> None:
    """Write `model{suffix}` and `model.pdiparams`; a program that reads no parameter leaves only the first.

    Raises:
        ModelError: Paddle cannot write the program, or wrote another format than was asked for; an input is not used.
    """
    import paddle

    try:
        with blamed("lower", traced.layer):
            paddle.jit.save(traced.layer, str(into / "model"))
    except ModelError as error:
        if names := unread(error.what, traced.layer):
            raise ModelError(
                f"no output depends on the input {' or '.join(repr(one) for one in names)}",
                where=error.where,
                hint="take it out of inputs (a forward that needs it anyway can be wrapped), or use it in forward",
            ) from error
        raise
    # A pickle that only names the parameters; nothing needs it, and a bundle holds no pickles.
    (into / "model.pdiparams.info").unlink(missing_ok=True)
    found = {path.name for path in into.iterdir()}
    alone = found == {f"model{suffix}"} and not read(into / f"model{suffix}").weights
    if not alone and found != {f"model{suffix}", "model.pdiparams"}:
        raise ModelError(
            f"Paddle wrote {sorted(found)}, not model{suffix} and model.pdiparams",
            where=into.name,
            hint="use Paddle 3.0 to 3.3: this one is not supported",
        )
