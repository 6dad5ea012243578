"""Names as a first spec writes them."""

from __future__ import annotations


def yaml_text(name: str) -> str:
    """A name as YAML writes it: `on` and `1.0` in quotes, or they would be read as something else."""
    import yaml

    return str(yaml.safe_dump(name, width=1000)).splitlines()[0]
