"""Which tests run on which mutant, in which order, and what became of it."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from evals.mutants.equivalent import Explained
from evals.mutants.faults import Mutant, mutants
from evals.mutants.rooms import ROOMS, Room, files_of
from evals.mutants.tree import ROOT, Tree

#: Seconds of tests that are run in one go, the quickest first; what takes longer is run only if these pass.
BATCH = 20.0


@dataclass(frozen=True)
class Plan:
    """All mutants to run, each with its room; `unrecorded` are files of which nobody knows which lines a test runs."""

    mutants: tuple[Mutant, ...]
    rooms: Mapping[str, str]
    files: tuple[str, ...]
    tests: tuple[str, ...]
    unrecorded: Mapping[str, tuple[str, ...]]
    root: Path

    @staticmethod
    def of(rooms: Mapping[str, Room], only: str, sample: int, root: Path = ROOT, since: str = "") -> Plan:
        """Every mutant of these rooms, or only those of a `file`, `file:line` or `file:first-last`; every n-th.

        With a commit in `since`, only those of lines that it does not hold; a file that moved is the same file.
        """
        of_file = files_of(rooms, root)
        changed = _changed(since, root) if since else None
        file, _, lines = only.partition(":")
        first, _, last = lines.partition("-")
        planned = [
            mutant
            for path in of_file
            if not file or path.startswith(file)
            for mutant in mutants(path, (root / path).read_text())
            if not lines or int(first) <= mutant.line <= int(last or first)
            if changed is None or mutant.line in changed.get(path, ())
        ]
        tests = dict.fromkeys(test for room in rooms.values() for test in room.tests if (root / test).exists())
        unrecorded = {path: rooms[name].tests for path, name in of_file.items() if rooms[name].traces}
        return Plan(tuple(planned[::sample]), of_file, tuple(of_file), tuple(tests), unrecorded, root)


def _changed(commit: str, root: Path) -> dict[str, set[int]]:
    """By file the lines that differ from a commit's."""
    command = ["git", "diff", "--no-color", "--no-ext-diff", "--find-renames=40%", "-l0", "--unified=0", commit]
    text = subprocess.run([*command, "--", "exporter"], cwd=root, check=True, capture_output=True, text=True).stdout
    lines: dict[str, set[int]] = {}
    file = ""
    for line in text.splitlines():
        if line.startswith("+++ "):
            file = line.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines.setdefault(file, set()).update(range(first, first + count))
    return lines


@dataclass(frozen=True)
class Result:
    """What became of one mutant: `killed`, `timed out`, `survived`, `uncovered`, `never ran` or `invalid`."""

    mutant: str
    key: str
    room: str
    outcome: str
    by: str
    cpu: float
    processes: int
    file_hash: str
    equivalent: str = ""

    @property
    def killed(self) -> bool:
        """Whether a test noticed."""
        return self.outcome in ("killed", "timed out", "died")

    @property
    def against(self) -> bool:
        """Whether it speaks against the tests: it lives and nobody says why that is right."""
        return not self.killed and self.outcome != "invalid" and not self.equivalent

    @property
    def killed_yet_explained(self) -> bool:
        """Whether it was called equivalent, and a test noticed."""
        return self.killed and bool(self.equivalent)


@dataclass
class Coverage:
    """Which tests run which lines, and what each costs."""

    root: Path
    tests: dict[str, dict[str, Any]]
    by_line: dict[tuple[str, int], set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, told in self.tests.items():
            for place in ("lines", "children"):
                for file, lines in told[place].items():
                    self._ran(name, file, lines)

    def may_run(self, file: str, folders: tuple[str, ...]) -> None:
        """Count the tests in these files and folders as such that run every line of a file."""
        lines = range(1, len((self.root / file).read_text().splitlines()) + 1)
        for name in self.tests:
            if name.startswith(folders):
                self._ran(name, file, lines)

    def _ran(self, test: str, file: str, lines: Iterable[int]) -> None:
        for line in lines:
            self.by_line.setdefault((file, line), set()).add(test)

    def of(self, mutant: Mutant, users: Mapping[str, set[tuple[str, int]]]) -> list[str]:
        """The tests that can notice, the quickest first.

        Of what runs at import those that run a line which uses it, or whose file imports it: what a test itself makes
        of a constant, or of a field of a dataclass, runs no line of the file.
        """
        if mutant.scope:
            names = set(self.by_line.get((mutant.file, mutant.line), ()))
            names = names or self._of_function(mutant)
        else:
            lines = [place for name in mutant.names for place in users.get(name, ())]
            names = {test for place in lines for test in self.by_line.get(place, ())} | self._of_file(mutant.file)
            names |= self._of_importers(mutant.file)
        return sorted(names, key=lambda name: (self.tests[name]["cpu"] + self.tests[name]["seconds"], name))

    def _of_file(self, name: str) -> set[str]:
        return {test for (file, _), tests in self.by_line.items() if file == name for test in tests}

    def _of_importers(self, name: str) -> set[str]:
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        importers = {
            file
            for file in {test.partition("::")[0] for test in self.tests}
            if re.search(rf"\b{re.escape(module)}\b", (self.root / file).read_text())
        }
        return {test for test in self.tests if test.partition("::")[0] in importers}

    def _of_function(self, mutant: Mutant) -> set[str]:
        """A line within a long expression has no event of its own: the nearest one above that has."""
        tree = ast.parse((self.root / mutant.file).read_text())
        inside = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.stmt) and node.lineno <= mutant.line <= (node.end_lineno or node.lineno)
        ]
        innermost = max(inside, key=lambda node: node.lineno)
        lines = range(innermost.lineno, (innermost.end_lineno or innermost.lineno) + 1)
        return {test for line in lines for test in self.by_line.get((mutant.file, line), ())}


