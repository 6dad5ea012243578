from __future__ import annotations

import re
from pathlib import Path

import pytest

from exporter.base.errors import UsageError
from exporter.weights.no_checkpoint import refuse_other_files


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("net.pdopt", "state of an optimizer"),
        ("net.pdiparams", "parameters of an exported program"),
        ("net.json", "exported program, and no checkpoint"),
        ("net", "no such checkpoint"),
        ("nett.pdparams", "no such checkpoint"),
        ("net.pth", "another framework"),
        ("net.onnx", "no checkpoint"),
        ("net.yaml", "no checkpoint"),
        (".", "is a folder"),
    ],
)
def test_the_checkpoint_beside_what_is_none_is_named(tmp_path: Path, name: str, what: str) -> None:
    right = tmp_path / "net.pdparams"
    right.write_bytes(b"whatever")
    path = tmp_path / name
    if name not in (".", "net", "nett.pdparams"):
        path.write_text('{"base_code": {}}')
    with pytest.raises(UsageError, match=what) as caught:
        refuse_other_files(path)
    named = re.search("'([^']+)'", caught.value.hint)
    assert named and Path(named[1]).resolve() == right
    refuse_other_files(right)


def test_without_one_beside_it_a_program_is_converted_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text('{"base_code": {}}')
    (tmp_path / "net.pdiparams").write_bytes(b"whatever")
    for name in ("net.json", "net.pdiparams"):
        with pytest.raises(UsageError) as caught:
            refuse_other_files(tmp_path / name)
        assert caught.value.hint.startswith(f"exporter convert {tmp_path / 'net.json'}")
