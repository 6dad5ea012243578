"""The installed packages by content: their records of files, and the files themselves where nobody recorded them."""

from __future__ import annotations

import hashlib
import os
import site
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from exporter.base.bounded_json import parse_json
from exporter.gate.project import digest_below

#: This package as it is installed: its code counts by itself, wherever it was imported from.
_OURS = "paddle_exporter"


@cache
def packages() -> dict[str, str]:
    """Return for each package a digest of its RECORD, and for what is in none a digest of its files."""
    digests, own = dict[str, str](), set[str]()
    for place in _places():
        names, recorded = sorted(os.listdir(place)), {"__pycache__"}  # noqa: PTH208 - of many
        for name in names:
            if not name.endswith((".dist-info", ".egg-info")):
                continue
            recorded.add(name)
            package = name.rpartition(".")[0].replace("-", " ", 1)
            record = Path(place, name, "RECORD")
            if record.is_file():
                raw = record.read_bytes()
                digests.setdefault(package, hashlib.sha256(raw).hexdigest())
                lines = raw.decode("utf-8", "replace").splitlines()
                recorded |= {line.partition("/")[0].partition(",")[0] for line in lines}
            if package.partition(" ")[0] != _OURS:
                own |= _in_place(Path(place, name))
        loose = [name for name in names if name not in recorded]
        digests |= {f"{name} in {place}": digest_below(f"{place}/{name}") for name in loose}
    return dict(sorted({**digests, **{folder: digest_below(folder) for folder in own}}.items()))


def _places() -> list[str]:
    """List the folders of installed packages; not sys.path, where setuptools puts one of its own when imported."""
    asked = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    named = [path for path in asked if any(Path(path).glob("*.dist-info"))]
    named += [*site.getsitepackages(), site.getusersitepackages()]
    places = [*named, *(path for place in named for path in _linked(Path(place)))]
    return [path for path in dict.fromkeys(places) if os.path.isdir(path)]  # noqa: PTH112 - of many


def _linked(place: Path) -> Iterator[str]:
    """Yield folders of packages that `.pth` files add; others hold code of a project, which counts with it."""
    for path in sorted(place.glob("*.pth")):
        for line in path.read_text("utf-8", "replace").splitlines():
            folder = place / line.strip()
            if line.strip() and not line.startswith(("import", "#")) and any(folder.glob("*.dist-info")):
                yield str(folder)


def _in_place(info: Path) -> set[str]:
    """Return the folder of a package that was installed in place, as its installer wrote it down."""
    try:
        about = parse_json((info / "direct_url.json").read_bytes())
        url, edits = str(about["url"]), bool(about.get("dir_info", {}).get("editable"))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return set()
    folder = url.removeprefix("file://")
    known = any(path.is_relative_to(folder) for path in (Path.cwd(), Path(__file__)))  # a project counts by its files
    return {folder} if edits and url.startswith("file://") and not known else set()
