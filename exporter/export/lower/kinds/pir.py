"""PIR (`.json` + `.pdiparams`): what Paddle 3.x writes by default."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from exporter.base.files import write_draft
from exporter.export.lower.base import Details, Format, Wish
from exporter.export.lower.paddle_save import save
from exporter.export.trace.structure import leaves
from exporter.export.trace.traced import Traced
from exporter.paddle.declared import declare
from exporter.paddle.in_place import follow_in_place, remembering_writes


class Pir(Format):
    """Paddle's own intermediate representation; interchangeable among 3.1 to 3.3."""

    model = "model.json"
    parameters = "model.pdiparams"

    def session(self, target: str | None) -> AbstractContextManager[None]:
        del target
        return remembering_writes()

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Details:
        assert traced is not None  # noqa: S101  # `after` is None, so the caller traced
        follow_in_place(traced.layer)
        _anchor_outputs(traced)
        save(traced, into, ".json")
        _name_outputs(into / self.model, traced.native_outputs)
        return {}


def _anchor_outputs(traced: Traced) -> None:
    """Put an `assign` behind each output that a `scale` makes, and declare of each what is promised.

    `x + 1` is a scale by 1 with a bias. `normalize_pir_program` takes any scale by 1 of an input or parameter for
    nothing but a name, and fetches `x` itself: the file then puts out another value than eager, without a word
    (`paddle/static/pir_io.py:318`, 3.3.1). It looks at the operator behind the fetch only.
    """
    import paddle

    from exporter.paddle.private import Value

    program = traced.layer.forward.concrete_program

    def anchored(value: Any) -> Any:
        operator = value.get_defining_op() if isinstance(value, Value) else None
        return paddle.assign(value) if operator is not None and operator.name() == "pd_op.scale" else value

    paddle.enable_static()
    try:
        with paddle.static.program_guard(program.main_program):
            program.outputs = paddle.utils.map_structure(anchored, program.outputs)
            for (_, value), promised in zip(leaves(program.outputs), traced.outputs, strict=True):
                other_rank = len(value.shape) != len(promised.shape)
                declare(value, promised.dtype, [-1 for _ in promised.shape] if other_rank else None)
    finally:
        paddle.disable_static()


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
