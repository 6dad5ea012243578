"""What the static check says of targets, of bad input, and of helpers that forward calls."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from exporter.base.diagnostics import Severity
from exporter.base.errors import UsageError
from exporter.check.inputs import Input
from exporter.check.run import check, examine
from exporter.check.targets import Target
from exporter.export.families import factory

HEADER = "import random\nimport paddle\nimport paddle.nn as nn\n"


def write(folder: Path, text: str, name: str = "net.py") -> str:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return str(file)


def lines(target: str) -> list[tuple[str, int]]:
    return [(each.code, each.location.line) for each in check([target])]


def test_a_helper_function_of_the_file_is_followed(tmp_path: Path) -> None:
    text = HEADER + "def draw():\n    return random.random()\nclass Net(nn.Layer):\n    def forward(self, x):\n"
    assert lines(write(tmp_path, text + "        return x * draw()\n")) == [("EX101", 5)]


def test_a_method_is_followed_and_other_methods_are_not(tmp_path: Path) -> None:
    text = HEADER + (
        "class Net(nn.Layer):\n"
        "    def used(self):\n"
        "        return random.random()\n"
        "    def unused(self):\n"
        "        return random.random()\n"
        "    def forward(self, x):\n"
        "        return x * self.used()\n"
    )
    assert lines(write(tmp_path, text)) == [("EX101", 6)]


def test_a_module_of_the_same_package_is_followed_to_its_own_line(tmp_path: Path) -> None:
    write(tmp_path, "", "pack/__init__.py")
    write(tmp_path, "import random\n\ndef draw():\n    return random.random()\n", "pack/tools.py")
    net = HEADER + "from .tools import draw\nclass Net(nn.Layer):\n    def forward(self, x):\n"
    net += "        return x * draw()\n"
    found = check([write(tmp_path, net, "pack/net.py")])
    assert [(Path(each.location.path).name, each.location.line) for each in found] == [("tools.py", 4)]


def test_what_only_training_does_is_not_exported(tmp_path: Path) -> None:
    text = HEADER + (
        "class Net(nn.Layer):\n"
        "    def forward(self, x):\n"
        "        if self.training and random.random() < 0.5:\n"
        "            x = x * random.random()\n"
        "        return x * 2\n"
    )
    assert lines(write(tmp_path, text)) == []


def test_a_base_class_under_another_name_is_a_layer(tmp_path: Path) -> None:
    text = "import random\nfrom paddle.nn import Layer as Base\nclass Mid(Base):\n    pass\nclass Net(Mid):\n"
    assert lines(write(tmp_path, text + "    def forward(self, x):\n        return x * random.random()\n")) == [
        ("EX101", 7)
    ]


def test_state_written_before_it_is_read_is_no_state(tmp_path: Path) -> None:
    text = HEADER + (
        "class Net(nn.Layer):\n"
        "    def half(self):\n"
        "        return self.n / 2\n"
        "    def forward(self, x):\n"
        "        self.n = x.shape[0]\n"
        "        return x * self.half()\n"
    )
    assert lines(write(tmp_path, text)) == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"def f(:\n", "not valid Python"),
        (b"x = '\xff'\n", "not UTF-8"),
        (b"x = " + b"(" * 5000 + b")" * 5000, "nested"),
        (b"x = " + b"1+" * 200_000 + b"1", "nested"),
        (b"x = 1\0", "not valid Python"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "bad.py"
    file.write_bytes(content)
    (found,) = check([str(file)])
    assert found.code == "EX001"
    assert says in found.message


def test_a_check_of_nothing_says_so(tmp_path: Path) -> None:
    found = examine([write(tmp_path, "x = 1\n")])
    assert [each.code for each in found.findings] == ["EX002"]
    assert found.layers == 0


def test_a_factory_whose_layer_reading_does_not_find_is_named_where_it_lost_it(tmp_path: Path) -> None:
    text = "import importlib\n\n\ndef build():\n    made = importlib.import_module('nets')\n    return made.Net()\n"
    path = Path(write(tmp_path, text))
    (found,) = examine([Target(path, "build")]).findings
    assert (found.code, found.severity, found.location.line) == ("EX002", Severity.WARNING, 6)
    assert "'build' gives: it returns `made.Net()`" in found.message
    (noted,) = examine([Target(path, "build", (Input("x", (2, 4), "float32"),))]).findings
    assert noted.severity is Severity.INFO, "a spec's model is run by convert"


def test_the_model_of_a_family_is_told_to_be_built_by_its_export() -> None:
    arguments = (("family", "'paddledet'"), ("config", "'configs/a.yml'"))
    (found,) = examine([Target(Path(factory.__file__), "build", arguments=arguments)]).findings
    assert (found.code, found.location.path) == ("EX002", "configs/a.yml")
    assert "the export of paddledet builds the model when it runs" in found.message


def test_of_one_class_a_comment_in_another_is_not_said_to_ignore_nothing(tmp_path: Path) -> None:
    body = (
        "(nn.Layer):\n    def forward(self, x):\n        return x * random.random()  # exporter: ignore[EX101] noise\n"
    )
    path = write(tmp_path, HEADER + f"class One{body}class Other{body}")
    assert not examine([Target(Path(path), "One")]).findings
    assert not examine([path]).findings


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "class Net(nn.Layer):\n    def forward(self, x):\n        return x * 2\n")
    (tmp_path / "again").symlink_to(tmp_path, target_is_directory=True)
    assert examine([str(tmp_path)]).files == 1
    (tmp_path / "self").symlink_to(tmp_path / "self")
    with pytest.raises(UsageError):
        check([str(tmp_path / "self")])


@pytest.mark.parametrize("target", ["nowhere.py", "no.such.module:Net", "a:b:c", "data.bin", "."])
def test_targets_that_are_wrong_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.bin").write_bytes(b"\0")
    if target == ".":
        assert [each.code for each in check([target])] == ["EX002"]
        return
    with pytest.raises(UsageError) as error:
        check([target])
    assert error.value.hint


def test_a_reference_checks_only_that_class_and_a_name_that_reading_does_not_find_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEADER + (
        "class A(nn.Layer):\n    def forward(self, x):\n        return x * random.random()\n"
        "class B(nn.Layer):\n    def forward(self, x):\n        return x * random.random()\n"
    )
    write(tmp_path, text, "two.py")
    monkeypatch.chdir(tmp_path)
    assert [each.location.line for each in check(["two:B"])] == [9]
    (unseen,) = check(["two:C"])
    assert (unseen.code, unseen.severity, unseen.location.path) == ("EX005", Severity.WARNING, "two.py")
    assert "not checked: 'C'" in unseen.message, "the import may make it"


def test_no_code_of_the_target_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import os\nos.environ['RAN'] = 'yes'\nraise SystemExit(3)\n" + HEADER
    write(tmp_path, text + "class Net(nn.Layer):\n    def forward(self, x):\n        return x * 2\n", "loud.py")
    monkeypatch.chdir(tmp_path)
    assert check(["loud:Net"]) == ()
    assert "RAN" not in os.environ


def test_codes_are_selected_and_ignored(tmp_path: Path) -> None:
    net = "class Net(nn.Layer):\n    def forward(this, x):\n        return random.random(), x\n"
    file = write(tmp_path, HEADER + net)
    assert {each.code for each in check([file])} >= {"EX101", "EX105", "EX106"}
    assert {each.code for each in check([file], select=["EX105"])} == {"EX105"}
    assert "EX106" not in {each.code for each in check([file], ignore=["EX106"])}
    with pytest.raises(UsageError, match="EX999"):
        check([file], select=["EX999"])


STATE = "class Net(nn.Layer):\n    def __init__(self):\n        super().__init__()\n        self.seen = {}\n"


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("        self.seen['y'] = x * 2\n        return self.seen['y'] + 1\n", []),
        ("        self.seen['y'] = x * 2\n        return self.seen['z'] + 1\n", ["EX103"]),
        ("        self.kept = x * 2\n        return self.kept + 1\n", []),
        ("        self.kept = self.kept + x\n        return self.kept + 1\n", ["EX103"]),
        ("        x = x * 2\n        for i in range(3):\n            x = x + i\n        return x\n", []),
        ("        x = x * 2\n        x[:, 0] = 0.0\n        return x\n", []),
        ("        assert x.shape[0] > 0\n        return x * 2\n", []),
        ("        print(x, f'{x}')\n        return x * 2\n", []),
    ],
)
def test_state_is_what_the_next_call_can_see(tmp_path: Path, body: str, codes: list[str]) -> None:
    file = write(tmp_path, HEADER + STATE + "    def forward(self, x):\n" + body)
    assert [each.code for each in check([file]) if each.severity is Severity.ERROR] == codes


def test_a_form_feed_moves_no_line(tmp_path: Path) -> None:
    """The parser counts no line for it, so that a comment behind it speaks for its own line."""
    (tmp_path / "net.py").write_text(
        "import numpy as np\nimport paddle\n\x0c\n\nclass Net(paddle.nn.Layer):\n    def forward(self, x):\n"
        "        y = x * 2.0\n        return paddle.to_tensor(np.sort(y))  # exporter: ignore[EX113] one of a page\n"
    )
    assert not check([str(tmp_path / "net.py")])


def test_a_check_leaves_no_garbage(tmp_path: Path) -> None:
    """What it read is freed at once: to look for garbage among 100,000 lines of trees took a fifth of a check.

    Other threads of this process leave some of theirs; what a check leaves would be there each time.
    """
    code = (
        "class Net{0}(nn.Layer):\n    def __init__(self):\n        super().__init__()\n"
        "        self.act = self.double\n\n"
        "    def double(self, x):\n        return x * 2.0\n\n    def forward(self, x):\n        def twice(y):\n"
        "            return twice(y) if y is None else y + x\n\n        return twice(self.act(x))\n\n\n"
    )
    left = []
    for attempt in range(4):
        (tmp_path / f"{attempt}").mkdir()
        for number in range(4):
            layers = "".join(code.format(f"{attempt}x{each}") for each in range(50))
            (tmp_path / f"{attempt}/net{number}.py").write_text(HEADER + layers)
        gc.collect()
        gc.disable()
        try:
            assert examine([str(tmp_path / f"{attempt}")]).layers == 200
            left.append(gc.collect())
        finally:
            gc.enable()
    assert min(left[1:]) < 100, left
