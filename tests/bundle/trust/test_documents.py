"""What a bundle tells of its origin: valid by the field's schemas, true, the same each time, and under the digest."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.bundle.trust.material import bundle_in, reseal, verify
from tests.command import ROOT, STORED, exporter, refused

FILES = {
    "model.py": "import paddle\nfrom parts import inner\n\ndef build():\n    return inner.net()\n",
    "parts/__init__.py": "",
    "parts/inner.py": "import paddle\n\ndef net():\n    return paddle.nn.Sequential(paddle.nn.Linear(4, 2))\n",
    "parts/unused.py": "x = 1\n",
}
OPTIONS = (
    "--input",
    "input=float32[n,4]",
    "--values",
    "input=rows.npy",
    "--dim",
    "n=1..3",
    "--formats",
    "pir",
    "--quiet",
)


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.test")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a model of several files, exported once with a clean tree."""
    folder = tmp_path_factory.mktemp("origin")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    np.save(folder / "rows.npy", np.random.default_rng(0).standard_normal((3, 4)).astype("float32"))
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    export(folder, "out")
    return folder


def export(folder: Path, out: str, env: dict[str, str] | None = None) -> None:
    done = exporter("convert", "model:build", *OPTIONS, "--out", out, cwd=folder, env=env)
    assert done.code == 0, done.err


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def dependencies(bundle: Path) -> dict[str, Any]:
    statement = read(bundle / "provenance.intoto.json")
    return {entry["name"]: entry for entry in statement["predicate"]["buildDefinition"]["resolvedDependencies"]}


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def bundles(folder: Path) -> list[Path]:
    return [folder / "out", STORED]


def test_the_statement_is_valid_by_its_schema(folder: Path) -> None:
    schema = read(Path(__file__).with_name("slsa.schema.json"))
    for bundle in bundles(folder):
        statement = read(bundle / "provenance.intoto.json")
        jsonschema.Draft202012Validator(schema).validate(statement)
        del statement["predicate"]["runDetails"]["builder"]["id"]
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(schema).validate(statement)


def test_the_bill_is_valid_by_its_schema(folder: Path) -> None:
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    for bundle in bundles(folder):
        text = (bundle / "bom.cdx.json").read_text()
        assert validator.validate_str(text) is None
        assert validator.validate_str(text.replace('"library"', '"no such kind"')) is not None


def test_the_manifest_names_both_and_they_tell_its_files(folder: Path) -> None:
    for bundle in bundles(folder):
        manifest = read(bundle / "manifest.json")
        names = set(manifest["documents"].values())
        assert names == {"provenance.intoto.json", "bom.cdx.json"} <= set(manifest["files"])
        files = {name: facts["sha256"] for name, facts in manifest["files"].items()}
        subjects = read(bundle / "provenance.intoto.json")["subject"]
        told = {subject["name"]: subject["digest"]["sha256"] for subject in subjects}
        components = [part for part in read(bundle / "bom.cdx.json")["components"] if part["type"] == "file"]
        assert told == {part["name"]: part["hashes"][0]["content"] for part in components}
        later = {*names, "verify.py", "infer.py", "pipeline.json"}
        expected = {name: digest for name, digest in files.items() if name not in later}
        assert told == expected


def test_every_imported_module_with_its_digest(folder: Path) -> None:
    told = dependencies(folder / "out")
    for name in ("model.py", "parts/__init__.py", "parts/inner.py"):
        assert told[name]["digest"]["sha256"] == sha256(folder / name)
    assert "parts/unused.py" not in told, "it was not imported"
    assert told["input input"]["digest"]["sha256"] == sha256(folder / "rows.npy")
    paddle = told["paddlepaddle"]
    assert paddle["uri"] == f"pkg:pypi/paddlepaddle@{version('paddlepaddle')}"
    modules = paddle["annotations"]["modules"]
    site = Path(np.__file__).parents[1]
    for name in ("paddle/__init__.py", "paddle/nn/__init__.py", "paddle/jit/api.py"):
        assert modules[name] == sha256(site / name)
    assert told["python"]["uri"] == f"pkg:generic/python@{platform.python_version()}"
    own = told["paddle-exporter"]["annotations"]["modules"]
    assert own["exporter/pipeline.py"] == sha256(ROOT / "exporter/pipeline.py")
    assert set(own) == {path.relative_to(ROOT).as_posix() for path in (ROOT / "exporter").rglob("*.py")}
    assert not [name for name in told if name.startswith("exporter/")]
    text = (folder / "out/provenance.intoto.json").read_text()
    assert str(folder) not in text and str(site) not in text, "paths are relative"


