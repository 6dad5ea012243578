"""What was seen to be read beside what counts of a project, as it is kept: by content; and whether it is still so."""

from __future__ import annotations

import contextlib
import glob
import os
import sysconfig
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from exporter.base.files import TEMPORARY, sha256_bytes
from exporter.base.watch import Seen
from exporter.gate.project import content_of, stamp_of

_KERNEL = ("/proc", "/sys", "/dev")


@dataclass(frozen=True)
class Depends:
    """Digests of files, of the names in folders and by patterns.

    Where a folder was listed, the folders of results (`made`) do not count. Paths below the working folder are relative
    to it, so that another checkout finds the same. `hidden` may have read more, for which the patterns answer.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    patterns: Mapping[str, str] = field(default_factory=dict)
    made: Sequence[str] = ()
    hidden: Sequence[str] = ()

    @classmethod
    def of(cls, seen: Seen, made: Iterable[Path], named: Iterable[str], counted: Collection[str]) -> Depends:
        """Keep of what was seen all but what lies below `made`, belongs to the installation, or is `counted`.

        Files of the patterns `named` count in any case.
        """
        results = sorted({str(path.absolute()) for path in made})
        leave = (*_KERNEL, *_installed(), *(f"{path}/" for path in results), f"{tempfile.gettempdir()}/exporter-run-")
        patterns = {pattern: _files(pattern) for pattern in named}
        read = {path for path in seen.read if not path.startswith(leave) and "__pycache__" not in Path(path).parts}
        read |= {os.path.abspath(path) for paths in patterns.values() for path in paths}  # noqa: PTH100 - of a link, its name
        files = {_short(path): content_of(path) for path in sorted(read) if os.path.relpath(path) not in counted}
        folders = [path for path in sorted(seen.listed) if not f"{path}/".startswith(leave)]
        own = [_short(path) for path in results]
        return cls(
            files,
            {_short(path): _names_in(path, own) for path in folders},
            {pattern: _digest(paths) for pattern, paths in patterns.items()},
            own,
            sorted(seen.hidden),
        )

    def difference(self) -> str:
        """Name the first thing that is not as it was; return an empty text where all is."""
        for name, digest in self.files.items():
            if content_of(name) != digest:
                return f"{name} {'changed' if os.path.lexists(name) else 'is gone'}"
        for name, digest in self.folders.items():
            if _names_in(name, self.made) != digest:
                return f"other files lie in {name}"
        for pattern, digest in self.patterns.items():
            if _digest(_files(pattern)) != digest:
                return f"'{pattern}' names other files"
        return ""

    def changed_since(self, moment: int) -> str:
        """Name the first file that changed after a moment (ns): nobody knows whether it was read before or after."""
        stamps = {name: stamp_of(name) for name, digest in self.files.items() if digest}
        return next((name for name, stamp in stamps.items() if stamp is None or stamp[2] >= moment), "")

    def seen(self) -> Seen:
        """Return what was seen then, for whoever asks now."""
        read, listed = ({str(Path.cwd() / name) for name in names} for names in (self.files, self.folders))
        return Seen(read, listed, set(self.hidden))

    @property
    def believed(self) -> str:
        """What the spec's `depends` is believed for, in words; empty where it is not needed."""
        return f"its `depends` answers for what {', '.join(self.hidden)} may have read" if self.hidden else ""

    def unknown(self, named: Sequence[str]) -> str:
        """Say who may have read unseen, unless the patterns that a spec names answer for it."""
        if not self.hidden or named:
            return ""
        return f"nobody sees which files {', '.join(self.hidden)} may have read: name them in the spec's `depends`"


@cache
def _installed() -> tuple[str, ...]:
    """Where packages and the standard library lie, whose records stand for them; and this package."""
    places = {sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib", "scripts")}
    places |= {os.path.dirname(os.__file__), str(Path(__file__).parents[2])}  # noqa: PTH120
    resolved = {str(Path(place).resolve()) for place in places}
    return tuple(f"{place}/" for place in sorted(places | resolved))


def _short(path: str) -> str:
    """Relative to the working folder where it lies there."""
    return path.removeprefix(f"{Path.cwd()}/") or "."


def _names_in(folder: str, made: Iterable[str]) -> str:
    """Return a digest of the names in a folder, but for folders of results and drafts; empty where there is none."""
    place = Path(folder).absolute()
    inside = (Path(result).absolute() for result in made)
    own = {result.relative_to(place).parts[0] for result in inside if result != place and result.is_relative_to(place)}
    with contextlib.suppress(OSError):
        names = os.listdir(folder)  # noqa: PTH208
        return _digest(name for name in names if name not in own and not name.startswith(TEMPORARY))
    return ""


def _files(pattern: str) -> list[str]:
    return [path for path in glob.glob(pattern, recursive=True) if os.path.isfile(path)]  # noqa: PTH113, PTH207 - absolute ones too


def _digest(names: Iterable[str]) -> str:
    return sha256_bytes("\0".join(sorted(names)).encode("utf-8", "surrogateescape"))
