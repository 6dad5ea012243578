"""PaddleClas: `ppcls.engine.Engine(config, mode="export").export()`, as its tools/export_model.py."""

from __future__ import annotations

from pathlib import Path

from exporter.export.families.base import Family


class PaddleClas(Family):
    """The wheel 2.6.0 holds `ppcls` inside the package `paddleclas`, without its `engine`."""

    package = "ppcls"
    configs = "ppcls/configs"
    settings = "inference.yml"

    def export(self, config: Path, weights: Path | None, into: Path) -> None:
        from ppcls.engine.engine import Engine
        from ppcls.utils.config import get_config

        said = get_config(str(config), overrides=[], show=False)
        said["Arch"]["pretrained"] = False
        if said["Arch"].get("use_sync_bn", False):
            said["Arch"]["use_sync_bn"] = False
        of_all = said["Global"]
        # Its rules for inference.yml end in a KeyError where the labels have no file (2.6).
        labelled = "class_id_map_file" in said.get("Infer", {}).get("PostProcess", {})
        of_all["device"], of_all["save_inference_dir"], of_all["export_for_fd"] = "cpu", str(into), labelled
        of_all["pretrained_model"] = str(weights.with_suffix("")) if weights else None
        Engine(said, mode="export").export()


plugin: Family = PaddleClas()
