"""`args` of a spec: what the factory is called with, in every child, in the bundle, and refused by name."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command import exporter, refused

WIDE = ("convert", "models.unsound:needs_argument", "--input", "input=float32[batch,4]", "--dim", "batch=1..4")


def test_a_factory_is_called_with_its_arguments_and_the_bundle_records_them(workplace: Path) -> None:
    done = exporter(*WIDE, "--formats", "pir", "--set", "args.width=4", "--out", "out", "--json", cwd=workplace)
    assert done.code == 0, done.out + done.err
    manifest = json.loads((workplace / "out/manifest.json").read_text())
    assert manifest["spec"]["args"] == {"width": 4}
    assert manifest["provenance"]["model"] == 'models.unsound:needs_argument {"width":4}'
    refused(exporter(*WIDE, "--set", "args.widht=4", cwd=workplace), 2, "no argument 'widht'", "did you mean 'width'?")
