"""The table of private names against the installed Paddle, and against faked ones."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from packaging.version import Version

from exporter.base.errors import EnvironmentLacks
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.export.lower.pdmodel.table import TABLE
from exporter.paddle import private
from exporter.paddle.audit import demand_known, missing
from tests.command import environment, exporter, refused

KNOWN = f"known are {private.VERSIONS[0]}–{private.VERSIONS[-1]}"
#: Changes a module of Paddle as soon as it was imported, in every process that starts with this on its path.
FAKED = """
import importlib.util, sys

class Faked:
    def find_spec(self, name, path=None, target=None):
        if name != "paddle.base.dygraph.generated_tensor_methods_patch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def faked(module):
            execute(module)
            {change}

        spec.loader.exec_module = faked
        return spec

sys.meta_path.insert(0, Faked())
"""
SUNK = 'module.funcs_map.append(("cumsum", module._acos))'
MODEL = """
import paddle

class Net(paddle.nn.Layer):
    def forward(self, x):
        return x.cumsum(-1)
"""


def test_the_installed_paddle_is_known() -> None:
    assert list(missing()) == []
    assert list(map(Version, private.VERSIONS)) == sorted(map(Version, private.VERSIONS))
    assert {name.since for name in private.NAMES.values()} <= set(private.VERSIONS)


def test_a_private_name_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(private.resolve("paddle.base.framework.Block"), "append_op")
    monkeypatch.delattr(private.resolve("paddle.jit.dy2static.origin_info"), "global_origin_info_map")
    with pytest.raises(EnvironmentLacks) as caught:
        demand_known()
    gone = ("paddle.base.framework.Block.append_op", "paddle.jit.dy2static.origin_info.global_origin_info_map")
    assert caught.value.what == f"this Paddle differs in {', '.join(f'{name} (gone)' for name in gone)}; {KNOWN}"
    assert private.VERSIONS[-1] in caught.value.hint


def test_a_member_that_only_objects_have_is_missed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(private.MEMBERS, "paddle.nn.Conv2D", ("_groups", "_grouped"))  # type: ignore[arg-type]
    assert list(missing()) == ["paddle.nn.Conv2D._grouped (gone)"]


def test_a_name_that_is_newer_than_this_paddle_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    later = private.Name("paddle.base.framework.Later", since="99.0")
    monkeypatch.setitem(private.NAMES, "Later", later)  # type: ignore[arg-type]
    monkeypatch.delitem(vars(private), "Later", raising=False)
    assert private.Later is None
    assert list(missing()) == []
    monkeypatch.delitem(vars(private), "Later")
    monkeypatch.setitem(private.NAMES, "Later", private.Name(later.path))  # type: ignore[arg-type]
    with pytest.raises(EnvironmentLacks, match=r"differs in paddle\.base\.framework\.Later \(gone\); known are"):
        _ = private.Later


def test_an_api_that_was_newly_sunk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private.sunk, "funcs_map", [*private.sunk.funcs_map, ("cumsum", private.sunk._acos)])
    with pytest.raises(EnvironmentLacks) as caught, legacy_export():
        pass
    assert caught.value.what == f"this Paddle differs in paddle.cumsum (only in C++ now); {KNOWN}"


@pytest.mark.parametrize("kind", [inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY])
def test_an_entry_with_one_more_argument_is_named(
    kind: inspect._ParameterKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = dict(private.sunk.methods_map)["sum"]
    signature = inspect.signature(entry)
    parameters = [*signature.parameters.values(), inspect.Parameter("where", kind, default=None)]
    parameters.sort(key=lambda parameter: parameter.kind)
    monkeypatch.setattr(entry, "__signature__", signature.replace(parameters=parameters))
    with pytest.raises(EnvironmentLacks) as caught, legacy_export():
        pass
    assert caught.value.what == f"this Paddle differs in paddle.sum (takes where too); {KNOWN}"


def test_out_stands_where_the_installed_paddle_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in 3.2: `logical_not(x, out=None, name=None)`. Taken for the name, what is given would be dropped."""
    entry = dict(private.sunk.methods_map)["logical_not"]
    placed = inspect.signature(lambda x, out=None, name=None: None)
    assert TABLE["logical_not"].bind(("x", "a name"), {"out": "o"}) == {"x": "x", "name": "a name", "out": "o"}
    monkeypatch.setattr(entry, "__signature__", placed)
    assert TABLE["logical_not"].bind(("x", "o"), {}) == {"x": "x", "name": None, "out": "o"}
    with legacy_export():
        pass


def test_a_faked_paddle_is_refused_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(FAKED.format(change=SUNK))
    (tmp_path / "net.py").write_text(MODEL)
    command = ("convert", "net:Net", "--input", "x=float32[2,3]", "--formats", "pdmodel", "--out", "made")
    done = exporter(*command, cwd=tmp_path, env=environment(PYTHONPATH=str(tmp_path)))
    refused(done, 3, "this Paddle differs in paddle.cumsum (only in C++ now)", KNOWN, "pip install")
    assert not (tmp_path / "made").exists()
