"""Releases that were made before: believed where nothing changed that a release depends on, by content.

Only what passed is kept. A record names the spec, what was read, our own code, packages and machine; the digest of each
file of the bundle, which lie in the store as well; and the report. A hit is a bundle with just these bytes.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
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
from exporter.base.watch import Seen, unseen, watching
from exporter.gate.counts import Counting
from exporter.gate.project import MOST_FILES, Project, TooLargeError, look_through
from exporter.gate.reuse.depends import changed_since, depends, excused, too_little_seen
from exporter.gate.reuse.identity import Facts, code_digest, difference, identity
from exporter.gate.reuse.records import Passed, ReleaseRecord, SpecContent
from exporter.gate.reuse.store import Store
from exporter.spec.recipe.source import default_folder
from exporter.train.document import named

if TYPE_CHECKING:
    from exporter.base.diagnostics import Diagnostic
    from exporter.gate.reuse.answers import Answers
    from exporter.prove.judge.report import Report
    from exporter.spec.model import Spec
    from exporter.weights.measured import Measured

_SCHEMA = 2


#: Seconds for which several specs that are looked for at once share one look at the project.
_AT_ONCE = 1.0
_TOO_LARGE = f"the project has more than {MOST_FILES:,} files, so nothing of it is reused"


@dataclass(frozen=True)
class Kept:
    """A release that holds still: where its bundle lies, the bundle's digest, its verdict in a word and in a line."""

    bundle: Path
    digest: str
    word: str
    said: str
    record: ReleaseRecord = field(repr=False)

    def report(self) -> Report:
        """The report of the release."""
        from exporter.gate.reuse.told import report_of

        return report_of(self.record.report)

    def findings(self) -> tuple[Diagnostic, ...]:
        """What was found in the model's code."""
        from exporter.gate.reuse.told import findings_of

        return findings_of(self.record.findings)

    def measured(self) -> Measured | None:
        """The recipe's metric of its checkpoint, if there is a recipe."""
        from exporter.gate.reuse.told import measured_of

        return measured_of(self.record.measured)


@dataclass(frozen=True)
class Step:
    """What of a spec's release was asked for, and why it was made; empty where it was not, since it holds still.

    `word` is what else is told: one that is `not kept` says why not, and one that is `kept` or `reused` although
    somebody may have read unseen says on whose word.
    """

    spec: str
    what: str
    why: str
    word: str = "made"

    def __str__(self) -> str:
        return f"{self.spec}: {self.what}: {f'{self.word}, since {self.why}' if self.why else 'reused'}"


@dataclass(frozen=True)
class Asked:
    """A spec as JSON, which is there sooner than the spec: pydantic takes longer to import than a look takes."""

    spec: SpecContent

    @classmethod
    def of(cls, spec: Spec) -> Asked:
        """Of one that was read."""
        return cls(spec.model_dump(mode="json"))

    @property
    def name(self) -> str:
        """The spec's name."""
        return str(self.spec["name"])

    @property
    def key(self) -> str:
        """What its releases are kept by."""
        return sha256_bytes(canonical_json([_SCHEMA, self.name]))


