from __future__ import annotations

from pathlib import Path

import pytest

from exporter.base.errors import EnvironmentLacks
from exporter.prove.preflight.home import refuse_without_home
from exporter.spec.read import validate
from tests.spec.test_read import PLAIN


def test_a_home_that_cannot_be_written_is_told_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = validate(PLAIN, "here")
    monkeypatch.setenv("HOME", "/proc/none")
    with pytest.raises(EnvironmentLacks, match="cannot be written") as caught:
        refuse_without_home(spec)
    assert caught.value.where == "/proc/none/.cache" and caught.value.hint.startswith("set HOME to a folder")
    refuse_without_home(spec.model_copy(update={"model": "exporter.export.sources.program:build"}))
    monkeypatch.setenv("HOME", str(tmp_path))
    refuse_without_home(spec)
    assert list((tmp_path / ".cache").iterdir()) == []
