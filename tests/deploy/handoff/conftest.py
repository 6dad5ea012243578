from __future__ import annotations

from pathlib import Path

import pytest

from tests.exported import exported_artifacts, write_bundle


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound bundle; tests copy it before they change it."""
    return write_bundle(exported_artifacts(tmp_path_factory), tmp_path_factory.mktemp("bundle") / "small")
