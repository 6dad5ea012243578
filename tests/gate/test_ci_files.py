"""The files for CI systems: by the rules of their formats, and their scripts as they stand there, on real repositories.

Nothing here is GitHub, GitLab or Jenkins: a script is run by the shell and with the variables that these document.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any
from xml.etree.ElementTree import parse

import pytest
import yaml

from tests.command import COMMAND, PATIENCE, ROOT, contents, environment
from tests.described import small

#: Where it gives back its input as well, the check refuses it.
MODEL = """import paddle

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.one = paddle.nn.Linear(4, 3)

    def forward(self, x):
        y = self.one(x)
        return {}
"""
TOOLS = Path(sys.executable).parent
ACTION, GITLAB, JENKINS, HOOKS = (
    ROOT / name for name in ("action.yml", "ci/gitlab.yml", "ci/Jenkinsfile", ".pre-commit-hooks.yaml")
)
#: Of docs.github.com/actions/reference/workflows-and-actions/metadata-syntax, for composite actions; and of the schema
#: that editors use (SchemaStore, github-action.json), which lets nothing else stand beside them.
TOP = {"name", "description", "author", "inputs", "outputs", "runs", "branding"}
STEP = {"name", "id", "if", "run", "shell", "env", "working-directory", "uses", "with", "continue-on-error"}
#: Of docs.gitlab.com/ci/yaml: what may stand in a job, as far as it stands in ours.
JOB = {"stage", "image", "variables", "rules", "cache", "before_script", "script", "artifacts"}


def action() -> dict[str, Any]:
    content = yaml.safe_load(ACTION.read_text())
    assert isinstance(content, dict)
    return content


def step(name: str) -> dict[str, Any]:
    return next(one for one in action()["runs"]["steps"] if one["name"] == name)


def gitlab_job() -> dict[str, Any]:
    job = yaml.safe_load(GITLAB.read_text())["exporter-gate"]
    assert isinstance(job, dict)
    return job


def jenkins_stages() -> dict[str, str]:
    """The shell scripts of the Jenkinsfile, by the names of their stages."""
    return {
        name: dedent(script)
        for name, script in re.findall(r"stage\('(\w+)'\) \{\s+steps \{\s+sh '''\n(.*?)'''", JENKINS.read_text(), re.S)
    }


def scripts() -> dict[str, tuple[str, str]]:
    """Every script: the shell that it is for, and its text."""
    found = {f"action.yml {one['name']}": ("bash", one["run"]) for one in action()["runs"]["steps"] if "run" in one}
    job = gitlab_job()
    found["ci/gitlab.yml"] = ("sh", "\n".join([*job["before_script"], *job["script"]]))
    return found | {f"ci/Jenkinsfile {name}": ("sh", text) for name, text in jenkins_stages().items()}


# ------------------------------------------------------------------------------------------------------- the formats


def test_the_action_is_a_composite_one_by_the_documented_syntax() -> None:
    content = action()
    assert {"name", "description", "runs"} <= set(content) <= TOP
    assert len(content["description"]) <= 125, "the marketplace shows no more"
    for told in content["inputs"].values():
        assert {"description"} <= set(told) <= {"description", "required", "default", "deprecationMessage"}
        assert isinstance(told.get("default", ""), str), "YAML would make 3.10 a number"
    assert all(set(told) == {"description", "value"} for told in content["outputs"].values())
    assert set(content["runs"]) == {"using", "steps"} and content["runs"]["using"] == "composite"
    for one in content["runs"]["steps"]:
        assert set(one) <= STEP and ("run" in one) is not ("uses" in one)
        assert ("shell" in one) is ("run" in one), "a composite action has no default shell"
    assert re.fullmatch(r"[a-z-]+", content["branding"]["icon"]) and content["branding"]["color"] == "blue"


def test_what_the_action_refers_to_is_there() -> None:
    text, content = ACTION.read_text(), action()
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(content["inputs"]), "each is declared, and used"
    named = {one["id"]: one.get("run", "") for one in content["runs"]["steps"] if "id" in one}
    for name, output in re.findall(r"steps\.([\w-]+)\.outputs\.([\w-]+)", text):
        assert f'echo "{output}=' in named[name]
    assert {one["uses"].partition("@")[0] for one in content["runs"]["steps"] if "uses" in one} == {
        *("actions/setup-python", "actions/cache/restore", "actions/cache/save", "actions/upload-artifact")
    }
    assert step("Save releases")["with"]["key"] == step("Restore releases")["with"]["key"]
    assert all("${{" not in one["run"] for one in content["runs"]["steps"] if "run" in one), "a name may hold a command"


def test_the_template_of_gitlab_is_a_job_by_the_documented_syntax() -> None:
    job = gitlab_job()
    assert set(job) == JOB and set(yaml.safe_load(GITLAB.read_text())) == {"exporter-gate"}
    assert all(isinstance(value, str) for value in job["variables"].values())
    assert job["variables"]["GIT_DEPTH"] == "0" and job["artifacts"]["when"] == job["cache"]["when"] == "always"
    assert job["cache"]["paths"] == [job["variables"]["EXPORTER_CACHE"] + "/"]
    for file in job["artifacts"]["reports"].values():
        assert file in job["script"][0]


def test_the_jenkinsfile_is_declarative_and_its_brackets_close() -> None:
    text = JENKINS.read_text()
    assert set(jenkins_stages()) == {"Install", "Gate"} and text.count("'''") == 4
    groovy = re.sub(r"'''.*?'''|//[^\n]*", "", text, flags=re.S)
    depth = 0
    for letter in groovy:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0
    assert depth == 0 and re.findall(r"^\w+", groovy, re.MULTILINE) == ["pipeline"]
    assert {"agent", "environment", "stages", "post"} == set(re.findall(r"^ {4}(\w+)", groovy, re.MULTILINE))
    assert "\\" not in "".join(jenkins_stages().values()), "Groovy would take it for its own"


def test_hooks_are_valid_by_pre_commit_itself() -> None:
    done = subprocess.run(
        [TOOLS / "pre-commit", "validate-manifest", HOOKS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    hooks = yaml.safe_load(HOOKS.read_text())
    assert {hook["id"] for hook in hooks} == {"exporter-check", "exporter-gate-list"}
    # https://pre-commit.com/#creating-new-hooks: these must be there
    assert all({"id", "name", "entry", "language"} <= set(hook) for hook in hooks)


@pytest.mark.parametrize("name", scripts())
def test_scripts_are_sound_by_the_shell_and_shellcheck(name: str) -> None:
    shell, text = scripts()[name]
    parsed = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, check=False)
    assert parsed.returncode == 0 and parsed.stderr == ""
    checked = subprocess.run(
        [TOOLS / "shellcheck", f"--shell={shell}", "-"], input=text, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout


# ----------------------------------------------------------------------------------------------------- they really run


@dataclass(frozen=True)
class Project:
    """A repository with two specs, a change of the model of one of them, and `exporter` as a command."""

    work: Path
    home: Path
    commands: Path

    def run(self, shell: list[str], text: str, **variables: str) -> subprocess.CompletedProcess[str]:
        others = [one for one in os.environ["PATH"].split(os.pathsep) if not (Path(one) / "exporter").exists()]
        path = os.pathsep.join([str(self.commands), *others])
        (self.home / "script").write_text(text)
        return subprocess.run(
            [*shell, str(self.home / "script")],
            cwd=self.work,
            env=environment(PATH=path, HOME=str(self.home), **variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once, with the good spec released into the cache of its home, so that each test finds it there."""
    place = tmp_path_factory.mktemp("project")
    work, home = place / "work", place / "home"
    (work / "models").mkdir(parents=True)
    home.mkdir()
    (work / "specs").mkdir()
    for name, given in (("good", "y"), ("bad", "y * max(y.sum(), 0.5)")):
        (work / f"models/{name}.py").write_text(MODEL.format(given))
        content = small(f"models.{name}:Net", name=name, weights="factory", outputs=["y"])
        (work / f"specs/{name}.yaml").write_text(json.dumps(content))
    (work / ".gitignore").write_text("artifacts/\n__pycache__/\n")
    git(work, "init", "-q", "-b", "main")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "first")
    git(work, "checkout", "-q", "-b", "change")
    with (work / "models/good.py").open("a") as stream:
        stream.write("\n# a change\n")
    git(work, "commit", "-q", "-a", "-m", "change")
    command = " ".join(f"'{word}'" if word != COMMAND[2] else f'"{word}"' for word in COMMAND)
    executable(place / "commands/exporter", f'#!/bin/sh\nexec {command} "$@"\n')
    return place


