"""docs/legacy.md and the table are one."""

from pathlib import Path

from tools.pdmodel_tables import markdown


def test_the_generated_table_is_up_to_date():
    page = (Path(__file__).parents[2] / "docs" / "legacy.md").read_text()
    assert markdown() in page
