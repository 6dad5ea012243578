"""Folders that hold the code of families which no installed package has: `--checkout FAMILY=FOLDER`.

Each stands in an environment variable, since children read it too. Nothing of them is copied here.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

#: How the environment variables begin that name folders.
PREFIX = "ZOO_"


def variable(family: str) -> str:
    """The environment variable that names the folder of a family."""
    return f"{PREFIX}{family.upper()}"


def name_checkout(said: str) -> None:
    """Note the folder of `FAMILY=FOLDER` for this process and its children."""
    family, equals, folder = said.partition("=")
    if not equals or not Path(folder).is_dir():
        raise SystemExit(f"--checkout {said}: no such folder; write FAMILY=FOLDER")
    os.environ[variable(family)] = str(Path(folder).resolve())


def checkout(family: str, holds: str) -> Path | None:
    """The folder of a family, which can be imported from now on; None where none is named.

    It has to hold the folder `holds`.
    """
    named = os.environ.get(variable(family))
    if not named:
        return None
    root = Path(named)
    if not (root / holds).is_dir():
        raise SystemExit(f"{variable(family)}: {root} holds no {holds}")
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return root
