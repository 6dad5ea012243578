"""PaddleOCR's networks by its own configuration, from a checkout: no wheel has `ppocr.modeling`.

`--checkout ocr=FOLDER` names the folder that holds `ppocr/` and `configs/`; nothing of it is copied here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evals.zoo.checkouts import checkout
from evals.zoo.network import Network, Tensor

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
#: What each decoder puts before and after the dictionary: their number is all that a network sees of them.
_SPECIAL = {
    "CTCLabelDecode": 1,
    "AttnLabelDecode": 2,
    "ViTSTRLabelDecode": 2,
    "NRTRLabelDecode": 4,
    "TableLabelDecode": 2,
}


@dataclass(frozen=True)
class Configuration:
    """A configuration of PaddleOCR; `image` is (channels, height, width), `steps` the most that a decoder writes.

    `chooses`: a greedy decoder goes on with the letter that won. With random weights the letters are so near each other
    that rounding alone decides, and all that follows is another text; so the biases of the layer that it names are set
    far apart.
    """

    name: str
    path: str
    image: tuple[int, int, int]
    steps: int = 0
    chooses: str = ""


CONFIGURATIONS = (
    Configuration("OCR_DB", "det/det_mv3_db", (3, 64, 64)),
    Configuration("OCR_DB_r50", "det/det_r50_vd_db", (3, 64, 64)),
    Configuration("OCR_EAST", "det/det_mv3_east", (3, 64, 64)),
    Configuration("OCR_PSE", "det/det_mv3_pse", (3, 64, 64)),
    Configuration("OCR_SAST", "det/det_r50_vd_sast_icdar15", (3, 64, 64)),
    Configuration("OCR_CRNN", "rec/rec_mv3_none_bilstm_ctc", (3, 32, 100)),
    Configuration("OCR_Rosetta", "rec/rec_mv3_none_none_ctc", (3, 32, 100)),
    Configuration("OCR_STARNet", "rec/rec_mv3_tps_bilstm_ctc", (3, 32, 100)),
    Configuration("OCR_SVTR", "rec/rec_svtrnet", (3, 32, 64)),
    Configuration("OCR_ViTSTR", "rec/rec_vitstr_none_ce", (1, 224, 224)),
    Configuration("OCR_RARE", "rec/rec_mv3_tps_bilstm_att", (3, 32, 100), chooses="head.generator"),
    Configuration("OCR_NRTR", "rec/rec_mtb_nrtr", (1, 32, 100)),
    Configuration("OCR_SLANet", "table/SLANet", (3, 64, 64), steps=12),
    Configuration("OCR_direction", "cls/cls_mv3", (3, 48, 192)),
    Configuration("OCR_VisionLAN", "rec/rec_r45_visionlan", (3, 64, 256)),
    Configuration("OCR_ABINet", "rec/rec_r45_abinet", (3, 32, 128)),
    Configuration("OCR_SATRN", "rec/rec_satrn", (3, 32, 100), chooses="head.decoder.classifier"),
    Configuration("OCR_CPPD", "rec/rec_svtrnet_cppd_base_en", (3, 32, 100)),
    Configuration("OCR_RFL", "rec/rec_resnet_rfl_visual", (1, 32, 100)),
    Configuration("OCR_PREN", "rec/rec_efficientb3_fpn_pren", (3, 64, 256)),
    Configuration("OCR_FCE", "det/det_r50_vd_dcn_fce_ctw", (3, 64, 64)),
    Configuration("OCR_CT", "det/det_r18_vd_ct", (3, 64, 64)),
)


def builders() -> dict[Configuration, partial[Any]]:
    """A factory for each configuration; empty where no checkout is named."""
    root = checkout("ocr", "ppocr/modeling/architectures")
    if root is None:
        return {}
    return {configuration: partial(_build, configuration, root) for configuration in CONFIGURATIONS}


def _build(configuration: Configuration, root: Path) -> Any:
    """The layer as `tools/export_model.py` builds it: the head is as wide as the decoder's alphabet."""
    import yaml
    from ppocr.modeling.architectures import build_model

    content = yaml.safe_load((root / "configs" / f"{configuration.path}.yml").read_text(encoding="utf-8"))
    architecture = content["Architecture"]
    decoder = content["PostProcess"]["name"]
    if decoder in _SPECIAL or architecture["model_type"] == "rec":
        architecture["Head"]["out_channels"] = _alphabet(content, decoder, root)
    if configuration.steps:
        architecture["Head"]["max_text_length"] = configuration.steps
    for key in ("pretrained", "use_ssld"):  # they download weights
        architecture["Backbone"].pop(key, None)
    layer = build_model(architecture)
    if configuration.chooses:
        bias = layer.get_sublayer(configuration.chooses).bias
        bias.set_value(2 * np.random.default_rng(5).standard_normal(bias.shape).astype("float32"))
    return layer


def _alphabet(content: dict[str, Any], decoder: str, root: Path) -> int:
    path = content["Global"].get("character_dict_path")
    letters = list(_LETTERS)
    if path:
        letters = (root / path.removeprefix("./")).read_text(encoding="utf-8").splitlines()
    if content["Global"].get("use_space_char"):
        letters.append(" ")
    if content["PostProcess"].get("merge_no_span_structure"):  # one token stands for both of an empty cell
        letters = [*(letter for letter in letters if letter not in ("<td>", "<td></td>")), "<td></td>"]
    return len(letters) + _SPECIAL.get(decoder, 0)


def networks() -> list[Network]:
    """PaddleOCR by its own configurations, where a checkout is named."""
    return [
        Network("ocr", configuration.name, build, (Tensor(("batch", *configuration.image), name="x"),), calibrated=True)
        for configuration, build in builders().items()
    ]