@dataclass(frozen=True)
class Releases:
    """The releases in a store; `tell` hears of each step that is asked for.

    `written` are files that the command leaves besides, as reports, which no release reads.
    """

    store: Store
    tell: Callable[[Step], None] = lambda _step: None
    written: tuple[Path, ...] = ()
    _looked: dict[tuple[Path, ...], tuple[float, Project | None]] = field(default_factory=dict, repr=False)

    def read(self, path: Path, settings: Sequence[str], read: Callable[[], Spec]) -> Asked:
        """The spec in a file, with overrides: by the file's content where it was read before, else by `read`."""
        where = f"{path}:{' '.join(settings)}"
        try:
            content = sha256_file(path)
        except (ExporterError, OSError):
            return Asked.of(read())  # which says what is wrong with it
        key = sha256_bytes(canonical_json([_SCHEMA, "spec", content, where, code_digest()]))
        for record in self.store.records(key):
            return Asked(record["spec"])
        question = Asked.of(read())
        self.store.put(key, {"spec": question.spec, "objects": {}}, [])
        return question

    def find(self, question: Asked, root: Path, say: Callable[[str], None]) -> Kept | str:
        """The release of a spec whose bundle lies below `root`, or is laid there now; or why there is none."""
        kept = self._find(question, root)
        if isinstance(kept, str):
            say(f"releasing {question.name}: {kept}")
            self.tell(Step(question.name, "the release", kept))
        else:
            believed = excused(kept.record.depends)
            say(f"{question.name} has not changed since it was released{f'; {believed}' if believed else ''}")
            self.tell(Step(question.name, "the release", believed, word="reused"))
        return kept

    def _find(self, question: Asked, root: Path) -> Kept | str:
        key, why = question.key, "it was not released before"
        now, project = identity(question.spec["device"]), self._project(question, root, (), _AT_ONCE)
        if project is None:
            return _TOO_LARGE
        for at, content in enumerate(self.store.records(key)):
            try:
                record = ReleaseRecord.of(content)
                unlike = _difference(record, question.spec, now, project)
                kept = None if unlike else self._at(root / question.name, record)
            except (LookupError, TypeError, ValueError, ExporterError, OSError):
                continue  # a record of another make
            if isinstance(kept, Kept):
                self.store.use(key, content)
                return kept
            if at == 0:
                why = unlike or kept or why
        return why

    def _at(self, folder: Path, record: ReleaseRecord) -> Kept | str:
        """The bundle of a record, whole and in its place; or what lies there instead."""
        place = folder / record.folder
        kept = Kept(place, record.digest, record.word, record.said, record)
        files = {safe_relative(name, "record").as_posix(): digest for name, digest in record.objects.items()}
        if place.exists():
            return kept if _holds(place, files) else f"another bundle lies in {place}"
        with sibling(place) as draft:
            for name, digest in files.items():
                (draft / name).parent.mkdir(parents=True, exist_ok=True)
                if not self.store.fetch(digest, draft / name):
                    return f"no bundle lies in {place}, and the cache no longer holds it"
            replace_folder(draft, place)
        return kept

    def _project(self, question: Asked, root: Path, folders: Iterable[Path], seconds: float = 0.0) -> Project | None:
        """Return the files of the project without results, as they were so many seconds ago at most.

        None where they are too many.
        """
        results = root if not Path.cwd().is_relative_to(root.absolute()) else root / question.name
        leave = (results, Path("artifacts"), Path("runs"), self.store.folder, *self.written, *folders)
        when, project = self._looked.get(leave, (-math.inf, None))
        if time.monotonic() - when > seconds:
            project = None
            with contextlib.suppress(TooLargeError), unseen():
                project = look_through(leave, self.store.folder / "index.json")
            self._looked[leave] = (time.monotonic(), project)
        return project

    def answers(self, spec: Spec, root: Path, folders: tuple[Path, ...]) -> Answers | None:
        """What children answered before, for a release of this spec that has to be made."""
        from exporter.gate.reuse.answers import Answers

        project = self._project(Asked.of(spec), root, folders, _AT_ONCE)
        if project is None:
            return None
        counting = Counting.of(spec)
        counted = counting.within(project.digests).digests(project.digests)

        def tell(what: str, why: str) -> None:
            self.tell(Step(spec.name, what, why))

        def tell_unkept(what: str, why: str) -> None:
            self.tell(Step(spec.name, what, why, word="not kept"))

        def tell_believed(what: str, why: str) -> None:
            self.tell(Step(spec.name, what, why, word="kept"))

        folders = (root / spec.name, self.store.folder, *folders)
        tellers = (tell, tell_unkept, tell_believed)
        return Answers(self.store, spec.device, project, counted, folders, spec.depends, counting.names, *tellers)

    @contextmanager
    def keeping(self, spec: Spec, root: Path, folders: tuple[Path, ...]) -> Iterator[_Keeper]:
        """Watch what a release reads inside the block; `folders` are those of what it makes on its way."""
        began, facts = time.time_ns(), identity(spec.device)
        project = self._project(Asked.of(spec), root, folders)
        try:
            with watching() as seen:
                keeper = _Keeper()
                yield keeper
            if keeper.product is not None and project is not None:
                results = [root / spec.name, self.store.folder, *folders]
                self._keep(spec, keeper.product, seen, (began, facts, project), results)
        finally:
            self.store.shrink()  # steps are kept where the release fails, too

    def _keep(
        self,
        spec: Spec,
        product: Passed,
        seen: Seen,
        before: tuple[int, Facts, Project],
        folders: list[Path],
    ) -> None:
        """Keep what a release has made of what it read, if all of that is known, and is what it was `before`."""
        began, facts, project = before
        if why := too_little_seen(seen, spec.depends):
            self.tell(Step(spec.name, "the release", why, word="not kept"))
            return
        counting = Counting.of(spec)
        counted = counting.within(project.digests).digests(project.digests)
        dependencies = depends(seen, folders, (*spec.depends, *counting.names), counted)
        meanwhile = project.changed(counted) or changed_since(began, dependencies)
        if why := (f"{meanwhile} changed meanwhile" if meanwhile else difference(facts, identity(spec.device))):
            self.tell(Step(spec.name, "the release", why, word="not kept"))
            return  # nobody knows which of the two contents was read
        if believed := excused(dependencies):
            self.tell(Step(spec.name, "the release", believed, word="kept"))
        folder = product.bundle
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        question = Asked.of(spec)
        record = ReleaseRecord(
            spec=question.spec,
            day=_today() if spec.waivers else "",
            identity=facts,
            project=project.digests,
            counting=counting,
            depends=dependencies,
            objects={path.relative_to(folder).as_posix(): sha256_file(path) for path in files},
            run=_best_run(question.spec),
            folder=folder.name,
            digest=product.digest,
            word=product.word,
            said=product.said,
            report=product.report,
            findings=product.findings,
            measured=product.measured,
        )
        self.store.put(question.key, record.content(), files)


