"""`exporter gate` as CI runs it: real releases of what a change touches."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest

from tests.command import contents, exporter, refused

SPEC = """name: {name}
version: 1.0.0
model: models.{model}
weights: factory
inputs: {{x: {{dtype: float32, shape: [batch, 4]}}}}
dims: {{batch: {{min: 1, typical: 2, max: 5}}}}
outputs: [y]
formats: [pir]
engines: [jit_load]
"""


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(workplace: Path) -> Path:
    for shipped in (workplace / "specs").glob("*.yaml"):
        shipped.unlink()
    (workplace / "models/alone.py").write_text((workplace / "models/sound.py").read_text())
    for name, model in {"good": "alone:mlp", "bad": "unsound:Noisy", "other": "sound:mlp"}.items():
        text = SPEC.format(name=name, model=model)
        (workplace / f"specs/{name}.yaml").write_text(text)
    (workplace / ".gitignore").write_text("artifacts/\nruns/\n__pycache__/\n")
    git(workplace, "init", "-q", "-b", "main")
    git(workplace, "add", "-A")
    git(workplace, "commit", "-q", "-m", "first")
    return workplace


def test_what_a_change_touches_is_released_and_the_worst_code_is_the_gates(repository: Path) -> None:
    for name in ("alone", "unsound"):
        with (repository / f"models/{name}.py").open("a") as stream:
            stream.write("\n# a change\n")
    with (repository / "specs/other.yaml").open("a") as stream:
        stream.write("precision: fp32\n")  # no such key: a mistake in one spec keeps no other from its turn
    files = ("--junit", "ci/gate.xml", "--markdown", "ci/gate.md", "--code-quality", "ci/gate.json")
    done = exporter("gate", "--base", "main", *files, "--annotations", "github", cwd=repository)
    lines = [line for line in done.out.splitlines() if not line.startswith("::")]
    assert [one.split()[:2] for one in lines[:3]] == [
        ["refused", "specs/bad.yaml:"],
        ["passed", "specs/good.yaml:"],
        ["failed", "specs/other.yaml:"],
    ], done.out + done.err
    assert "(models/alone.py changed)" in lines[1] and "unknown key 'precision'" in lines[2]
    assert done.code == 2 and lines[3] == "2 of 3 touched specs did not pass: specs/bad.yaml, specs/other.yaml"
    assert (repository / "artifacts/good/1.0.0/manifest.json").is_file()
    assert not (repository / "artifacts/other").exists()
    root = parse(repository / "ci/gate.xml").getroot()
    tests = {test.get("name"): [one.tag for one in test if one.tag != "system-out"] for test in root[0]}
    assert tests == {"specs/bad.yaml": ["failure"], "specs/good.yaml": [], "specs/other.yaml": ["error"]}
    assert all(float(test.get("time", "-1")) >= 0 for test in root[0])
    engine = next(test for test in root[1] if test.get("name") == "pir/jit_load")
    assert root[1].get("name") == "specs/good.yaml" and 0 < float(engine.get("time", "0")) < float(root[0].get("time"))
    assert (repository / "ci/gate.md").read_text().startswith("# Gate: 2 of 3 touched specs did not pass")
    commands = [line for line in done.out.splitlines() if line.startswith("::")]
    source = (repository / "models/unsound.py").read_text().splitlines()
    at = next(number for number, text in enumerate(source, 1) if text == "class Noisy(Mlp):") + 4
    assert commands[0].startswith(f"::error file=models/unsound.py,line={at},") and "specs/bad.yaml" in commands[0]
    assert commands[-1].startswith("::error file=specs/other.yaml,line=10,col=1,") and "'precision'" in commands[-1]
    quality = json.loads((repository / "ci/gate.json").read_text())
    assert quality[0]["location"] == {"path": "models/unsound.py", "lines": {"begin": at}}
    assert quality[-1]["location"] == {"path": "specs/other.yaml", "lines": {"begin": 10}}
    assert len(quality) == len(commands)


def test_nothing_touched_is_said_plainly_and_is_no_failure(repository: Path) -> None:
    done = exporter("gate", "--base", "main", "--junit", "gate.xml", cwd=repository)
    assert done.code == 0
    assert done.out.splitlines()[-1] == "nothing to gate: the change touches none of 3 specs"
    assert [[one.tag for one in test] for test in parse(repository / "gate.xml").getroot()[0]] == [["skipped"]] * 3
    told = exporter("gate", "--base", "main", "--json", cwd=repository).json()
    assert (told["touched"], told["exit"], {one["word"] for one in told["specs"]}) == (0, 0, {"untouched"})


def test_a_gate_that_finds_no_spec_does_not_pass(tmp_path: Path) -> None:
    refused(exporter("gate", cwd=tmp_path), 2, "no spec was found")
    refused(exporter("gate", "--all", cwd=tmp_path), 2, "no spec was found")


def test_mistakes_are_found_before_any_work(repository: Path) -> None:
    before = contents(repository)
    refused(exporter("gate", "--base", "nowhere", cwd=repository), 2, "git cannot tell what changed")
    refused(exporter("gate", "specs/nix.yaml", cwd=repository), 2, "specs/nix.yaml", "no such spec")
    refused(exporter("gate", "--all", "--junit", "specs", cwd=repository), 2, "specs")
    refused(exporter("gate", "--all", "--code-quality", "specs", cwd=repository), 2, "specs")
    refused(exporter("gate", "--annotations", "gitlab", cwd=repository), 2, "'gitlab'", "--code-quality FILE")
    done = exporter("gate", "--annotations", "github", "--json", cwd=repository)
    assert done.code == 2 and "leave out --json" in done.json()["error"]["hint"]
    assert contents(repository) == before


def test_two_specs_of_one_name_and_version_are_refused_before_any_work(repository: Path) -> None:
    (repository / "specs/team").mkdir()
    text = (repository / "specs/good.yaml").read_text()
    (repository / "specs/team/again.yml").write_text(text.replace("models.alone", "models.sound"))
    before = contents(repository)
    for more in ((), ("--list",), ("--base", "main", "--no-cache"), ("--shard", "1/4")):
        done = exporter("gate", *more, cwd=repository)
        refused(done, 2, "specs/good.yaml", "specs/team/again.yml", "good 1.0.0")
    assert contents(repository) == before
    listed = exporter("gate", "specs/good.yaml", "./specs/good.yaml", "--list", cwd=repository)
    assert listed.code == 0 and listed.out.count("good.yaml") == 1


def test_an_override_that_no_spec_takes_is_a_mistake_where_nothing_is_released_too(repository: Path) -> None:
    for more in ((), ("--base", "main")):
        done = exporter("gate", "--list", *more, "--set", "bugdet=3", cwd=repository)
        assert done.code == 2 and done.out.count("unknown key 'bugdet'") >= 3
    assert exporter("gate", "--list", "--set", "budget=3", cwd=repository).code == 0


def test_what_is_touched_can_be_listed_from_anywhere_and_deleted_specs_are_named(
    repository: Path, tmp_path: Path
) -> None:
    with (repository / "models/alone.py").open("a") as stream:
        stream.write("\n# a change\n")
    (repository / "specs/other.yaml").unlink()
    git(repository, "commit", "-q", "-a", "-m", "a change")
    before = contents(repository)
    done = exporter("gate", "-C", repository, "--base", "main~1", "--list", "--junit", "g.xml", "-q", cwd=tmp_path)
    assert done.code == 0
    assert done.out.splitlines() == [
        "untouched specs/bad.yaml",
        "touched specs/good.yaml (models/alone.py changed)",
        "deleted specs/other.yaml: nothing is gated by it any more",
        "1 of 2 specs are touched; nothing was released; deleted: specs/other.yaml",
    ]
    root = parse(repository / "g.xml").getroot()
    assert [test[0].tag for test in root[0]] == ["skipped"] * 3
    (repository / "g.xml").unlink()
    assert contents(repository) == before


def test_no_train_refuses_what_was_not_trained_and_settings_override_each_spec(repository: Path) -> None:
    text = (repository / "specs/good.yaml").read_text().replace("weights: factory", "recipe: recipes.digits:recipe")
    (repository / "specs/good.yaml").write_text(text)
    done = exporter("gate", "specs/good.yaml", "--no-train", "--set", "formats=[onnx]", cwd=repository)
    assert done.code == 2 and "recipes.digits:recipe" in done.out and not (repository / "runs").exists(), done.out
    done = exporter(
        "gate", "specs/other.yaml", "--set", "formats=[onnx]", "--set", "engines=[onnxruntime]", cwd=repository
    )
    assert done.code == 0, done.out
    assert list((repository / "artifacts/other/1.0.0").rglob("*.onnx"))
    assert not list((repository / "artifacts/other/1.0.0").rglob("*.pdiparams"))
    done = exporter("gate", "--set", "nothing", "specs/other.yaml", cwd=repository)
    assert done.code == 2 and "'nothing' is not key=value" in done.out
