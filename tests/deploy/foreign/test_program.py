"""A runtime's program in its child: what it may not do, and how it ends."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from exporter.base.errors import EnvironmentLacks, ModelError
from exporter.deploy.foreign.program import Program
from exporter.process.workers import Limits

ADDRESS = "print(id(object()) if False else open('/proc/self/maps').readline().split('-')[0])"


def program(code: str, tmp_path: Path) -> Program:
    script = tmp_path / "script.py"
    script.write_text(code)
    return Program("a runtime", (sys.executable, "-B", str(script)), Limits(60), "install it")


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        ("import sys; sys.stderr.write('no module\\n'); sys.exit(3)", EnvironmentLacks, "is not installed: no module"),
        (
            "import sys; sys.stderr.write('layer Foo\\nno such layer\\n'); sys.exit(4)",
            ModelError,
            "layer Foo | no such",
        ),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", ModelError, "it was ended by SIGSEGV"),
        ("import sys; sys.exit(1)", ModelError, "no message"),
        (
            "import sys; sys.stderr.write('W0000 00:00:17.3  20 placer.cc:177] twice\\nno such axis\\n'); sys.exit(4)",
            ModelError,
            "fails where it starts: no such axis",
        ),
        ("print('no object')", ModelError, "ended without a word of what it did"),
    ],
)
def test_each_end_is_an_error_of_its_kind(code: str, kind: type[Exception], said: str, tmp_path: Path) -> None:
    with pytest.raises(kind) as caught:
        program(code, tmp_path).version(tmp_path)
    assert said in str(caught.value)


def test_it_has_no_network(tmp_path: Path) -> None:
    """A server of the loopback of this test is out of its reach, where the system lets a process leave the network."""
    code = (
        "import os\n"
        "outside = os.environ.get('http_proxy') != 'http://127.0.0.1:9'\n"
        "print(sorted(os.listdir('/sys/class/net')) if outside else 'no proxy answers')\n"
    )
    assert program(code, tmp_path).run(tmp_path, "looks").strip() == "no proxy answers"


@pytest.mark.skipif(sys.platform != "linux", reason="personality(2) is Linux' own")
def test_its_memory_lies_at_the_same_addresses_each_time(tmp_path: Path) -> None:
    found = {program(ADDRESS, tmp_path).run(tmp_path, "looks") for _ in range(3)}
    assert len(found) == 1


def test_what_it_leaves_in_its_home_is_left_in_the_temporary_folder(tmp_path: Path) -> None:
    code = "import os, pathlib\npathlib.Path.home().joinpath('cache').write_text('x')\n"
    program(code, tmp_path).run(tmp_path, "writes")
    assert (tmp_path / "cache").read_text() == "x"
