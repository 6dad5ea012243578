"""PaddleX 3: `inference.json` (or `.pdmodel`), `inference.pdiparams`, and the steps in `inference.yml`.

By paddlex/inference/models of 3.7: a folder is loaded by `create_model(MODEL_NAME, model_dir=FOLDER)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from exporter.handoff._beside import StepsBeside
from exporter.handoff.base import Chosen, Target


class PaddleX(StepsBeside):
    """The form of the steps is that of the family whose words can say them."""

    families: ClassVar[Sequence[str]] = ("paddleclas", "paddleocr", "paddleseg", "paddledet")
    file = "inference.yml"
    stem = "inference"
    runtime = "PaddleX"
    start = """
    python -c "import paddlex; m = paddlex.create_model('{name}', model_dir='.'); print(next(m.predict('picture.png')))"

PaddleX knows models by their names, and `{name}` has to be one of those whose task is this model's: give the spec that
name.
"""

    def about(self, chosen: Chosen, content: Mapping[str, Any]) -> dict[str, Any]:
        return {"Global": {"model_name": chosen.manifest.name}, **content}


plugin: Target = PaddleX()
