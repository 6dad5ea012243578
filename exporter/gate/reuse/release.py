"""Releases that were made before: believed where nothing changed that a release depends on, by content.

Only what passed is kept. A record names the spec, what counts of the project, what was read besides, our own code,
packages and machine; the digest of each file of the bundle, which lie in the store as well; and the report. A hit is a
bundle with just these bytes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.errors import EnvironmentLacks, ExporterError
from exporter.base.files import (
    canonical_json,
    replace_folder,
    safe_relative,
    sha256_bytes,
    sha256_file,
    sibling,
    user_cache,
)
from exporter.base.watch import watching
from exporter.gate.counts import Counting
from exporter.gate.project import MOST_FILES, Project, TooLargeError, look_through
from exporter.gate.reuse.depends import Depends
from exporter.gate.reuse.identity import Facts, code_digest, difference, identity
from exporter.gate.reuse.places import contents_of
from exporter.gate.reuse.records import Kept, ReleaseRecord, SpecContent
from exporter.gate.reuse.steps import Step, Steps
from exporter.gate.reuse.store import Store
from exporter.process.memo import remembering
from exporter.spec.recipe.source import default_folder
from exporter.train.document import named

if TYPE_CHECKING:
    from exporter.spec.model import Spec

_SCHEMA = 3
#: Seconds for which several specs that are looked for at once share one look at the project.
_AT_ONCE = 1.0
_TOO_LARGE = f"the project has more than {MOST_FILES:,} files, so nothing of it is reused"


@dataclass(frozen=True)
class Releases:
    """The releases in a store; `tell` hears of each step that is asked for.

    `written` are files that the command leaves besides, as reports, which no release reads.
    """

    store: Store
    tell: Callable[[Step], None] = lambda _step: None
    written: tuple[Path, ...] = ()
    _looked: dict[Path, tuple[float, Project | None]] = field(default_factory=dict, repr=False)

    def read(self, path: Path, settings: Sequence[str], read: Callable[[], Spec]) -> SpecContent:
        """Return the spec in a file, with overrides: by the file's content where it was read before, else by `read`."""
        try:
            content = sha256_file(path)
        except (ExporterError, OSError):
            return read().model_dump(mode="json")  # which says what is wrong with it
        key = _key("spec", content, f"{path}:{' '.join(settings)}", code_digest())
        spec: SpecContent | str = self.store.find(
            key, lambda record: Depends(**record["depends"]).difference() or record["spec"], "it was not read before"
        )
        if isinstance(spec, str):
            began, seen = time.time_ns(), watching()
            spec = read().model_dump(mode="json")
            if not (depends := Depends.of(seen, (), (), ())).changed_since(began):
                self.store.put(key, {"spec": spec, "depends": asdict(depends), "objects": {}}, [])
        return spec

    def find(self, spec: SpecContent, root: Path, say: Callable[[str], None]) -> Kept | str:
        """Return the release of a spec whose bundle lies below `root`, or is laid there now; or why there is none."""
        name, now = str(spec["name"]), identity(spec["device"])
        project = self._project(root, name, _AT_ONCE)

        def judge(content: object) -> Kept | str:
            if project is None:
                return _TOO_LARGE
            record = ReleaseRecord.of(content)
            return _difference(record, spec, now, project) or self._laid(root / name, record)

        kept = self.store.find(_key(name), judge, "it was not released before")
        if isinstance(kept, str):
            say(f"releasing {name}: {kept}")
            self.tell(Step(name, "the release", kept))
        else:
            say("; ".join(filter(None, [f"{name} has not changed since it was released", kept.believed])))
            self.tell(Step(name, "the release", kept.believed, word="reused"))
        return kept

    def _laid(self, folder: Path, record: ReleaseRecord) -> Kept | str:
        """Return the release of a record, with its bundle whole and in its place; or what lies there instead."""
        place = folder / record.folder
        files = {safe_relative(name, "record").as_posix(): digest for name, digest in record.objects.items()}
        if place.exists():
            if contents_of(place) != files:
                return f"another bundle lies in {place}"
        else:
            with sibling(place) as draft:
                for name, digest in files.items():
                    (draft / name).parent.mkdir(parents=True, exist_ok=True)
                    if not self.store.fetch(digest, draft / name):
                        return f"no bundle lies in {place}, and the cache no longer holds it"
                replace_folder(draft, place)
        return Kept(place, record.digest, record.word, record.said, record.told, record.depends.believed)

    def _project(self, root: Path, name: str, seconds: float = 0.0) -> Project | None:
        """Return the files of the project without results, as they were so many seconds ago at most.

        None where they are too many.
        """
        results = root if not Path.cwd().is_relative_to(root.absolute()) else root / name
        when, project = self._looked.get(results, (-math.inf, None))
        if time.monotonic() - when > seconds:
            project, leave = None, (results, Path("artifacts"), Path("runs"), self.store.folder, *self.written)
            with suppress(TooLargeError):
                project = look_through(leave, self.store.folder / "index.json")
            self._looked[results] = (time.monotonic(), project)
        return project

    @contextmanager
    def releasing(self, spec: Spec, root: Path, made: Sequence[Path]) -> Iterator[Callable[[Kept], None]]:
        """Reuse inside the block what children answered before; yield what keeps the release that is made there.

        `made` are folders of what it makes on its way.
        """
        began, project = time.time_ns(), self._project(root, spec.name)
        try:
            if project is None:
                self.tell(Step(spec.name, "the release", _TOO_LARGE, word="not kept"))
                yield lambda _kept: None
                return
            folders = (root / spec.name, self.store.folder, *made)
            about = (project, Counting.of(spec), identity(spec.device), folders, spec.depends, self.tell)
            steps = Steps(spec.name, self.store, *about)
            _ = steps.counted  # reads code and configurations whether they count or not
            steps.seen.read = watching().read
            with remembering(steps):
                yield partial(self._keep, spec.model_dump(mode="json"), steps, began)
        finally:
            self.store.shrink()  # steps are kept where the release fails, too

    def _keep(self, spec: SpecContent, steps: Steps, began: int, kept: Kept) -> None:
        """Keep a release, if all that it read is known, and is what it was when it began."""
        depends = steps.dependencies("the release", steps.seen, began)
        if depends is None:
            return
        objects = contents_of(kept.bundle)
        record = ReleaseRecord(
            spec=spec,
            day=_today() if spec["waivers"] else "",
            run=_best_run(spec),
            facts=steps.facts,
            project=steps.project.digests,
            counting=steps.counting,
            depends=depends,
            objects=objects,
            folder=kept.bundle.name,
            digest=kept.digest,
            word=kept.word,
            said=kept.said,
            told=kept.told,
        )
        self.store.put(_key(steps.name), record.content(), [kept.bundle / name for name in objects])