@pytest.fixture
def project(template: Path) -> Project:
    """Each test leaves the working folder as it was, but for what git ignores."""
    work = template / "work"
    git(work, "checkout", "-q", "change")
    git(work, "clean", "-qfdx", "-e", "artifacts")
    return Project(work, template / "home", template / "commands")


BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]  # as GitHub starts it for `shell: bash`
INPUTS = {"EXPORTER": "exporter", "BASE": "", "SPECS": "", "ARGUMENTS": "", "CACHE": "~/.cache/exporter/releases"}


def as_github(project: Project, tmp_path: Path, name: str = "Gate", **more: str) -> subprocess.CompletedProcess[str]:
    files = {key: str(tmp_path / key) for key in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    text = step(name)["run"]
    assert set(step(name)["env"]) <= set(INPUTS) | set(more), "every variable of the step is given here"
    return project.run(BASH, text, **files, RUNNER_TEMP=str(tmp_path), **(INPUTS | more))


def read_outputs(tmp_path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in (tmp_path / "GITHUB_OUTPUT").read_text().splitlines())


def test_the_action_gates_what_a_change_touches(project: Project, tmp_path: Path) -> None:
    done = as_github(project, tmp_path, BASE="main")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed specs/good.yaml" in done.stdout and "untouched specs/bad.yaml" in done.stdout
    assert read_outputs(tmp_path) == {"reports": f"{tmp_path}/exporter-gate", "exit-code": "0"}
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text().startswith("# Gate: all 1 touched specs passed")
    assert (project.home / ".cache/exporter/releases/records").is_dir(), "the cache lies in the home, not in ./~"
    assert parse(tmp_path / "exporter-gate/gate.xml").getroot().get("failures") == "0"
    again = as_github(project, tmp_path, BASE="main")
    assert "good has not changed since it was released" in again.stderr


def test_the_action_fails_with_the_gates_code_and_still_tells_its_results(project: Project, tmp_path: Path) -> None:
    done = as_github(project, tmp_path, SPECS="specs/bad.yaml\n\n", ARGUMENTS="--quiet\n--set\nbudget=5\n", CACHE="")
    assert done.returncode == 1 and read_outputs(tmp_path)["exit-code"] == "1"
    assert re.search(r"^::error file=models/bad\.py,line=10,", done.stdout, re.MULTILINE)
    assert "EX114" in (tmp_path / "GITHUB_STEP_SUMMARY").read_text()
    assert not re.search(r"^· ", done.stderr, re.MULTILINE), "--quiet was heard"


@pytest.mark.parametrize("hostile", ["$(touch forged)", "`touch forged`", "; touch forged", '"; touch forged; "'])
def test_no_input_of_the_action_is_run(project: Project, tmp_path: Path, hostile: str) -> None:
    done = as_github(project, tmp_path, BASE=hostile, SPECS=hostile, ARGUMENTS=f"--list\n{hostile}")
    assert done.returncode == 2 and "forged" not in contents(project.work)
    assert not (tmp_path / "GITHUB_STEP_SUMMARY").exists(), "there is nothing to tell"


def test_the_action_installs_its_own_exporter_and_what_the_models_import(project: Project, tmp_path: Path) -> None:
    make = 'mkdir -p "$2/bin"; for name in exporter python; do printf "#!/bin/sh\\necho $name \\"\\$@\\" >>%s/log\\n"'
    make += ' "$PWD" >"$2/bin/$name"; chmod +x "$2/bin/$name"; done'
    executable(tmp_path / "action/scripts/install", f'#!/bin/sh\necho install "$@" >>log\n{make}\n')
    place = str(tmp_path / "action")
    given = {"GITHUB_ACTION_PATH": place, "GIVEN": "", "REQUIREMENTS": "needs.txt", "FOLDER": "."}
    done = as_github(project, tmp_path, "Install paddle-exporter", **given)
    assert done.returncode == 0, done.stderr
    assert (project.work / "log").read_text().splitlines() == [
        f"install --venv {tmp_path}/exporter-venv",
        "python -m pip install --quiet -r ./needs.txt",
    ]
    assert read_outputs(tmp_path)["exporter"] == f"{tmp_path}/exporter-venv/bin/exporter"
    done = as_github(project, tmp_path, "Install paddle-exporter", **given | {"GIVEN": "/opt/exporter/bin/exporter"})
    assert read_outputs(tmp_path)["exporter"] == "/opt/exporter/bin/exporter"


def as_gitlab(project: Project, **more: str) -> subprocess.CompletedProcess[str]:
    job = gitlab_job()
    text = "\n".join([*job["before_script"], *job["script"]])
    cache = str(project.home / ".cache/exporter/releases")
    return project.run(["sh", "-e"], text, **{**job["variables"], "EXPORTER_CACHE": cache, **more})


def test_the_template_of_gitlab_gates_what_a_merge_request_touches(project: Project) -> None:
    base = git(project.work, "rev-parse", "main")
    done = as_gitlab(project, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed specs/good.yaml" in done.stdout and "untouched specs/bad.yaml" in done.stdout
    assert json.loads((project.work / ".exporter/reports/gate.json").read_text()) == []
    assert git(project.work, "status", "--porcelain") == "", "what it leaves is no part of the change"


def test_the_template_of_gitlab_gates_all_outside_of_a_merge_request(project: Project) -> None:
    done = as_gitlab(project, EXPORTER_ARGUMENTS="--quiet --no-train")
    assert done.returncode == 1 and "1 of 2 touched specs did not pass: specs/bad.yaml" in done.stdout
    reports = project.work / ".exporter/reports"
    issues = json.loads((reports / "gate.json").read_text())
    assert {issue["location"]["path"] for issue in issues} == {"models/bad.py"} and (reports / "gate.md").is_file()
    assert parse(reports / "gate.xml").getroot().get("failures") == "1"


@pytest.mark.parametrize("text", ["gitlab", "Install"])
def test_where_there_is_nothing_to_install_from_it_says_so(project: Project, text: str) -> None:
    (project.home / "empty").mkdir(exist_ok=True)
    bare = Project(project.work, project.home, project.home / "empty")
    if text == "gitlab":
        done = as_gitlab(bare)
    else:
        done = bare.run(["sh", "-xe"], jenkins_stages()[text], EXPORTER_SOURCE="")
    assert done.returncode == 3 and "EXPORTER_SOURCE names no repository" in done.stderr


def test_the_jenkinsfile_fetches_the_target_and_gates_against_it(project: Project, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(project.work, "clone", "-q", "--single-branch", "--branch", "change", f"file://{project.work}", str(clone))
    here = Project(clone, project.home, project.commands)
    stages = jenkins_stages()
    for name in ("Install", "Gate"):
        done = here.run(["sh", "-xe"], stages[name], EXPORTER_SOURCE="", EXPORTER_REF="main", CHANGE_TARGET="main")
        assert done.returncode == 0, done.stdout + done.stderr
    assert "passed specs/good.yaml" in done.stdout and "untouched specs/bad.yaml" in done.stdout
    assert {path.name for path in (clone / ".exporter/reports").iterdir()} == {"gate.xml", "gate.md"}
    assert git(clone, "status", "--porcelain") == ""


@pytest.mark.slow
def test_the_hooks_run_under_pre_commit(project: Project) -> None:
    hooks = [{**hook, "language": "system"} for hook in yaml.safe_load(HOOKS.read_text())]
    (project.work / "hooks.yaml").write_text(json.dumps({"repos": [{"repo": "local", "hooks": hooks}]}))
    with (project.work / "models/good.py").open("a") as stream:
        stream.write("# one more\n")
    git(project.work, "add", "models")
    run = [str(TOOLS / "pre-commit"), "run", "--config", "hooks.yaml", "--color", "never", "--files"]
    own = {"PRE_COMMIT_HOME": str(project.home / "pre-commit"), "GIT_AUTHOR_NAME": "a"}
    done = project.run(["sh", "-e"], " ".join([*run, "models/good.py"]), **own)
    git(project.work, "reset", "-q", "--hard")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "touched specs/good.yaml (models/good.py changed)" in done.stdout
    assert "untouched specs/bad.yaml" in done.stdout
    done = project.run(["sh", "-e"], " ".join([*run, "models/bad.py"]), **own)
    assert done.returncode == 1 and "models/bad.py" in done.stdout and "EX1" in done.stdout
