"""PaddleOCR: `ppocr.utils.export_model.export(config)`, as its tools/export_model.py."""

from __future__ import annotations

from pathlib import Path

from exporter.export.families.base import Family


class PaddleOCR(Family):
    """Its wheels hold no `ppocr.modeling`; a checkout from 2024-11 on has `ppocr.utils.export_model`."""

    package = "ppocr"
    configs = "configs"
    settings = "inference.yml"

    def export(self, config: Path, weights: Path | None, into: Path) -> None:
        import yaml
        from ppocr.utils.export_model import export

        said = yaml.safe_load(config.read_text(encoding="utf-8"))
        for part in (said["Architecture"], *said["Architecture"].get("Models", {}).values()):
            part.pop("pretrained", None)
            if isinstance(part.get("Backbone"), dict):
                part["Backbone"].pop("pretrained", None)
        of_all = said["Global"]
        of_all["pretrained_model"] = str(weights.with_suffix("")) if weights else None
        of_all["checkpoints"], of_all["use_gpu"], of_all["export_with_pir"] = None, False, True
        export(said, save_path=str(into))


plugin: Family = PaddleOCR()
