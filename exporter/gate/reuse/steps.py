"""The steps of a release: what its children answered before is reused where it holds, and what they answer is kept.

A request is plain JSON, and paths in it lead to what a child reads and where it writes. So its key is the request with
each path replaced by the content that lies there; what is kept is the answer and the files that were new afterwards.
Our code, packages, machine and the files of the project count as for releases, and so does what the child was seen to
read besides (:mod:`exporter.base.watch`).
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

from exporter.base.files import sha256_bytes
from exporter.base.watch import Seen
from exporter.gate.counts import Counting
from exporter.gate.project import Project, digest_of
from exporter.gate.reuse.depends import Depends
from exporter.gate.reuse.identity import Facts, difference
from exporter.gate.reuse.places import NotPortableError, Places
from exporter.gate.reuse.records import StepRecord
from exporter.gate.reuse.store import Store
from exporter.process.memo import Question
from exporter.process.scratch import scratch

#: What a child answers, as plain data.
Answer: TypeAlias = dict[str, Any]
_SCHEMA = 3


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


@dataclass
class Steps:
    """A memo (:mod:`exporter.process.memo`) of one release of the spec `name`.

    `made` are the folders of what the release makes, `depends` the patterns of the spec that answer for what nobody
    sees. `tell` hears of each step; `seen` is what the release was seen to read.
    """

    name: str
    store: Store
    project: Project
    counting: Counting
    facts: Facts
    made: tuple[Path, ...] = ()
    depends: tuple[str, ...] = ()
    tell: Callable[[Step], None] = lambda _step: None
    seen: Seen = field(default_factory=Seen)

    @cached_property
    def counted(self) -> Mapping[str, str]:
        """The digests of the files of the project that count."""
        counted = self.counting.within(self.project.digests)
        return {name: digest for name, digest in self.project.digests.items() if not counted.excuse(name)}

    @cached_property
    def _facts(self) -> Facts:
        return {**self.facts, "a file of the project": digest_of(self.counted)}

    def answer(self, question: Question, run: Callable[[], tuple[Answer, Seen]]) -> Answer:
        """As :class:`exporter.process.memo.Memo` says."""
        if not question.reuse or question.code not in (None, Path()):
            answer, seen = run()
            self.seen.add(seen)
            return answer
        request = {name: value for name, value in question.request.items() if name != "beside"}
        places = Places.of(request)
        before, what = places.contents(), question.reuse.format_map(question.request)
        about = [_SCHEMA, question.function, places.numbered(request), places.names(), before]
        key = sha256_bytes(json.dumps([*about, dict(question.environment), question.code is None]).encode())
        known = self.store.find(key, partial(self._recalled, places), "this was not asked before")
        self.tell(Step(self.name, what, known if isinstance(known, str) else ""))
        if not isinstance(known, str):
            return known
        began = time.time_ns()
        answer, seen = run()
        self.seen.add(seen)
        if answer.get("whole", True) and (depends := self.dependencies(what, seen, began)):
            with suppress(NotPortableError):
                record = StepRecord(self._facts, depends, places.new(before), places.numbered(answer))
                self.store.put(key, record.content(), [places.path(name) for name in record.objects])
        return answer

    def dependencies(self, what: str, seen: Seen, began: int) -> Depends | None:
        """Return what was read besides since a moment (ns); None where that is not known, or not what it was.

        Whoever hears of steps is told why nothing is kept then, and else what the spec's patterns answer for.
        """
        depends = Depends.of(seen, self.made, (*self.depends, *self.counting.names), self.counted)
        changed = self.project.changed(self.counted) or depends.changed_since(began)
        why = depends.unknown(self.depends) or (f"{changed} changed meanwhile" if changed else "")
        if why or depends.believed:
            self.tell(Step(self.name, what, why or depends.believed, word="not kept" if why else "kept"))
        return None if why else depends

    def _recalled(self, places: Places, content: object) -> Answer | str:
        """Return the answer of a record that holds, and lay the files that it names; else say why it does not hold."""
        record = StepRecord.of(content)
        unlike = difference(record.facts, self._facts) or record.depends.difference()
        unlike = unlike or record.depends.unknown(self.depends)
        if unlike or not self._laid(record.objects, places):
            return unlike or "the cache no longer holds what it wrote"
        self.seen.add(record.depends.seen())
        answer: Answer = places.named(record.answer)
        return answer

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
