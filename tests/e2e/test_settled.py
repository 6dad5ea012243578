"""What the check only predicts refuses nothing that the export or a comparison disproves; and nothing wrong passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import Done, contents, environment, exporter, refused
from tests.sampling import some

INPUT = ("--input", "x=float32[batch,4]", "--dim", "batch=1..4", "--formats", "pir", "--out", "out")


def converted(workplace: Path, model: str) -> Done:
    return exporter("convert", model, *INPUT, "--json", cwd=workplace)


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("StarInputs", "EX108", "yet the export went through"),
        ("TypeName", "EX112", "gives another answer while the model is traced"),
        ("SameType", None, ""),
        ("Configured", "EX101", "where the conditions before it let this run"),
    ],
)
def test_a_sound_model_is_exported_whatever_was_predicted(
    workplace: Path, name: str, code: str | None, said: str
) -> None:
    done = converted(workplace, f"models.doubted:{name}")
    assert done.code == 0, done.out + done.err
    findings = done.json()["findings"]
    assert {one["severity"] for one in findings} <= {"warning"}
    assert [one["code"] for one in findings if said in one["message"]] == ([code] if code else [])
    assert (workplace / "out/pir/model.json").is_file()


def test_what_fails_behind_an_undecided_condition_is_foretold_by_a_warning_and_refused_by_the_export(
    workplace: Path,
) -> None:
    done = converted(workplace, "models.doubted:Hidden")
    assert done.code == 4, done.out + done.err
    findings = {one["code"]: one["severity"] for one in done.json()["error"]["findings"]}
    assert findings == {"EX114": "warning", "EX201": "error"}
    assert not (workplace / "out").exists()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("OtherBranch", "EX112"),
        ("SameValuesOtherBranch", "EX112"),
        ("MaskedQuestion", "EX112"),
        ("Noise", "EX101"),
        ("Counting", "EX103"),
    ],
)
def test_what_would_be_silently_wrong_and_what_fails_as_foretold_is_refused(
    workplace: Path, name: str, code: str
) -> None:
    before = set(contents(workplace))
    done = converted(workplace, f"models.doubted:{name}")
    assert done.code == 1, done.out + done.err
    assert code in [one["code"] for one in done.json()["findings"] if one["severity"] == "error"]
    assert {name for name in set(contents(workplace)) - before if "__pycache__" not in name} == set()


MADE = [
    "by_globals",
    "by_setattr",
    "by_getattr",
    "starred",
    "partial",
    "alias",
    "decorated",
    "conditional",
    "Kept.make",
]


@pytest.mark.parametrize("name", some(MADE, 3))
def test_only_the_import_says_whether_there_is_a_factory(workplace: Path, name: str) -> None:
    checked = exporter("check", "--no-probe", f"models.made:{name}", cwd=workplace)
    assert checked.code == 0 and "error" not in checked.out, checked.out + checked.err
    done = converted(workplace, f"models.made:{name}")
    assert done.code == 0, done.out + done.err
    unseen = name.startswith("by_") or name == "starred"
    assert [one["code"] for one in done.json()["findings"] if one["severity"] == "info"] == ["EX005"] * unseen


def test_a_name_that_the_import_does_not_make_either_is_a_mistake(workplace: Path) -> None:
    checked = exporter("check", "--no-probe", "models.made:by_global", cwd=workplace)
    assert checked.code == 0 and "not checked: 'by_global'" in checked.out
    done = exporter("convert", "models.made:by_global", *INPUT, cwd=workplace)
    refused(done, 2, "models.made has no 'by_global'", "did you mean 'by_globals'?")


@pytest.mark.parametrize("how", ["from otherpackage import Net", "from otherpackage.nets import Net"])
def test_a_class_of_another_package_is_checked_where_it_lies(workplace: Path, tmp_path: Path, how: str) -> None:
    package = tmp_path / "elsewhere/otherpackage"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .nets import Net\nraise SystemExit('it must not be imported')\n")
    (package / "nets.py").write_text(
        "import random\nimport paddle\n\n\nclass Net(paddle.nn.Layer):\n"
        "    def forward(self, x):\n        return x * random.random()\n"
    )
    (workplace / "mine.py").write_text(f"{how}\n\n\ndef build():\n    return Net()\n")
    env = environment(PYTHONPATH=f"{package.parent}:{environment().get('PYTHONPATH', '')}")
    done = exporter("check", "--no-probe", "--json", "mine:build", cwd=workplace, env=env)
    assert done.code == 1, done.out
    assert [(Path(one["path"]).name, one["line"], one["code"]) for one in done.json()["findings"]] == [
        ("nets.py", 7, "EX101")
    ]


def test_a_model_of_paddle_s_own_is_checked_through_a_factory(workplace: Path) -> None:
    (workplace / "mine.py").write_text("import paddle\n\n\ndef build():\n    return paddle.vision.models.resnet18()\n")
    done = exporter("check", "--no-probe", "mine:build", cwd=workplace)
    assert done.code == 0 and "1 layer" in done.out, done.out
