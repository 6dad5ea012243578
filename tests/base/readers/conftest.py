from __future__ import annotations

from pathlib import Path

import pytest

from tests.exported import exported_artifacts


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported_artifacts(tmp_path_factory)