@dataclass(frozen=True)
class Options:
    """How a plan is run: mutants at once; tests that cost more seconds than `quick` are left out, where it is not 0.

    `record` is the file in which results are kept, believed at the start with `resume`. A test may take `patience`
    seconds of processor time beyond thrice what it needs unmutated.
    """

    jobs: int = 2
    quick: float = 0.0
    record: Path | None = None
    resume: bool = False
    patience: float = 5.0


def run(plan: Plan, options: Options, equivalents: Explained) -> list[Result]:
    """Run the plan; results come in its order."""
    record = options.record
    before = _before(record) if options.resume and record and record.exists() else {}
    hashes = {file: _hash(plan.root / file) for file in plan.files}
    known = {
        mutant.id: Result(**before[mutant.id])
        for mutant in plan.mutants
        if mutant.id in before
        and before[mutant.id]["outcome"] in ("killed", "timed out", "died", "invalid")
        and before[mutant.id]["file_hash"] == hashes[mutant.file]
    }
    waiting: queue.Queue[Mutant] = queue.Queue()
    for mutant in plan.mutants:
        if mutant.id not in known:
            waiting.put(mutant)
    results = dict(known)
    if not waiting.empty():
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            trees = [Tree(plan.root, Path(folder) / str(number), list(plan.tests)) for number in range(options.jobs)]
            try:
                for tree in trees:
                    tree.greet()
                work = _Work(plan, _coverage(plan, trees[0]), options, hashes, equivalents)
                _spread(work, trees, waiting, results, record)
            finally:
                for tree in trees:
                    tree.close()
    return [results[mutant.id] for mutant in plan.mutants if mutant.id in results]


