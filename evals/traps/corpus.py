"""The labelled cases as data: `<family>.md` in a folder, each case with its label and code; read, written, laid out.

A case is a heading with its name, a list of what is known of it, and its code. Most models take one tensor of floats
and are built without arguments. Then `inputs` says in a line what else a case needs (`make`, `SPECS`, `inputs()`), and
:func:`source` adds it behind the code, so that the lines of the code are those of the file. Where there is no such line
the code holds all of it.
"""

from __future__ import annotations

import ast
import atexit
import functools
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Words of a kind, and the file that holds the cases of it; the first that fits counts.
FAMILIES: Mapping[str, str] = {
    "random": "random dropout noise drop seed shuffle stochastic",
    "modes": "train eval mode batch-norm bn flag",
    "state": "state buffer counter cache self hidden memory stateful lru running update grown global",
    "in-place": "inplace setitem view alias write assign fill identity",
    "dynamic-shapes": "shape dynamic reshape dim size width length pad window resize rank",
    "loops": "loop while for range zip enumerate iter break continue recursion comprehension generator map decode",
    "conditions": "if branch ternary bool assert guard none or and match else condition not optional try raise except",
    "numbers": "numpy np item number int float python math cast dtype constant baked scalar const",
    "containers": "list dict tuple set key keys namedtuple dataclass sorted slice index unpack object enum tree append",
    "outputs": "output outputs return returns unused input argument kwargs head heads",
    "layers": "layer layers layerlist sequential sublayer weight parameter param norm conv spectral hook pylayer",
    "networks": "rnn lstm gru attention detection policy rl ocr gnn mask text transformer quant causal sequence stack",
    "python": "class closure lambda decorator functools property super method builtin context attr attribute getattr "
    "mixin helper import name",
}
OTHER = "other"
#: What a case has and most real code has not: the shapes of its inputs, and how it is built.
SPECS, FACTORY = "SPECS", "make"

_HEADING = re.compile(r"^## (\w+)\n\n((?:- [^\n]+\n)+)\n```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_FACT = re.compile(r"^- (\w+): (.+)$", re.MULTILINE)
_INPUTS = re.compile(r"(\w+) float32\[(.*?)\] \((added (?:before|after) the cast)\), seed (\d+), rows and shifts (.+)")

_MAKE = """

def make():
    return Net()


SPECS = [
    {{"name": "{name}", "shape": [{shape}], "dtype": "float32"}},
]


def inputs():
    rng = np.random.default_rng({seed})
    return [{drawn} for n, s in ({pairs},)]
"""
_DRAWN = {
    "added before the cast": '((rng.standard_normal((n, {dims})) + s).astype("float32"),)',
    "added after the cast": '(rng.standard_normal((n, {dims})).astype("float32") + s,)',
}


@dataclass(frozen=True)
class Case:
    """`line` is that of the offending construct in the code, from 1; None where the export is right."""

    name: str
    truth: str
    kind: str
    line: int | None
    why: str
    code: str
    inputs: str = ""
    measured: str = ""
    flaky: bool = False

    @property
    def family(self) -> str:
        """The file that it lies in."""
        words = {*self.kind.split("-")}
        return next((name for name, those in FAMILIES.items() if words & {*those.split()}), OTHER)


@functools.cache
def read(folder: Path) -> Mapping[str, Case]:
    """The cases of a folder by name, sorted.

    Raises:
        ValueError: a file holds something else than cases.
    """
    found: dict[str, Case] = {}
    for path in sorted(folder.glob("*.md")):
        if path.name == "README.md":
            continue
        text = path.read_text()
        for match in _HEADING.finditer(text):
            case = _case(match[1], dict(_FACT.findall(match[2])), match[3])
            if case.name in found:
                raise ValueError(f"{path}: {case.name} is there twice")
            found[case.name] = case
        if rest := _HEADING.sub("", text).strip().removeprefix(f"# {path.stem}").strip():
            raise ValueError(f"{path}: no case: {rest[:80]!r}")
    return dict(sorted(found.items()))


def _case(name: str, facts: Mapping[str, str], code: str) -> Case:
    return Case(
        name,
        facts["truth"],
        facts["kind"],
        int(facts["line"]) if "line" in facts else None,
        facts["why"],
        code,
        facts.get("inputs", ""),
        facts.get("measured", ""),
        "flaky" in facts,
    )


def write(folder: Path, cases: Iterable[Case]) -> None:
    """Write the cases of a folder anew, each into the file of its family."""
    by_family: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda one: one.name):
        by_family.setdefault(case.family, []).append(case)
    for path in folder.glob("*.md"):
        if path.name != "README.md" and path.stem not in by_family:
            path.unlink()
    for family, held in by_family.items():
        (folder / f"{family}.md").write_text(f"# {family}\n\n" + "\n".join(map(_told, held)))
    read.cache_clear()


def _told(case: Case) -> str:
    facts = {"truth": case.truth, "kind": case.kind}
    facts |= {"line": str(case.line)} if case.line is not None else {}
    facts |= {"why": case.why}
    facts |= {"measured": case.measured} if case.measured else {}
    facts |= {"flaky": "its outcome changed between runs"} if case.flaky else {}
    facts |= {"inputs": case.inputs} if case.inputs else {}
    listed = "".join(f"- {key}: {value}\n" for key, value in facts.items())
    return f"## {case.name}\n\n{listed}\n```python\n{case.code}```\n"


def source(case: Case) -> str:
    """The whole file of a case: its code, and behind it what `inputs` says in short."""
    if not case.inputs:
        return case.code
    name, shape, how, seed, pairs = _parsed(case)
    drawn = _DRAWN[how].format(dims=", ".join(shape.split(", ")[1:]) + ",")
    return case.code + _MAKE.format(name=name, shape=shape, seed=seed, drawn=drawn, pairs=pairs)


def _parsed(case: Case) -> Sequence[str]:
    match = _INPUTS.fullmatch(case.inputs)
    if match is None:
        raise ValueError(f"{case.name}: inputs: {case.inputs!r}")
    return match.groups()


@functools.cache
def _place() -> Path:
    """A folder of this process, gone with it."""
    place = Path(tempfile.mkdtemp(prefix="exporter-traps-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return place


def laid_out(folder: Path, case: Case, leave_out: Sequence[str] = ()) -> Path:
    """The file of a case, in a folder that is thrown away when this process ends.

    What is left out (`SPECS`, `FACTORY`) is blank, so that all other lines stay where they are.
    """
    path = _place() / "-".join((folder.name, *leave_out)) / f"{case.name}.py"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_without(source(case), leave_out))
    return path


def _without(text: str, names: Sequence[str]) -> str:
    lines = text.splitlines()
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else node
        if getattr(target, "id", getattr(target, "name", "")) in names and node.end_lineno is not None:
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
    return "\n".join(lines) + "\n"
