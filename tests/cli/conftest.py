from __future__ import annotations

from pathlib import Path

import pytest

from tests.exported import exported_artifacts, write_bundle


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported_artifacts(tmp_path_factory)


@pytest.fixture(scope="session")
def bundle(artifacts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound bundle; tests copy it before they change it."""
    return write_bundle(artifacts, tmp_path_factory.mktemp("bundle") / "small")
