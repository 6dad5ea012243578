"""Seal a bundle: everything in a temporary sibling first, then one rename."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import BundleError, ModelError, UsageError
from exporter.base.files import (
    open_regular,
    replace_folder,
    sha256_file,
    sibling,
    translated,
    write_draft,
)
from exporter.bundle import infer
from exporter.bundle.layout import VERIFY
from exporter.bundle.manifest import NAME, Content, FileFacts, parse, sealed
from exporter.bundle.open import Bundle, open_bundle
from exporter.bundle.script import verify_script
from exporter.spec.model import Spec


def refuse_overwrite(final: Path) -> None:
    """Only what is empty, or a bundle that was never verified, may be written over.

    Raises:
        UsageError: something else lies there.
    """
    refuse_strangers(final)
    if (final / NAME).is_file() and open_bundle(final).manifest.released:
        raise UsageError("holds a released bundle", where=str(final), hint="choose another --out")


def unlike_the_release(final: Path, content: Content, draft: Path) -> str:
    """In what the bundle at `final` is another than what is drafted; empty where it is none that passed, and whole.

    What is served counts, so not what was demanded of it: the interface, the weights, the files of each variant.
    """
    try:
        old = open_bundle(final).manifest
    except (UsageError, BundleError):
        return ""
    if not old.released:
        return ""
    files = {name: {file: sha256_file(draft / file) for file in one.files} for name, one in content.variants.items()}
    before = {name: {file: old.files[file].sha256 for file in one.files} for name, one in old.variants.items()}
    for what in ("inputs", "dims", "outputs", "parameters"):
        if getattr(old, what) != getattr(content, what):
            return "weights" if what == "parameters" else what
    return next((name for name in sorted({*files, *before}) if files.get(name) != before.get(name)), "")


def refuse_strangers(final: Path) -> None:
    """A user's own files are never replaced by a bundle.

    Raises:
        UsageError: files that are no bundle lie at `final`.
    """
    if final.is_dir() and any(final.iterdir()) and not (final / NAME).is_file():
        raise UsageError("holds files that are no bundle", where=str(final), hint="choose another --out")
    if final.exists() and not final.is_dir():
        raise UsageError("is a file", where=str(final), hint="choose another --out")


@contextmanager
def drafting(final: Path) -> Iterator[Path]:
    """Yield a folder to build a bundle in; what is not sealed in the end is removed."""
    with sibling(final) as draft:
        with translated(final):
            draft.mkdir(parents=True)
        yield draft


@dataclass(frozen=True)
class Hashed:
    """The size and the hash of every file below a folder, and when each last changed, which nobody can set.

    Without the latter a file could be exchanged while engines run, and put back for the seal.
    """

    files: Mapping[str, FileFacts]
    changed: Mapping[str, tuple[int, int]]

    @classmethod
    def of(cls, folder: Path, before: Hashed | None = None) -> Hashed:
        """Read what lies below a folder now; what has not changed since `before` is not read again."""
        changed = _changed(folder)
        same = before.files if before else {}
        known = {name for name, mark in changed.items() if before and name in same and before.changed[name] == mark}
        named = [name for name in changed if (folder / name).is_file()]
        by_size: dict[int, list[str]] = {}
        for name in named:
            if name not in known:
                by_size.setdefault((folder / name).stat().st_size, []).append(name)
        with ThreadPoolExecutor() as pool:  # hashing holds no lock
            read = pool.map(lambda names: _facts(folder, names), by_size.values())
            facts = {name: same[name] for name in known} | {name: fact for part in read for name, fact in part.items()}
        return cls({name: facts[name] for name in named}, changed)


def _facts(folder: Path, names: list[str]) -> dict[str, FileFacts]:
    """Hash files of one size; what equals another is compared with it, which is quicker."""
    facts: dict[str, FileFacts] = {}
    for name in names:
        path = folder / name
        alike = (fact for earlier, fact in facts.items() if _same_bytes(folder / earlier, path))
        facts[name] = next(alike, None) or FileFacts(sha256=sha256_file(path), size=path.stat().st_size)
    return facts


def _same_bytes(first: Path, second: Path) -> bool:
    """Compare two regular files; `filecmp` would trust a time of change that anybody can set."""
    with open_regular(first) as (left, held), open_regular(second) as (right, size):
        while size == held and size > 0 and (piece := left.read(min(1 << 20, size))):
            if piece != right.read(len(piece)):
                return False
            size, held = size - len(piece), held - len(piece)
        return size == held == 0


def _changed(folder: Path) -> dict[str, tuple[int, int]]:
    """Tell of each file and folder below one: which it is, and the time (ns) at which anything of it changed."""
    facts = ((path, path.stat()) for path in sorted(folder.rglob("*")))
    return {path.relative_to(folder).as_posix(): (fact.st_ino, fact.st_ctime_ns) for path, fact in facts}


def seal(
    draft: Path,
    final: Path,
    content: Content,
    *,
    known: Hashed | None = None,
    proven: Hashed | None = None,
    runnable: bool,
) -> Bundle:
    """Put the hash of every file of the draft into the manifest, and the draft in the place of `final`.

    `proven` is what was verified: every file is read again, and has to be it. Where nothing was, hashes that are
    `known` are taken over. `runnable` adds the script that checks the bundle without us, and needs goldens; and of a
    pipeline the one that answers raw samples.

    Raises:
        ModelError: a file is not the one that was verified.
        UsageError: `final` holds something that is no bundle, or cannot be written.
        EnvironmentLacks: the disk is full. The earlier bundle stays as it was.
    """
    refuse_strangers(final)
    with translated(final):
        if runnable:
            write_draft(draft / VERIFY, verify_script().encode("utf-8"))
            for name, text in infer.documents(Spec.model_validate(content.spec)).items():
                write_draft(draft / name, text)
        now = Hashed.of(draft, known)
        if proven is not None:
            _refuse_changed(proven, now)
        body = content.model_dump(by_alias=True, mode="json")
        manifest = sealed({**body, "files": {name: facts.model_dump() for name, facts in now.files.items()}})
        write_draft(draft / NAME, manifest)
        replace_folder(draft, final)
    return Bundle(final, parse(manifest, str(final / NAME)))


def _refuse_changed(proven: Hashed, now: Hashed) -> None:
    changed = sorted(name for name, facts in proven.files.items() if now.files.get(name) != facts)
    changed += sorted(name for name, mark in proven.changed.items() if now.changed.get(name) != mark)
    if changed:
        raise ModelError(
            "is not the file that was verified: it was changed afterwards",
            where=changed[0],
            hint="end what still writes here: something that the model's code has started, or another program",
        )
