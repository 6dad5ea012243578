"""`exporter check` and `exporter explain` as a user meets them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
        "  = draw it with paddle (paddle.uniform), make it an input, or guard it with self.training\n"
        "\n"
        "1 error (1 layer in 1 file checked).\n"
    )
    assert done.stderr == ""


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
    assert "did you mean net.py?" in done.stderr
    assert "Traceback" not in done.stderr


def test_explain_prints_the_page_and_knows_what_was_meant(tmp_path: Path) -> None:
    done = exporter("explain", "ex101", cwd=tmp_path)
    assert done.returncode == 0
    assert "Use instead:" in done.stdout
    assert exporter("explain", "EX10l", cwd=tmp_path).returncode == 2


def test_check_imports_no_heavy_module(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(WRONG)
    code = (
        "import sys; from exporter.check.run import check; check(['net.py']); "
        "heavy = {'paddle', 'numpy', 'onnx', 'onnxruntime', 'pydantic'} & set(sys.modules); assert not heavy, heavy"
    )
    env = {"PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, check=True)