def releases(
    folder: Path | None,
    tell: Callable[[Step], None] = lambda _step: None,
    *,
    none: bool = False,
    written: tuple[Path, ...] = (),
) -> Releases | None:
    """Those that are kept in a folder, else in the user's cache; None where no folder is named and `none` shall be."""
    if folder is not None:
        return Releases(Store(folder.resolve()), tell, written)
    with suppress(EnvironmentLacks):  # a user without a home has not asked for a cache
        return None if none else Releases(Store(user_cache("releases"), demanded=False), tell, written)
    return None


def _key(*parts: str) -> str:
    return sha256_bytes(canonical_json([_SCHEMA, *parts]))


def _difference(record: ReleaseRecord, spec: SpecContent, now: Facts, project: Project) -> str:
    """Why a release must be made anew; empty where it need not."""
    # A key that an older exporter did not know is as good as one that nobody gave.
    names = sorted(name for name in {*spec, *record.spec} if record.spec.get(name) != spec.get(name))
    if names:
        return f"`{names[0]}` of the spec changed"
    if record.day and record.day != _today():
        return "its waivers are judged by the day"
    if (run := _best_run(spec)) not in ("", record.run):
        return f"the best run of its recipe is {run}"
    return difference(record.facts, now) or _changed(record, project) or record.depends.difference()


def _changed(record: ReleaseRecord, project: Project) -> str:
    """Name the first file of the project that changed and counts, if any."""
    before, now = record.project, project.digests
    changed = {name for name in {*before, *now} if before.get(name) != now.get(name)}
    return record.counting.within({*before, *now}).first(changed) if changed else ""


def _best_run(spec: SpecContent) -> str:
    """The run whose checkpoint a release takes, by the name in `best`; empty where there is none.

    A training is no file that a release depends on: where its runs are not kept, a release that is kept holds.
    """
    if spec["recipe"] is None or spec["checkpoint"] is not None:
        return ""
    return named(default_folder(spec["recipe"]))


def _today() -> str:
    return datetime.now(timezone.utc).date().isoformat()
