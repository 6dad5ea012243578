"""How fast `check` reads: python benchmarks/check_speed.py [RUNS].

100,000 lines of models in one process, against `ast.parse` of the same lines in another; and the recipe of the digits,
against the bare imports that any such program needs. Processor times in turn, since a time alone tells of the machine.
"""

from __future__ import annotations

import compileall
import sys
import tempfile
from pathlib import Path

from _compare import compare, report

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from evals.traps import corpus  # noqa: E402  # the folder above is no package that is installed

LINES, READING, MEGABYTES, STARTUP = 100_000, 4.2, 300.0, 1.3
_READ = """
import sys
from exporter.check.run import examine
found = examine([sys.argv[1]])
assert found.layers >= 1000 and len(found.findings) >= 500, (found.layers, len(found.findings))
"""
_PARSE = """
import ast, gc, pathlib, sys
gc.disable()  # as `check` does
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    ast.parse(path.read_bytes())
"""


def write_models(folder: Path) -> None:
    """Fill a folder with the corpus, over and over, ten models a file, until it has the lines."""
    sources = [corpus.source(case) for case in corpus.read(ROOT / "tests" / "traps").values()]
    lines = number = 0
    while lines < LINES:
        text = "\n\n".join(_renamed(sources[(number * 10 + at) % len(sources)], at) for at in range(10)) + "\n"
        (folder / f"models_{number:04}.py").write_text(text)
        lines, number = lines + text.count("\n"), number + 1


def _renamed(source: str, at: int) -> str:
    for name in ("Net", "make", "SPECS", "inputs"):
        source = source.replace(f"class {name}", f"class {name}{at}").replace(f"{name}()", f"{name}{at}()")
        source = source.replace(f"{name} =", f"{name}{at} =")
    return source


def main() -> int:
    """Measure; exit 1 if a limit is exceeded."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        write_models(Path(folder))
        read, parse = ([sys.executable, "-c", program, folder] for program in (_READ, _PARSE))
        ours, theirs = compare(read, [parse], runs, memory=True)
    megabytes = max(run.megabytes for run in ours)
    fast = report(f"{LINES} lines", ours, theirs, READING, "processor", "ast.parse") and megabytes <= MEGABYTES
    print(f"memory {megabytes:.0f} MB (limit {MEGABYTES:.0f})")
    exporter = str(Path(sys.executable).with_name("exporter"))
    compileall.compile_dir(ROOT / "exporter", quiet=1)  # as scripts/install does; the others have theirs too
    bare = [sys.executable, "-c", "import typer, rich.console, ast"]
    ours, theirs = compare([exporter, "check", "--no-probe", str(ROOT / "recipes" / "digits.py")], [bare], runs * 3)
    return 0 if report("check recipes/digits.py", ours, theirs, STARTUP, "processor") and fast else 1


if __name__ == "__main__":
    sys.exit(main())
