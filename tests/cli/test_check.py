"""`exporter check` and `exporter explain` as a user meets them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

WRONG = """import random
import paddle

class Net(paddle.nn.Layer):
    def forward(self, x):
        return x * random.random()
"""
SOUND = "import paddle\n\nclass Net(paddle.nn.Layer):\n    def forward(self, x):\n        return x * 2\n"


def exporter(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; from exporter.cli import main; sys.argv[0] = 'exporter'; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "/usr/bin:/bin"},
        check=False,
    )


def said_nothing_else(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether standard error holds nothing but what to try, where something was found."""
    tried = re.fullmatch(r"  try: exporter explain EX\d{3}, .*\n", done.stderr)
    return tried is not None if done.returncode else done.stderr == ""


def test_an_error_is_shown_with_its_line_and_exits_1(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(WRONG)
    done = exporter("check", "net.py", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == (
        "error[EX101]: `random.random` draws once, at export; its value becomes a constant\n"
        "  --> net.py:6:20\n"
        "  |\n"
        "6 |         return x * random.random()\n"
        "  |                    ^\n"
        "  = make it an input, guard it with self.training, or draw it with paddle (paddle.uniform)\n"
        "\n"
        "1 error (1 layer in 1 file checked).\n"
    )
    assert done.stderr == "  try: exporter explain EX101, which shows what to write instead\n"


def test_nothing_found_says_how_much_was_checked(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SOUND)
    done = exporter("check", ".", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "No findings (1 layer in 1 file checked).\n")


def test_json_is_the_contract(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(WRONG)
    done = exporter("check", "net.py", "--json", cwd=tmp_path)
    (finding,) = json.loads(done.stdout)["findings"]
    assert list(finding) == ["code", "severity", "path", "line", "column", "message", "cure", "proved"]
    assert (finding["code"], finding["line"], finding["column"], finding["proved"]) == ("EX101", 6, 20, False)


def test_a_wrong_target_exits_2_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SOUND)
    done = exporter("check", "nett.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'net.py'?" in done.stderr
    assert "Traceback" not in done.stderr


def test_explain_prints_the_page_and_knows_what_was_meant(tmp_path: Path) -> None:
    done = exporter("explain", "ex101", cwd=tmp_path)
    assert done.returncode == 0
    assert "Use instead:" in done.stdout
    assert exporter("explain", "EX10l", cwd=tmp_path).returncode == 2


def test_explain_without_a_code_lists_every_one(tmp_path: Path) -> None:
    told = json.loads(exporter("explain", "--json", cwd=tmp_path).stdout)
    lines = exporter("explain", cwd=tmp_path).stdout.splitlines()
    assert lines == [f"{code}  {title}" for code, title in told.items()] and list(told) == sorted(told)
    assert {"EX001", "EX101", "EX206"} <= set(told) and all(told.values())


def test_check_imports_no_heavy_module(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(WRONG)
    code = (
        "import sys; from exporter.check.run import check; check(['net.py']); "
        "heavy = {'paddle', 'numpy', 'onnx', 'onnxruntime', 'pydantic'} & set(sys.modules); assert not heavy, heavy"
    )
    env = {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_check_of_nothing_does_not_pass(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/net.yaml").write_text("name: net\nmodel: net:build\n")
    for target in (".", "specs"):
        done = exporter("check", target, cwd=tmp_path)
        assert done.returncode == 2 and "EX002" in done.stdout
    (tmp_path / "net.py").write_text("x = 1\n")
    assert exporter("check", ".", cwd=tmp_path).returncode == 0  # a hook names each changed file, layer or none


HOSTILE = {
    "does not parse": b"class Net(:\n",
    "not UTF-8": b"NAME = '\xff'\n",
    "a null byte": b"x = 1\x00\n",
    "deep nesting": b"x = " + b"(" * 2000 + b"1" + b")" * 2000 + b"\n",
    "deep attributes": b"x = a" + b".b" * 20_000 + b"\n",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_cannot_be_checked_is_a_finding(kind: str, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_bytes(HOSTILE[kind])
    done = exporter("check", "net.py", "--no-probe", cwd=tmp_path)
    assert done.returncode in (0, 1) and said_nothing_else(done)
    assert "net.py" in done.stdout and ("EX001" in done.stdout or "EX002" in done.stdout)


def test_a_file_of_fifty_thousand_lines_is_read(tmp_path: Path) -> None:
    body = "".join(f"        x = x * {number}.0\n" for number in range(50_000))
    (tmp_path / "net.py").write_text(WRONG.replace("        return", body + "        return"))
    done = exporter("check", "net.py", "--no-probe", cwd=tmp_path)
    assert done.returncode in (0, 1) and "EX003" in done.stdout and said_nothing_else(done)


def test_modules_that_import_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from b import B\nimport paddle\nclass A(B, paddle.nn.Layer):\n    pass\n")
    (tmp_path / "b.py").write_text("from a import A\nclass B(A):\n    def forward(self, x):\n        return self(x)\n")
    done = exporter("check", ".", "--no-probe", cwd=tmp_path)
    assert done.returncode in (0, 1) and said_nothing_else(done)


def test_a_loop_of_links_ends_and_as_a_target_is_refused(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(SOUND)
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "ring").symlink_to("ring")
    assert exporter("check", ".", cwd=tmp_path).returncode == 0
    done = exporter("check", "ring", cwd=tmp_path)
    assert done.returncode == 2 and "link" in done.stderr


@pytest.mark.parametrize("statement", ["import sys; sys.exit(0)", "import time; time.sleep(3600)"])
def test_a_module_that_exits_or_hangs_on_import_is_told_within_the_limit(statement: str, tmp_path: Path) -> None:
    specs = "from paddle.static import InputSpec\nSPECS = [InputSpec([None, 4], 'float32', 'x')]\n"
    (tmp_path / "net.py").write_text(f"{statement}\n{specs}{SOUND}")
    done = exporter("check", "net.py", "--probe", "--timeout", "3", cwd=tmp_path)
    assert done.returncode == 0 and "EX206" in done.stdout and done.stderr == ""
