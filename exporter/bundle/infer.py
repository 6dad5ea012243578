"""The infer.py and pipeline.json of a bundle: from a raw file to the answer, without anything of ours.

The script holds the source of the steps that its deployment takes, each kind in a function of its own, so that the
names of one do not meet those of another.
"""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from exporter.bundle.layout import INFER, PIPELINE
from exporter.bundle.script import annotations_as_text
from exporter.export.fold.split import parts
from exporter.spec.model import Spec
from exporter.spec.pipeline import Pipeline
from exporter.steps.chain import Chain, Declared

_ROOT = Path(__file__).parents[1]
_STEPS, _KINDS = "exporter.steps.", "exporter.steps.kinds."
#: What the template gives to the steps: they import it from here, and the script does not.
_GIVEN = ("exporter.base.errors", "exporter.steps.base", "pydantic", "typing", "collections.abc", "__future__")


def why_not(spec: Spec) -> str:
    """Why a bundle of the spec holds no infer.py; empty where it holds one."""
    if spec.pipeline is None:
        return "its spec names no pipeline"
    before, after = _outside(spec.pipeline)
    functions = [str(link) for link in (*before, *after) if not isinstance(link, Declared)]
    return f"the deployment's step {functions[0]} is a function of the model's code" if functions else ""


@dataclass(frozen=True)
class StepFile:
    """A step by its kind, with all its options as its class takes them."""

    step: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class PipelineFile:
    """The content of pipeline.json: the fed input, and the steps `before` and `after` the artifact."""

    schema: int
    input: str
    before: tuple[StepFile, ...]
    after: tuple[StepFile, ...]


def pipeline_file(spec: Spec) -> PipelineFile:
    """Return what infer.py does.

    Raises:
        ValueError: the spec has no pipeline.
    """
    if spec.pipeline is None:
        raise ValueError("a spec without a pipeline has no steps")
    before, after = _outside(spec.pipeline)
    fed = spec.pipeline.fed(spec.inputs)
    return PipelineFile(1, fed, tuple(map(_step, before)), tuple(map(_step, after)))


def infer_script(spec: Spec) -> str:
    """The source of infer.py, with the kinds of steps that the spec's deployment takes."""
    file = pipeline_file(spec)
    kinds = sorted({step.step for step in (*file.before, *file.after)})
    template = (_ROOT / "bundle/infer_template.py").read_text(encoding="utf-8")
    base = "\n".join(_body(_ROOT / "steps/base.py"))
    used = [text for kind in kinds for text in _functions(kind)]
    table = ", ".join(f'"{kind}": kind_{kind}()["plugin"]' for kind in kinds)
    steps = "\n\n\n".join([base, *dict.fromkeys(used), f"KINDS: dict[str, Any] = {{{table}}}"])
    head, tail = template.split("# STEPS\n")[0], template.split("# END OF STEPS\n")[1]
    return annotations_as_text(head + steps + "\n" + tail)


def modules() -> tuple[str, ...]:
    """The modules of the exporter that infer.py and pipeline.json are made of, by their paths."""
    steps = sorted((_ROOT / "steps").rglob("*.py"))
    own = (_ROOT / "bundle/infer_template.py", _ROOT / "bundle/script.py", Path(__file__), *steps)
    return tuple(path.relative_to(_ROOT.parent).as_posix() for path in own)


def _outside(pipeline: Pipeline) -> tuple[Chain, Chain]:
    """The steps before and after the artifact: all of the deployment's that are not folded in."""
    if pipeline.fold:
        found = parts(pipeline)
        return found.before_outside, found.after_outside
    return pipeline.deployed()


def _step(link: Any) -> StepFile:
    return StepFile(link.name, link.step.model_dump(mode="json"))


def _functions(kind: str) -> Iterator[str]:
    """The functions that hold a kind and what of its neighbours it imports; those come first."""
    path = _ROOT / (f"steps/{kind[1:]}.py" if kind.startswith("_") else f"steps/kinds/{kind}.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (neighbour := _kind_in(node.module or "")):
            yield from _functions(neighbour)
    body = textwrap.indent("\n".join(_body(path)), "    ")
    yield f"def kind_{kind}() -> dict[str, Any]:\n{body}\n    return locals()"


def _kind_in(module: str) -> str:
    """Return the name in the script of a kind, `_name` of what kinds share; empty for any other module."""
    if module.startswith(_KINDS):
        return module.removeprefix(_KINDS)
    return f"_{module.removeprefix(_STEPS)}" if module.startswith(_STEPS) and module not in _GIVEN else ""


def _body(path: Path) -> list[str]:
    """The lines of a module, without the imports that the head of the script stands for."""
    source = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(source), source.splitlines()
    typing = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    unread = {inner for node in typing for inner in ast.walk(node)}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node not in unread]
    for node in sorted([*typing, *imports], key=lambda node: node.lineno, reverse=True):
        own = _import(node, path.name) if isinstance(node, ast.ImportFrom) else []
        if own is not None:
            lines[node.lineno - 1 : node.end_lineno] = own
    return lines


def _import(node: ast.ImportFrom, file: str) -> list[str] | None:
    """What stands for an import in the script; None where it stays."""
    module, indent = node.module or "", " " * node.col_offset
    if own := _kind_in(module):
        return [f'{indent}{alias.name} = kind_{own}()["{alias.name}"]' for alias in node.names]
    if module in _GIVEN:
        return []
    if module.partition(".")[0] == "exporter":
        raise ValueError(f"{file} imports {module}, which no script of a bundle has")
    return None


def documents(spec: Spec) -> dict[str, bytes]:
    """The files of a bundle by their names; none where it holds no infer.py (:func:`why_not`)."""
    if why_not(spec):
        return {}
    told = json.dumps(asdict(pipeline_file(spec)), indent=1, ensure_ascii=False) + "\n"
    return {INFER: infer_script(spec).encode("utf-8"), PIPELINE: told.encode("utf-8")}
