"""What Paddle recorded of programs that were never finished, dropped before it is taken for a later program's."""

from __future__ import annotations

from typing import Any


def forget_unfinished_programs() -> None:
    """Drop the parameters and the meanings of values that dy2static holds for programs; no trace may be under way.

    It keeps them under the id of the program, and clears them only after a success. A later program at the same address
    otherwise has parameters of the earlier model (jit/dy2static/parameter_recorder.py for PIR, program_translator.py
    for legacy programs, 3.0–3.3.1).
    """
    from exporter.paddle.private import ProgramTranslator, inplace_map, parameter_recorder

    translator = ProgramTranslator.get_instance()
    recorders: list[Any] = [parameter_recorder, inplace_map, translator._params_recorder, translator._inplace_map]
    for recorder in recorders:
        recorder.params_dict.clear()
    parameter_recorder.tensor2value.clear()
