"""Put a finished hand-over in its place: all at once, and never over something else.

A folder that is there may only hold the same bytes. In a repository of models a version may be added beside others: the
configuration that all versions share must fit, and the version's folder appears by one rename.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from exporter.base.bounded_json import read_json
from exporter.base.errors import BundleError, UsageError
from exporter.base.files import TEMPORARY, place_folder, read_regular, replace_bytes, sha256_file
from exporter.deploy.handoff.record import Earlier

#: The record of a hand-over, and the same for people.
MANIFEST, README = "MANIFEST.json", "README.md"
#: Bytes of a file that all versions share.
_MOST_CONFIGURATION = 16 << 20
_OTHER = "choose another --out, or remove what is there yourself"


def earlier(out: Path, target: str) -> Earlier | None:
    """Return the record of the hand-over that lies at `out`; None where nothing lies there.

    Raises:
        UsageError: something else lies there, or a hand-over for another target.
    """
    if out.is_symlink():
        raise UsageError("is a symbolic link", where=str(out), hint="name the folder itself with --out")
    if not out.exists():
        return None
    if not out.is_dir():
        raise UsageError("is a file", where=str(out), hint="choose another --out")
    if not any(not path.name.startswith(TEMPORARY) for path in out.iterdir()):
        return None
    path = out / MANIFEST
    if not path.is_file():
        raise UsageError("holds files that are none of ours", where=str(out), hint="choose another --out")
    try:
        content = read_json(path)
    except BundleError as error:
        raise UsageError(f"cannot be read: {error.what}", where=str(path), hint=_OTHER) from error
    try:
        record = Earlier.of(content)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise UsageError("is no record of this version of exporter", where=str(path), hint=_OTHER) from error
    if content.get("target") != target:
        raise UsageError(f"holds a hand-over for {content.get('target')}, not {target}", where=str(out), hint=_OTHER)
    return record


def refuse_other(draft: Path, out: Path, names: Collection[str], hint: str = _OTHER) -> None:
    """Compare files of a draft with those in place.

    Raises:
        UsageError: one is not there, or is another; the first is named.
    """
    for name in sorted(names):
        there = out / name
        if not there.is_file() or there.is_symlink() or sha256_file(there) != sha256_file(draft / name):
            what = "is there with other content" if there.exists() else "is missing in the folder that is there"
            raise UsageError(f"{name} {what}, and nothing is overwritten", where=str(out), hint=hint)


def refuse_more(draft: Path, out: Path) -> None:
    """Raises UsageError where a folder in place holds a file that the draft does not have."""
    if strange := sorted(files_in(out) - files_in(draft)):
        raise UsageError(f"holds {strange[0]} besides, and nothing is overwritten", where=str(out), hint=_OTHER)


def files_in(folder: Path) -> set[str]:
    """Every file and link below a folder by its path in it, but for what writers have not finished."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or path.is_file()}
    return {name for name in names if not name.startswith(TEMPORARY)}


def refuse_unfit(draft: Path, out: Path, version: str, files: Collection[str]) -> None:
    """Hold a draft against the repository that it shall go into, before anything is written there.

    Raises:
        UsageError: the version is there with other content, a folder on the way is a link, or a file that all versions
            share would have to change; what differs is said.
    """
    for parent in (PurePosixPath(version), *PurePosixPath(version).parents):
        if (out / parent).is_symlink():
            raise UsageError("is a symbolic link", where=str(out / parent), hint="choose another --out")
    own = {name for name in files if name.startswith(f"{version}/")}
    for name in sorted(set(files) - own):
        if not (out / name).exists():
            continue
        if wrong := _unlike(read_regular(out / name, _MOST_CONFIGURATION), (draft / name).read_bytes()):
            raise UsageError(
                f"cannot be shared with the versions that are there: {wrong}",
                where=str(out / name),
                hint="keep the interface of the model, or hand this one over to another --out or under another name",
            )
    if (out / version).exists():
        hint = f"hand it over as --model-version {_next(out / version)}, or to another --out"
        refuse_other(draft, out, own, hint)
        if strange := sorted(files_in(out / version) - files_in(draft / version)):
            raise UsageError(f"{version} holds {strange[0]} besides", where=str(out), hint=hint)


def _next(version: Path) -> int:
    """The number after the largest that is there."""
    return 1 + max(int(path.name) for path in version.parent.iterdir() if path.name.isdecimal())


def add_version(draft: Path, out: Path, version: str, files: Collection[str]) -> bool:
    """Move a version of a draft into a repository that it fits; false where it is there already.

    The files that versions share are written first, where they are missing; then the topmost folder of the version that
    is missing appears with everything in it. A kill leaves the repository with the version or without it.

    Raises:
        UsageError: as :func:`refuse_unfit`, since somebody may have added one meanwhile.
    """
    refuse_unfit(draft, out, version, files)
    if (out / version).exists():
        return False
    parents = [PurePosixPath(version), *PurePosixPath(version).parents]
    top = [path for path in parents if not (out / path).exists()][-1]
    for name in files:
        if not (out / name).exists() and not PurePosixPath(name).is_relative_to(top):
            replace_bytes(out / name, (draft / name).read_bytes())
    place_folder(draft / top, out / top)
    return True


def _unlike(there: bytes, wanted: bytes) -> str:
    """What two configurations say differently, comments aside; empty where nothing."""
    if there == wanted:
        return ""
    has, needs = _statements(there), _statements(wanted)
    lost, new = [line for line in has if line not in needs], [line for line in needs if line not in has]
    if not lost and not new:
        return "" if has == needs else "the same lines stand in another order"
    told = [f"it has {line!r}" for line in lost[:1]] + [f"this bundle needs {line!r}" for line in new[:1]]
    return ", and ".join(told)


def _statements(content: bytes) -> list[str]:
    """The lines of a configuration without comments; of JSON a line a key."""
    text = content.decode(errors="replace")
    try:
        value = json.loads(text)
    except ValueError:
        lines = (line.strip() for line in text.splitlines())
        return [line for line in lines if line and not line.startswith("#")]
    pairs = value.items() if isinstance(value, dict) else [("", value)]
    return [f"{key}: {json.dumps(item, sort_keys=True)}" for key, item in sorted(pairs)]
