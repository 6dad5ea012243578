"""A home in which Paddle can write."""

from __future__ import annotations

import tempfile
from pathlib import Path

from exporter.base.errors import EnvironmentLacks
from exporter.spec.model import Spec
from exporter.spec.source import FACTORY


def refuse_without_home(spec: Spec) -> None:
    """Make sure that Paddle's tracer finds a place for the code that it makes of a model's.

    paddle/jit/dy2static/utils.py (3.3.1) makes a folder below `~/.cache`, and heeds no XDG_CACHE_HOME.

    Raises:
        EnvironmentLacks: nothing can be written there.
    """
    place = Path("~/.cache").expanduser()
    if spec.model == FACTORY:  # a program, which is traced already
        return
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise EnvironmentLacks(
            f"Paddle traces a model through files in ~/.cache, which cannot be written: {error.strerror}",
            where=str(place),
            hint="set HOME to a folder you may write to, as HOME=/tmp before the command",
        ) from error
