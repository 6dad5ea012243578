"""No code that a bundle brings, names or lies beside is run by whoever verifies it; with --source only what it was
made of."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import ExitCode
from exporter.bundle.manifest import sealed
from exporter.bundle.script import verify_script
from tests import faults
from tests.command import COMMAND, STORED, environment, exporter, refused
from tests.conftest import working_folder
from tests.described import small

#: Modules of Python, of what an exporter needs, and of the exporter itself, each of which is imported somewhere.
SHADOWS = ("__future__", "json", "typing", "enum", "re", "pathlib", "numpy", "typer", "paddle", "onnxruntime")
SHADOWS += ("exporter/process/workers", "exporter/cli/kinds/verify", "sitecustomize")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A copy in a folder of its own, with today's verify.py."""
    copy = faults.copied(STORED, tmp_path / "work/bundle")
    (copy / "verify.py").write_text(verify_script())
    faults.reseal(copy)
    return copy


@pytest.fixture
def ran(tmp_path: Path) -> Callable[[], str]:
    """What the traps laid by :func:`lay` have written: nothing, unless one was run."""
    return lambda: (tmp_path / "ran").read_text() if (tmp_path / "ran").exists() else ""


def lay(folder: Path, into: Path, names: tuple[str, ...] = SHADOWS) -> None:
    for name in names:
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"with open({str(into / 'ran')!r}, 'a') as stream:\n    stream.write({name!r} + ' ')\n")


def edited(bundle: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads((bundle / "manifest.json").read_bytes())
    change(content)
    content["provenance"]["model"] = content["spec"]["model"]
    (bundle / "manifest.json").write_bytes(sealed(content))
    faults.reseal(bundle)


def test_what_the_recorded_spec_names_is_not_imported(bundle: Path, tmp_path: Path, ran: Any) -> None:
    edited(bundle, lambda content: content["spec"].update(model="payload:build"))
    lay(bundle.parent, tmp_path, ("payload",))
    done = exporter("verify", "bundle", "--json", cwd=bundle.parent)
    assert (done.code, done.json()["verdict"], ran()) == (0, "passed", "")
    assert any("--source DIR" in note for note in done.json()["notes"]), "what was not judged is named"


def test_a_bundle_that_brings_its_code_is_no_bundle(bundle: Path, tmp_path: Path, ran: Any) -> None:
    lay(bundle, tmp_path, ("payload",))
    edited(bundle, lambda content: content["spec"].update(model="payload:build"))
    for more in ((), ("--source", ".")):
        refused(exporter("verify", ".", *more, cwd=bundle), ExitCode.BUNDLE, "payload.py", "no bundle")
    assert ran() == ""


@pytest.mark.parametrize("recorded", ["another's", "nobody's"])
def test_source_that_is_not_the_bundle_s_is_not_imported(bundle: Path, tmp_path: Path, ran: Any, recorded: str) -> None:
    def change(content: dict[str, Any]) -> None:
        content["spec"]["model"] = "payload:build"
        content["provenance"]["code"] = {"payload.py": "0" * 64} if recorded == "another's" else {}

    edited(bundle, change)
    lay(bundle.parent, tmp_path, ("payload",))
    own = faults.sha256_file(bundle.parent / "payload.py")
    said = "0" * 64 if recorded == "another's" else "none of it"
    for verb in ("verify", "drill"):
        refused(exporter(verb, "bundle", "--source", ".", cwd=bundle.parent), ExitCode.BUNDLE, "payload.py", own, said)
    assert ran() == ""


@pytest.mark.parametrize("model", ["os:abort", "nowhere:build", "antigravity:fly"])
def test_source_is_in_its_folder_or_an_installed_package(bundle: Path, model: str) -> None:
    edited(bundle, lambda content: content["spec"].update(model=model))
    refused(exporter("verify", "bundle", "--source", ".", cwd=bundle.parent), ExitCode.USAGE, f"no {model} there")


@pytest.mark.parametrize("path", ["", ":", "."])
def test_nothing_in_the_working_folder_is_imported(bundle: Path, tmp_path: Path, ran: Any, path: str) -> None:
    """A PYTHONPATH that names no folder means the working folder."""
    env = environment(PYTHONPATH=path) if path else environment()
    # With PYTHONPATH Python itself looks there for its own modules, before any of ours is run.
    lay(bundle.parent, tmp_path, ("numpy", "typer", "paddle", "onnxruntime") if path else SHADOWS)
    command = [*COMMAND]
    engines = ("--engines", "onnxruntime,jit_load")
    done = subprocess.run(
        [*command, "verify", "bundle", *engines],
        cwd=bundle.parent,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, ran()) == (0, ""), done.stderr


@pytest.mark.parametrize("way", ["script", "module", "verify.py"])
def test_nothing_in_the_bundle_s_own_folder_is_imported(bundle: Path, tmp_path: Path, ran: Any, way: str) -> None:
    """Without -I Python itself imports `runpy` from there, and maybe `exporter`: see `exporter/__main__.py`."""
    lay(bundle, tmp_path)
    commands = {
        "script": [*COMMAND, "verify", "."],
        "module": [sys.executable, "-I", "-m", "exporter", "verify", "."],
        "verify.py": [sys.executable, "verify.py"],
    }
    done = subprocess.run(commands[way], cwd=bundle, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, ran()) == (5, ""), done.stdout + done.stderr
    assert ".py" in done.stdout + done.stderr and "not" in done.stdout + done.stderr


def test_with_its_own_code_eager_itself_is_judged(tmp_path: Path) -> None:
    """From another folder, which holds another module of that name."""
    work = working_folder(tmp_path / "work")
    (work / "small.yaml").write_text(json.dumps(small("models.sound:mlp", weights="factory")))
    assert exporter("release", "small.yaml", cwd=work).code == 0
    bundle, elsewhere = work / "artifacts/small/1", tmp_path / "elsewhere"
    lay(elsewhere, tmp_path, ("models/__init__", "models/sound"))
    code = json.loads((bundle / "manifest.json").read_bytes())["provenance"]["code"]
    assert set(code) == {"models/__init__.py", "models/sound.py"}
    done = exporter("verify", "../work/artifacts/small/1", "--source", "../work", "--json", cwd=elsewhere)
    assert (done.code, done.json()["verdict"]) == (0, "passed"), done.err
    assert {"eager", "static"} < {check["engine"] for check in done.json()["checks"]}
    (work / "models/sound.py").write_text("# changed\n" + (work / "models/sound.py").read_text())
    done = exporter("verify", bundle, "--source", work, cwd=elsewhere)
    refused(done, ExitCode.BUNDLE, "models/sound.py", code["models/sound.py"])
