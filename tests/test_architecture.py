"""The order of the house, the weight of its front door, and the size of its rooms."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_origin

import pytest

from exporter.process.job import Job, job_at
from tests.command import COMMAND, ROOT, STORED, environment
from tools.walk import House, Way

PACKAGE = ROOT / "exporter"
#: The doors of the house, in the order of the data: each imports what stands below it in this list, and nothing above.
DOORS = (
    *("cli", "gate", "pipeline", "deploy", "report", "bundle", "weights", "prove", "train", "check", "engines"),
    *("export", "spec", "steps", "process", "paddle", "base"),
)
HEAVY = ("paddle", "onnx", "onnxruntime", "openvino", "paddle2onnx", "numpy", "pydantic")
#: Written into folders that are handed over: nothing imports them, and they import their engine.
PROGRAMS = ("verify_template.py", "http_server.py", "mlserver_runtime.py")
FILES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 400


def door(module: str) -> str:
    """The door that a module of ours lies behind; "" for the package itself."""
    return module.removeprefix("exporter").lstrip(".").partition(".")[0]


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


#: What imports a module by its name: a registry its plugins.
BY_NAME = ("Registry", "import_module", "find_spec")


def imported(path: Path) -> Iterator[str]:
    """Every module of ours that a file imports, anywhere in it; by its name, too."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1].partition("[")[0] in BY_NAME:
            texts = (text.value for text in node.args if isinstance(text, ast.Constant))
            yield from (text for text in texts if isinstance(text, str) and text.startswith("exporter."))
        names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("exporter"):
            for name in names:
                inner = f"{node.module}.{name}"
                place = ROOT.joinpath(*inner.split("."))
                yield inner if place.is_dir() or place.with_suffix(".py").is_file() else node.module
        elif isinstance(node, ast.Import):
            yield from (name for name in names if name.partition(".")[0] == "exporter")


def arrows() -> set[tuple[str, str]]:
    """Every import between two doors, deferred ones too, as (from, to) by module."""
    return {
        (module_of(path), other)
        for path in FILES
        for other in imported(path)
        if door(other) and door(module_of(path)) not in ("", "__main__", door(other))
    }


def test_the_order_names_every_door_and_no_other() -> None:
    """`pipeline` is a file, beside the verbs that it is written for."""
    doors = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert doors - {"__init__", "__main__"} == set(DOORS)
    assert len(DOORS) - len({"pipeline"}) <= 16


def test_imports_point_only_downwards() -> None:
    """Then there is no circle either: along every import the place in the order grows."""
    up = {(one, other) for one, other in arrows() if DOORS.index(door(other)) < DOORS.index(door(one))}
    assert not sorted(up)


def test_a_file_with_an_underscore_is_private_to_its_folder() -> None:
    private = {module_of(path): path.parent for path in FILES if re.match("_[a-z]", path.name)}
    assert private
    assert not [
        f"{module_of(path)} imports {other}"
        for path in FILES
        for other in imported(path)
        if other in private and private[other] != path.parent
    ]


def test_plugins_lie_in_kinds() -> None:
    """And nothing else does, but what only they share."""
    for path in FILES:
        is_plugin = re.search(r"^plugin\b", path.read_text(), re.MULTILINE) is not None
        if path.name != "__init__.py" and not path.name.startswith("_"):
            assert is_plugin == (path.parent.name == "kinds"), path


def test_files_stay_readable() -> None:
    long = {module_of(path): len(path.read_text().splitlines()) for path in FILES}
    assert not {name: lines for name, lines in long.items() if lines > MOST_LINES}
    assert sorted(long.values())[len(long) // 2] <= 120, "half of the files are short"


def test_every_module_says_what_it_is_for() -> None:
    assert not [
        module_of(path)
        for path in FILES
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]


def loaded_by(*command: str) -> set[str]:
    """The top modules that a Python has loaded at its end."""
    script = (
        "import atexit, json, sys\n"
        "atexit.register(lambda: sys.stderr.write(json.dumps(sorted({n.partition('.')[0] for n in sys.modules}))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script + command[0], *command[1:]],
        capture_output=True,
        text=True,
        env=environment(),
        cwd="/",
        check=True,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "command",
    [
        ("import exporter",),
        (COMMAND[2], "--help"),
        (COMMAND[2], "--version"),
        (COMMAND[2], "release", "--help"),
        (COMMAND[2], "verify", "--help"),
    ],
    ids=" ".join,
)
def test_what_answers_at_once_loads_nothing_heavy(command: tuple[str, ...]) -> None:
    assert not loaded_by(*command) & set(HEAVY)


def test_the_package_runs_as_a_module_like_the_script() -> None:
    """Where another `exporter` is on the PATH, or none."""
    for arguments in (["--version"], ["--help"], ["convert"]):
        as_module, as_script = (
            subprocess.run(
                [*command, *arguments], capture_output=True, text=True, env=environment(), cwd="/", check=False
            )
            for command in ([sys.executable, "-m", "exporter"], COMMAND)
        )
        assert (as_module.returncode, as_module.stdout, as_module.stderr) == (
            as_script.returncode,
            as_script.stdout,
            as_script.stderr,
        )
        assert as_module.returncode == (2 if arguments == ["convert"] else 0)
    assert not loaded_by(
        "import runpy, sys; sys.argv[1:] = ['--help']; runpy.run_module('exporter', run_name='__main__')"
    ) & set(HEAVY)


@pytest.mark.parametrize(
    "module", ["exporter.pipeline", "exporter.prove.judge.judge", "exporter.bundle.open", "exporter.spec.read"]
)
def test_the_main_process_never_loads_an_engine(module: str) -> None:
    assert not loaded_by(f"import {module}") & {"paddle", "onnxruntime", "openvino", "paddle2onnx", "onnx"}


def test_plugins_are_listed_without_loading_an_engine() -> None:
    script = (
        "from exporter.base.registry import Registry\n"
        "for room in ('engines', 'export.lower', 'report', 'base.numbers.metrics', 'check.rules', 'deploy.handoff'):\n"
        "    assert Registry('exporter.' + room, 'plugin').names(), room\n"
    )
    assert not loaded_by(script) & set(HEAVY)


def test_every_module_of_the_main_process_can_be_imported_without_paddle_and_engines() -> None:
    """One that imports Paddle at its top would cost every command three seconds; children import it in functions."""
    names = [module_of(path) for path in FILES if path.name not in PROGRAMS]
    script = (
        "import importlib, sys\n"
        f"for name in {('paddle', 'onnxruntime', 'openvino', 'paddle2onnx', 'onnx')!r}:\n"
        "    sys.modules[name] = None\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(name)\n"
    )
    assert "exporter" in loaded_by(script)


#: A function that a child is to run, as text: `module:function`.
ADDRESS = re.compile(r"exporter(?:\.\w+)+:\w+")


def test_every_function_that_is_addressed_as_text_is_there() -> None:
    """Docstrings count: what they show is what somebody copies."""
    addresses = {
        (module_of(path), address)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for address in ADDRESS.findall(node.value)
    }
    assert addresses
    stale = set()
    for module, address in addresses:
        place, _, function = address.partition(":")
        if importlib.util.find_spec(place) is None or not callable(
            getattr(importlib.import_module(place), function, None)
        ):
            stale.add(f"{module}: {address}")
    assert not stale


def test_every_job_is_found_at_its_address_and_its_types_are_known() -> None:
    """`call` sends the address alone; the child looks the job up, and both sides check by the types."""
    modules = [importlib.import_module(module_of(path)) for path in FILES if path.name not in PROGRAMS]
    jobs = {value.address: value for module in modules for value in vars(module).values() if isinstance(value, Job)}
    assert len(jobs) > 40
    for address, job in jobs.items():
        assert job_at(address) is job
        request, answer = job.types
        assert is_dataclass(request), f"{address} takes {request}"
        assert answer is type(None) or is_dataclass(answer) or get_origin(answer) is dict, f"{address} gives {answer}"


#: Parts of Paddle that are no API: each name of them that is used stands in the table of `exporter/paddle/private.py`.
PRIVATE = (
    *("base", "framework", "pir", "pir_utils", "tensor", "jit.dy2static", "incubate.autograd", "nn.layer"),
    *("nn.functional.sdpa", "utils.inplace_utils"),
)


def private_names(text: str) -> Iterator[str]:
    """What of Paddle's private parts a code names, with its line: by import, attribute, or text that is a path."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value]
        for name in names:
            parts = name.split(".")
            if parts[0] == "paddle" and all(part.isidentifier() for part in parts):
                inner = ".".join(parts[1:])
                hidden = any(part.startswith("_") and not part.endswith("__") for part in parts[1:])
                if hidden or any(inner == one or inner.startswith(f"{one}.") for one in PRIVATE):
                    yield f"{node.lineno} {name}"


def test_the_private_parts_of_paddle_are_named_in_one_room() -> None:
    """Mere prose may name them: docstrings, comments, messages."""
    planted = (
        '"""paddle.base is prose."""\nfrom paddle import _C_ops\nimport paddle.base.core as core\n'
        'x = paddle.pir.Value, "see paddle.base", "paddle.jit.dy2static.utils", paddle.jit.save, paddle.__version__\n'
    )
    assert sorted(private_names(planted)) == [
        *("2 paddle._C_ops", "3 paddle.base.core", "4 paddle.jit.dy2static.utils", "4 paddle.pir", "4 paddle.pir.Value")
    ]
    outside = [path for path in FILES if door(module_of(path)) != "paddle"]
    assert not [f"{module_of(path)}:{name}" for path in outside for name in private_names(path.read_text())]


def test_every_test_asserts_something_or_calls_what_does() -> None:
    """Helpers count whose own body asserts, or calls one that does; `pytest.raises` and numpy's own count as well."""
    functions: dict[str, list[ast.AST]] = {}
    for path in (ROOT / "tests").rglob("*.py"):
        if "cases" not in path.parts:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    functions.setdefault(node.name, []).append(node)
    asserts = {"raises", "warns", "assert_array_equal", "assert_allclose"}
    while (
        found := {name for name, nodes in functions.items() if all(_proves(node, asserts) for node in nodes)} - asserts
    ):
        asserts |= found
    assert sorted(name for name in functions.keys() - asserts if name.startswith("test_")) == []


def _proves(function: ast.AST, asserts: set[str]) -> bool:
    called = {node.func for node in ast.walk(function) if isinstance(node, ast.Call)}
    names = {one.attr if isinstance(one, ast.Attribute) else getattr(one, "id", "") for one in called}
    return bool(names & asserts) or any(isinstance(node, ast.Assert) for node in ast.walk(function))


def test_from_the_verb_to_the_norm_are_at_most_six_hops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured where the norm of an error is computed: how often the call went from one room to another by then."""
    from exporter.base.numbers import norms
    from exporter.cli.kinds.verify import verify

    chains: list[list[str]] = []
    plain = norms.error

    def error(*arguments: Any) -> Any:
        rooms: list[str] = []
        frame = sys._getframe(1)
        while frame is not None and rooms[-1:] != ["cli"]:
            module = frame.f_globals.get("__name__", "")
            if module.startswith("exporter.") and rooms[-1:] != [door(module)]:
                rooms.append(door(module))
            frame = frame.f_back
        chains.append(rooms[::-1])
        return plain(*arguments)

    monkeypatch.setattr(norms, "error", error)
    verify(STORED, engines="onnxruntime", as_json=True, quiet=True)
    judged = [rooms for rooms in chains if "prove" in rooms]
    assert judged and all(rooms[0] == "cli" and rooms[-1] == "base" for rooms in judged)
    assert max(len(rooms) - 1 for rooms in judged) <= 6, max(judged, key=len)


def test_a_spec_is_sent_down_through_a_release_and_hardly_up_again() -> None:
    """By the count of `python -m tools.walk exporter/pipeline.py:release:spec`: 24 climbs under 45 names before."""
    house = House(ROOT)
    way = Way(house)
    way.enter(house.modules["exporter.pipeline"].functions["release"], frozenset({"spec"}))
    assert {"exporter.deploy.handoff.loads", "exporter.weights.find", "exporter.prove.preflight.files"} <= set(
        way.stays
    )
    assert way.climbs <= 10 and len(way.names) <= 40, way.entered
