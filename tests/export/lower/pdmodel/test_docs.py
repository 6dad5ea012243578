"""docs/legacy.md and the table are one."""

from pathlib import Path

from exporter.export.lower.pdmodel.describe import markdown


def test_the_generated_table_is_up_to_date():
    page = (Path(__file__).parents[4] / "docs" / "legacy.md").read_text()
    assert markdown() in page
