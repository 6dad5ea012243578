"""Hold this checkout against an earlier one: what a move may not change is the same.

    python -m tools.nothing_lost BEFORE KEEP [--only bundles,helps,findings,tests,names] [--specs digits,linear]

BEFORE is a checkout of the earlier commit with its own `.venv` (`scripts/install --dev`), KEEP a folder for what was
gathered, which a second call takes from there. Compared are

bundles   of every spec in specs/, released anew by both: the manifest without what it names `not_reproducible`, and
          every file that it lists
helps     the help of `exporter` and of every verb, byte for byte
findings  of every labelled trap, in three forms
tests     the set of the tests' names, each with its folder
names     the public functions, classes and constants of the package, by their module

tools/moves.tsv says where each module went, and which names were lost on purpose, with the reason. Paths of our own
code are compared by it, and the numbers of schemas not at all. Exits with 1 where anything else differs.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tools/moves.tsv"
#: Numbers of schemas, which restart at the first release.
_SCHEMA = re.compile(rb'"schema": ?\d+')
_CODE = re.compile(r"exporter(?:[./][A-Za-z_]\w*)+")


@dataclass(frozen=True)
class Moves:
    """The table: old place -> new one, as `exporter.x.y` or `tests/x.py`; and what went on purpose, with the reason."""

    places: Mapping[str, str]
    gone: Mapping[str, str]

    @classmethod
    def read(cls, path: Path = TABLE) -> Moves:
        """Read the table: lines of `old<TAB>new`, or `old<TAB>-<TAB>reason`."""
        rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
        places = {row[0]: row[1] for row in rows if row[1] != "-"}
        return cls(places, {row[0]: row[2] for row in rows if row[1] == "-"})

    def place(self, old: str) -> str:
        """Return the new name of a module, or of what lies in one; itself where it has not moved."""
        separator = "/" if "/" in old else "."
        parts = old.split(separator)
        for end in range(len(parts), 0, -1):
            if (head := separator.join(parts[:end])) in self.places:
                return separator.join([self.places[head], *parts[end:]])
        return old

    def text(self, content: str) -> str:
        """Return a text of the earlier checkout with the paths and modules of our own code as they are now."""

        def moved(match: re.Match[str]) -> str:
            name = match[0].removesuffix(".py")
            if "/" not in match[0]:
                return self.place(match[0])
            return self.place(name.replace("/", ".")).replace(".", "/") + match[0][len(name) :]

        return _CODE.sub(moved, content)


@dataclass(frozen=True)
class Checkout:
    """A checkout with a virtual environment, and the folder where what is gathered of it is kept."""

    folder: Path
    keep: Path

    def run(self, *command: str, cwd: Path | None = None) -> str:
        """Run Python with some arguments there, and return what it prints; a failure ends this program."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "COLUMNS": "100"}
        done = subprocess.run(
            [self.folder / ".venv/bin/python", *command],
            cwd=cwd or self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"{self.folder}: {' '.join(command)}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def kept(self, name: str, gather: Callable[[], str]) -> str:
        """Return a text that was gathered before, or gather it now."""
        path = self.keep / name
        if not path.is_file():
            text = gather()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return path.read_text()

    def exporter(self, *arguments: str, cwd: Path | None = None) -> str:
        """Run the command line."""
        return self.run("-c", "from exporter.cli import main; main()", *arguments, cwd=cwd)

    def bundle(self, spec: Path) -> Path:
        """Release a spec, unless that was done, in a folder that holds recipes, specs and nothing else; the bundle."""
        work = self.keep / "work"
        for name in ("recipes", "specs"):
            if not (work / name).exists():
                shutil.copytree(self.folder / name, work / name, ignore=shutil.ignore_patterns("__pycache__"))

        def release() -> str:
            answer = json.loads(self.exporter("release", f"specs/{spec.name}", "--no-cache", "--json", "-q", cwd=work))
            return str(answer["bundle"])

        return work / self.kept(f"bundles/{spec.stem}", release)

    def helps(self) -> dict[str, str]:
        """Return the help of each verb."""

        def gather() -> str:
            listed = self.exporter("--help")
            verbs = re.findall(r"^  ([a-z][a-z-]+)  ", listed.partition("Commands:")[2], re.MULTILINE)
            return json.dumps({"": listed, **{verb: self.exporter(verb, "--help") for verb in verbs}})

        return dict(json.loads(self.kept("helps.json", gather)))

    def findings(self) -> str:
        """Return the findings of the labelled traps, one case and form a line."""
        package = "evals.traps.golden" if (self.folder / "evals").is_dir() else "tests.traps.golden"
        script = f"import sys; from {package} import lines; sys.stdout.writelines(lines())"
        return self.kept("findings.txt", lambda: self.run("-c", script))

    def tests(self) -> list[str]:
        """Return the names of all tests, without the values of their parameters."""
        command = ("-m", "pytest", "--collect-only", "-q", "-n", "0", "-m", "", "-p", "no:cacheprovider")
        listed = self.kept("tests.txt", lambda: self.run(*command))
        return sorted({line.partition("[")[0] for line in listed.splitlines() if "::" in line})

    @cached_property
    def names(self) -> frozenset[str]:
        """The public names of the package, as `exporter.x.y:name`."""
        return frozenset(
            f"{_module(path, self.folder)}:{name}"
            for path in sorted((self.folder / "exporter").rglob("*.py"))
            for name in _public(path)
        )


def _module(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _public(path: Path) -> Iterator[str]:
    """Yield the public names that a module defines."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        else:
            names = []
        yield from (name for name in names if not name.startswith("_"))


@dataclass
class Compared:
    """What differs, by kind, and how much was compared."""

    moves: Moves
    differences: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def bundles(self, before: Checkout, now: Checkout, specs: list[Path]) -> None:
        """Compare the bundles that both release of the same specs."""
        for spec in specs:
            old, new = _content(before.bundle(spec), self.moves.text), _content(now.bundle(spec), str)
            same = {name: _digest(content) for name, content in old.items()}
            other = {name: _digest(content) for name, content in new.items()}
            self._same(f"bundle of {spec.stem}", same, other)
            print(f"{spec.stem:16} {_digest(same)[:16]} before, {_digest(other)[:16]} now")

    def helps(self, before: Checkout, now: Checkout) -> None:
        """Compare the helps."""
        self._same("help", before.helps(), now.helps())

    def findings(self, before: Checkout, now: Checkout) -> None:
        """Compare the findings of the traps."""
        old, new = (dict(line.split(": ", 1) for line in one.findings().splitlines()) for one in (before, now))
        self._same("findings", old, new)

    def tests(self, before: Checkout, now: Checkout) -> None:
        """Look whether each test is still there, where its folder is now."""
        there = set(now.tests())
        for name in before.tests():
            path, _, test = name.partition("::")
            moved = f"{self.moves.place(path)}::{test}"
            if moved not in there and name not in self.moves.gone and path not in self.moves.gone:
                self.differences.append(f"tests: {moved} is gone")
        self.counts["tests"] = len(before.tests())
        print(f"tests: {len(before.tests())} before, {len(there)} now")

    def names(self, before: Checkout, now: Checkout) -> None:
        """Look whether each public name is still there, in the module that its own is now."""
        for name in sorted(before.names):
            module, _, own = name.partition(":")
            moved = self.moves.places.get(name, f"{self.moves.place(module)}:{own}")
            if moved not in now.names and name not in self.moves.gone and module not in self.moves.gone:
                self.differences.append(f"names: {moved} is gone")
        self.counts["names"] = len(before.names)

    def _same(self, what: str, old: Mapping[str, str], new: Mapping[str, str]) -> None:
        self.counts[what] = len(old)
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                self.differences.append(f"{what}: {name or 'the first'} differs")


def _content(bundle: Path, moved: Callable[[str], str]) -> dict[str, Any]:
    """Return each file of a bundle, and its manifest key by key, without what may differ."""
    manifest = json.loads((bundle / "manifest.json").read_bytes())
    free = [*manifest["not_reproducible"], "schema", "digest"]
    listed = manifest.pop("files")
    for key in free:
        *above, last = key.split(".")
        inner = manifest
        for part in above:
            inner = inner.get(part, {})
        inner.pop(last, None)
    manifest = json.loads(moved(json.dumps(manifest)))
    documents = {"bom.cdx.json", "provenance.intoto.json", "report.html"}
    files = {name: _file(bundle / name, moved) for name in listed if name not in documents}
    return {**{f"manifest.{key}": value for key, value in manifest.items()}, **files}


def _file(path: Path, moved: Callable[[str], str]) -> str:
    content = _SCHEMA.sub(b'"schema": 0', path.read_bytes()) if path.suffix == ".json" else path.read_bytes()
    if path.suffix == ".py":  # verify.py says which schemas it reads
        lines = moved(content.decode()).splitlines()
        content = "\n".join(line for line in lines if "schema" not in line).encode()
    return hashlib.sha256(content).hexdigest()


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def main() -> int:
    """Compare, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("keep", type=Path)
    parser.add_argument("--only", default="bundles,helps,findings,tests,names")
    parser.add_argument("--specs", default="", help="only these, by their names")
    parser.add_argument("--gather", action="store_true", help="only gather what the earlier checkout gives")
    options = parser.parse_args()
    before = Checkout(options.before.resolve(), options.keep.resolve() / "before")
    now = Checkout(ROOT, options.keep.resolve() / "now")
    wanted = options.only.split(",")
    specs = sorted((before.folder / "specs").glob("*.yaml"))
    specs = [spec for spec in specs if not options.specs or spec.stem in options.specs.split(",")]
    if options.gather:
        for spec in specs if "bundles" in wanted else ():
            print(before.bundle(spec), flush=True)
        gathered = {"helps": before.helps, "findings": before.findings, "tests": before.tests}
        for kind in gathered.keys() & set(wanted):
            gathered[kind]()
        return 0
    compared = Compared(Moves.read())
    if "bundles" in wanted:
        compared.bundles(before, now, specs)
    for kind in ("helps", "findings", "tests", "names"):
        if kind in wanted:
            getattr(compared, kind)(before, now)
    print("\n".join(compared.differences))
    print(f"compared: {compared.counts}; {len(compared.differences)} differ")
    return 1 if compared.differences else 0


if __name__ == "__main__":
    sys.exit(main())