@dataclass
class _Work:
    plan: Plan
    coverage: Coverage
    options: Options
    hashes: Mapping[str, str]
    equivalents: Explained

    def __post_init__(self) -> None:
        self.users = _users(self.plan.root)

    def one(self, tree: Tree, mutant: Mutant) -> Result:
        """Run the tests that can notice, in batches; a survivor is run once more from its import on."""
        tests = [name for name in self.coverage.of(mutant, self.users) if not self.coverage.tests[name]["failed"]]
        tests = [name for name in tests if not self.options.quick or self._cost(name) <= self.options.quick]
        answer = {"outcome": "uncovered", "by": "no test runs this line", "cpu": 0.0, "children": 0}
        cpu = 0.0
        for batch in self._batches(tests):
            answer = tree.run(mutant, batch, 3 * sum(map(self._cost, batch)) + self.options.patience, cold=False)
            cpu += answer.get("cpu", 0.0)
            if answer["outcome"] != "survived":
                break
        if answer["outcome"] == "survived" and "here" in answer and not answer["here"]:
            cheap = [name for name in tests if self._cost(name) <= BATCH / 4] or tests[:1]
            answer = tree.run(mutant, cheap, 3 * sum(map(self._cost, cheap)) + self.options.patience, cold=True)
            cpu += answer.get("cpu", 0.0)
        if answer["outcome"] == "broken":
            raise RuntimeError(f"{mutant.id}: {answer['by']}")
        return Result(
            mutant=mutant.id,
            key=mutant.key,
            room=self.plan.rooms[mutant.file],
            outcome=answer["outcome"],
            by=answer["by"],
            cpu=round(cpu, 2),
            processes=answer.get("children", 0),
            file_hash=self.hashes[mutant.file],
            equivalent=self.equivalents.reason(mutant),
        )

    def _cost(self, test: str) -> float:
        return float(self.coverage.tests[test]["cpu"])

    def _batches(self, tests: list[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        for test in tests:
            if batch and sum(map(self._cost, batch)) + self._cost(test) > BATCH:
                yield batch
                batch = []
            batch.append(test)
        if batch:
            yield batch


def _spread(
    work: _Work, trees: list[Tree], waiting: queue.Queue[Mutant], results: dict[str, Result], record: Path | None
) -> None:
    """One thread a tree, until no mutant waits."""
    total, started, lock = waiting.qsize(), time.monotonic(), threading.Lock()

    def drain(tree: Tree) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                mutant = waiting.get_nowait()
                result = work.one(tree, mutant)
                with lock:
                    results[mutant.id] = result
                    _progress(result, total, total - waiting.qsize(), started)
                    if len(results) % 50 == 0 or waiting.empty():
                        refuse_false_kills(tree, result)
                        if record:
                            write_results(record, list(results.values()))

    with ThreadPoolExecutor(len(trees)) as pool:
        for end in [pool.submit(drain, tree) for tree in trees]:
            end.result()


def refuse_false_kills(tree: Tree, result: Result) -> None:
    """Run the test that killed a mutant without it; where it fails, the machine has changed, and no kill counts."""
    if result.outcome != "killed" or result.by not in tree.hello["tests"]:
        return
    if tree.record([], [result.by])[result.by]["failed"]:
        raise RuntimeError(f"{result.by} fails without any mutant by now, so that what was killed proves nothing")


def _progress(result: Result, total: int, done: int, started: float) -> None:
    if result.against:
        print(f"· {result.outcome}: {result.mutant}", file=sys.stderr, flush=True)
    if done % 100 == 0:
        print(f"· {done} of {total} in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


def write_results(path: Path, results: list[Result]) -> None:
    """Write every result; a reader never sees half of it."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(json.dumps([asdict(result) for result in results], indent=1))
    draft.replace(path)


def _before(path: Path) -> dict[str, dict[str, Any]]:
    return {told["mutant"]: told for told in json.loads(path.read_text())}


def _coverage(plan: Plan, tree: Tree) -> Coverage:
    """What each test costs and runs; recorded anew for a file of tests when it, its helpers or the package changed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "exporter-mutants"
    cache.mkdir(parents=True, exist_ok=True)
    helpers = [path for path in (plan.root / "tests").rglob("*.py") if not path.name.startswith("test_")]
    package = [path for path in (plan.root / "exporter").rglob("*.py") if path.suffix == ".py"]
    shared = [path for path in (*package, *helpers) if path.parent.name != "mutants"]
    files = sorted({*plan.files, *files_of(ROOMS, plan.root)})  # of all rooms, so that each test is recorded once
    shared.append(Path(__file__).with_name("server.py"))
    common = "".join(_hash(path) for path in sorted(shared)) + json.dumps([str(plan.root), files])
    tests: dict[str, dict[str, Any]] = {}
    for file in dict.fromkeys(name.partition("::")[0] for name in tree.hello["tests"]):
        stored = cache / f"{hashlib.sha256((common + file + _hash(plan.root / file)).encode()).hexdigest()[:32]}.json"
        if not stored.exists():
            names = [name for name in tree.hello["tests"] if name.partition("::")[0] == file]
            print(f"· running the {len(names)} tests of {file} once", file=sys.stderr, flush=True)
            stored.write_text(json.dumps(tree.record(files, names)))
        tests |= json.loads(stored.read_text())
    for name in sorted(name for name, told in tests.items() if told["failed"]):
        print(f"! {name} fails without any mutant, so it is left out", flush=True)
    coverage = Coverage(plan.root, tests)
    for file, folders in plan.unrecorded.items():
        coverage.may_run(file, folders)
    return coverage


def _users(root: Path) -> dict[str, set[tuple[str, int]]]:
    """Where each name is used in the package: the lines of its functions."""
    users: dict[str, set[tuple[str, int]]] = {}
    for path in (root / "exporter").rglob("*.py"):
        file = str(path.relative_to(root))
        for node in ast.walk(ast.parse(path.read_text())):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if name:
                users.setdefault(name, set()).add((file, node.lineno))  # type: ignore[attr-defined]
    return users


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