def releases(
    folder: Path | None,
    tell: Callable[[Step], None] = lambda _step: None,
    *,
    none: bool = False,
    written: tuple[Path, ...] = (),
) -> Releases | None:
    """Those that are kept in a folder, else in the user's cache; None where no folder is named and `none` shall be."""
    if folder is not None:
        return Releases(Store(folder.absolute()), tell, written)
    if none:
        return None
    try:
        return Releases(Store(user_cache("releases"), demanded=False), tell, written)
    except EnvironmentLacks:  # a user without a home has not asked for a cache
        return None


@dataclass
class _Keeper:
    """Takes what a release gave, if it is to be kept."""

    product: Passed | None = None


def _difference(record: ReleaseRecord, wanted: SpecContent, now: Facts, project: Project) -> str:
    """Why a release must be made anew; empty where it need not."""
    if record.spec != wanted:
        names = sorted({*wanted, *record.spec})
        return f"`{next(name for name in names if record.spec.get(name) != wanted.get(name))}` of the spec changed"
    if record.day and record.day != _today():
        return "its waivers are judged by the day"
    if (run := _best_run(wanted)) not in ("", record.run):
        return f"the best run of its recipe is {run}"
    return difference(record.identity, now) or _changed(record, project) or record.depends.difference()


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


def _holds(place: Path, files: Mapping[str, str]) -> bool:
    """Whether a folder holds just these files, by their digests."""
    inside = {os.path.relpath(os.path.join(where, name), place) for where, _, names in os.walk(place) for name in names}  # noqa: PTH118
    return inside == set(files) and all(sha256_file(place / name) == digest for name, digest in files.items())


def _today() -> str:
    return datetime.now(timezone.utc).date().isoformat()