def test_the_commit_and_whether_it_is_dirty(folder: Path) -> None:
    head, repository = git(folder, "rev-parse", "HEAD"), dependencies(folder / "out")["source repository"]
    assert repository == {"name": "source repository", "digest": {"gitCommit": head}, "annotations": {"dirty": False}}
    changed = Path(shutil.copytree(folder, folder.with_name("changed"), ignore=shutil.ignore_patterns("out")))
    (changed / "parts/unused.py").write_text("x = 2\n")
    export(changed, "out")
    assert dependencies(changed / "out")["source repository"]["annotations"] == {"dirty": True}
    git(changed, "checkout", "--quiet", "parts/unused.py")
    git(changed, "rm", "--quiet", "--cached", "parts/inner.py")
    git(changed, "commit", "--quiet", "-m", "imports what it does not hold")
    shutil.rmtree(changed / "out")
    export(changed, "out")
    told = dependencies(changed / "out")["source repository"]
    assert told["annotations"] == {"dirty": True} and told["digest"]["gitCommit"] != head


def test_outside_of_a_repository_there_is_no_commit(folder: Path) -> None:
    plain = Path(shutil.copytree(folder, folder.with_name("plain"), ignore=shutil.ignore_patterns("out", ".git")))
    env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(plain.parent)}
    export(plain, "out", env)
    assert "source repository" not in dependencies(plain / "out")


def test_the_same_inputs_give_the_same_bytes(folder: Path) -> None:
    export(folder, "again")
    for name in ("provenance.intoto.json", "bom.cdx.json", "manifest.json"):
        assert (folder / "again" / name).read_bytes() == (folder / "out" / name).read_bytes(), name
    shutil.rmtree(folder / "again")
    export(folder, "again", {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    bom = read(folder / "again/bom.cdx.json")
    assert bom["metadata"]["timestamp"].startswith("2023-11-14T22:13:20")
    assert "timestamp" not in read(folder / "out/bom.cdx.json")["metadata"]


def test_the_bill_lists_the_packages_with_what_they_require(folder: Path) -> None:
    bom = read(folder / "out/bom.cdx.json")
    purls = {part["name"]: part["purl"] for part in bom["components"] if part["type"] == "library"}
    for name in ("paddlepaddle", "numpy", "onnxruntime"):
        assert purls[name] == f"pkg:pypi/{name}@{version(name)}"
    requires = {entry["ref"]: entry.get("dependsOn", []) for entry in bom["dependencies"]}
    assert purls["numpy"] in requires[purls["onnxruntime"]]
    assert bom["metadata"]["component"]["type"] == "machine-learning-model"
    assert {part["bom-ref"] for part in bom["components"]} <= set(requires["model"])


@pytest.mark.parametrize("name", ["provenance.intoto.json", "bom.cdx.json"])
def test_a_changed_or_missing_document_is_damage(name: str, tmp_path: Path) -> None:
    bundle = bundle_in(tmp_path)
    manifest = read(bundle / "manifest.json")
    (bundle / name).write_text("{}")
    refused(verify(bundle), 5, name)
    (bundle / name).unlink()
    refused(verify(bundle), 5, name, "is missing")
    reseal(bundle, manifest)
    refused(verify(bundle), 5, f"names {name}, and does not list it")
    reseal(bundle, {**manifest, "documents": {**manifest["documents"], "bom": "other.json"}})
    refused(verify(bundle), 5, "documents.bom")
