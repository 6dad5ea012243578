"""What children answered before: believed where the same was asked of the same files, and what they saw is as it was.

A request is plain JSON, and paths in it lead to what a child reads and where it writes. So its key is the request with
each path replaced by the content that lies there; what is kept is the answer and the files that were new afterwards.
Our code, packages, machine and the files of the project count as for releases, and what was read besides is watched
(:mod:`exporter.base.watch`).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.base.errors import ExporterError
from exporter.base.files import canonical_json, sha256_bytes
from exporter.base.watch import Seen, saw, unseen
from exporter.gate.project import Project, digest_of
from exporter.gate.reuse.depends import Depends, changed_since, depends, excused, too_little_seen
from exporter.gate.reuse.identity import Facts, difference, identity
from exporter.gate.reuse.places import Contents, Places
from exporter.gate.reuse.records import AnswerRecord
from exporter.gate.reuse.store import Store
from exporter.process.memo import Question
from exporter.process.scratch import scratch

_SCHEMA = 2


@dataclass
class Answers:
    """The answers in a store, for one command; `made` are the folders of what the command makes.

    `counted` are the digests of the files of the `project` that count.
    Each depends on the files of the patterns `named` as well, whoever read them, and on those that the spec names
    `also`.
    `tell` hears of each child that was asked for what it does, and why it is run; empty where it is not. `tell_unkept`
    hears why an answer cannot be kept, and `tell_believed` of one that is kept on the word of the patterns alone.
    """

    store: Store
    device: str
    project: Project
    counted: Mapping[str, str]
    made: tuple[Path, ...] = ()
    named: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    tell: Callable[[str, str], None] = lambda _what, _why: None
    tell_unkept: Callable[[str, str], None] = lambda _what, _why: None
    tell_believed: Callable[[str, str], None] = lambda _what, _why: None

    def answer(self, question: Question, run: Callable[[], tuple[dict[str, Any], Seen]]) -> dict[str, Any]:
        """As :class:`exporter.process.memo.Memo` says."""
        if not question.reuse or question.code not in (None, Path()):
            return run()[0]
        with unseen():
            keyed = _Asked.of(question, {**identity(self.device), "a file of the project": digest_of(self.counted)})
            answer, why = self._recalled(keyed)
        what = question.reuse.format_map(question.request)
        self.tell(what, why)
        if answer is not None:
            return answer
        began = time.time_ns()
        answer, seen = run()
        if why := too_little_seen(seen, self.named):
            self.tell_unkept(what, why)
        elif answer.get("whole", True):
            with unseen():
                dependencies = depends(seen, self.made, (*self.named, *self.also), self.counted)
                if self._keep(keyed, answer, dependencies, began) and (believed := excused(dependencies)):
                    self.tell_believed(what, believed)
        return answer

    def _recalled(self, keyed: _Asked) -> tuple[dict[str, Any] | None, str]:
        """The answer of a record that holds, with the files that it names in their places; else why none does."""
        why = "this was not asked before"
        for at, content in enumerate(self.store.records(keyed.key)):
            try:
                record = AnswerRecord.of(content)
                unlike = difference(record.identity, keyed.facts) or record.depends.difference()
                unlike = unlike or too_little_seen(_seen(record.depends), self.named)
                if not unlike and not self._laid(record.objects, keyed.places):
                    unlike = "the cache no longer holds what it wrote"
                answer = None if unlike else keyed.places.named(record.answer)
            except (LookupError, TypeError, ValueError, ExporterError, OSError):
                continue  # a record of another make
            if answer is not None:
                self.store.use(keyed.key, content)
                saw(_seen(record.depends))
                return answer, ""
            why = why if at else unlike
        return None, why

    def _laid(self, objects: Mapping[str, str], places: Places) -> bool:
        """Lay each file where the request wants it, all or none."""
        with scratch() as draft:
            for number, digest in enumerate(objects.values()):
                if not self.store.fetch(digest, draft / str(number)):
                    return False
            for number, name in enumerate(objects):
                into = places.path(name)
                into.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(draft / str(number), into)
        return True

    def _keep(self, keyed: _Asked, answer: Mapping[str, Any], dependencies: Depends, began: int) -> bool:
        """Whether it could be kept."""
        new, kept = keyed.places.new(keyed.contents), keyed.places.numbered(answer)
        meanwhile = self.project.changed(self.counted) or changed_since(began, dependencies)
        if new is None or kept is None or meanwhile:
            return False  # nobody could make the same of it, or knows which of two contents was read
        record = AnswerRecord(keyed.facts, dependencies, new, kept)
        self.store.put(keyed.key, record.content(), [keyed.places.path(name) for name in new])
        return True


@dataclass(frozen=True)
class _Asked:
    """A question as it is looked for: by the content of its paths before anything ran, here and now."""

    key: str
    places: Places
    contents: Contents
    facts: Facts

    @classmethod
    def of(cls, question: Question, facts: Facts) -> _Asked:
        request = {name: value for name, value in question.request.items() if name != "beside"}
        places = Places.of(request)
        contents = places.contents()
        keyed = [_SCHEMA, question.function, places.keyed(request, contents), dict(question.environment)]
        return cls(sha256_bytes(canonical_json([*keyed, question.code is None])), places, contents, facts)


def _seen(known: Depends) -> Seen:
    """What was seen then, for whoever watches now."""
    here = Path.cwd()
    read, listed = ({str(here / name) for name in names} for names in (known.files, known.folders))
    return Seen(read, listed, set(known.hidden))
