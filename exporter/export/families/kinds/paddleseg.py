"""PaddleSeg: `paddleseg.core.export.export`, as its tools/export.py."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from exporter.export.families.base import Family


class PaddleSeg(Family):
    """The picture has any size; argmax is appended, as its tools/export.py does unless told otherwise.

    The wheel 2.8.0 has no `paddleseg.core.export`; a checkout from 2024 on has it.
    """

    package = "paddleseg"
    configs = "configs"
    settings = "inference.yml"

    def export(self, config: Path, weights: Path | None, into: Path) -> None:
        import yaml
        from paddleseg.core.export import export
        from paddleseg.cvlibs import Config

        said = _without_pretrained(Config(str(config)).dic)
        whole = into / "config.yml"
        whole.write_text(yaml.safe_dump(said), encoding="utf-8")
        asked = Namespace(config=str(whole), model_path=str(weights) if weights else None, save_dir=str(into))
        asked.output_op, asked.input_shape, asked.for_fd = "argmax", None, True
        export(asked)


def _without_pretrained(said: Any) -> Any:
    if isinstance(said, dict):
        return {key: _without_pretrained(value) for key, value in said.items() if key != "pretrained"}
    return [_without_pretrained(value) for value in said] if isinstance(said, list) else said


plugin: Family = PaddleSeg()
