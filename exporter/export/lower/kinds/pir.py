"""PIR (`.json` + `.pdiparams`): what Paddle 3.x writes by default."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path

from exporter.base.files import write_draft
from exporter.export.lower.anchors import anchor_outputs
from exporter.export.lower.base import Details, Format, Wish
from exporter.export.lower.paddle_save import save
from exporter.export.trace.traced import Traced
from exporter.paddle.in_place import remembering_writes
from exporter.paddle.unfolded import keep_unfolded


class Pir(Format):
    """Paddle's own intermediate representation; interchangeable among 3.1 to 3.3."""

    model = "model.json"
    parameters = "model.pdiparams"

    def session(self, target: str | None) -> AbstractContextManager[None]:
        del target
        return remembering_writes()

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Details:
        assert traced is not None  # noqa: S101  # `after` is None, so the caller traced
        anchor_outputs(traced)
        keep_unfolded(traced.layer.forward.concrete_program.main_program)
        save(traced, into, ".json")
        _name_outputs(into / self.model, traced.native_outputs)
        return {}


def _name_outputs(path: Path, names: tuple[str, ...]) -> None:
    """Give the fetch operators our names; Paddle calls them `fetch_name_0`, … (`pir/transforms`, 3.3.1).

    The predictor, `jit.load` and paddle2onnx all take the names from here.
    """
    program = json.loads(path.read_text())
    operations = program["program"]["regions"][0]["blocks"][0]["ops"]
    for operation in operations:
        if operation["#"] == "1.fetch":
            attributes = {one["N"]: one["AT"] for one in operation["A"]}
            attributes["name"]["D"] = names[attributes["col"]["D"]]
    write_draft(path, json.dumps(program, separators=(",", ":")).encode())


plugin: Format = Pir()
