"""Operators that libraries append by their legacy name, while a PIR program is traced.

PaddleDetection and others wrap operators in functions that know eager mode and legacy programs only::

    helper = LayerHelper("multiclass_nms3", **locals())
    out = helper.create_variable_for_type_inference(dtype=…)
    helper.append_op(type="multiclass_nms3", inputs={"BBoxes": …}, attrs={…}, outputs={"Out": out, …})
    return out

PIR makes values with their operators, so `out` is a placeholder here, which `append_op` gives the type of the real
value, and which the real value replaces when the program is finished. Which slot and attribute is which argument is
told by Paddle's own tables (`paddle/incubate/autograd/phi_ops_map.py`, 3.0 to 3.3).
"""

from __future__ import annotations

import re
from typing import Any

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor
from exporter.paddle.patches import Patches
from exporter.paddle.refusal import cannot_lower

_WORDS = {"true": True, "false": False, "{}": []}


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    if paddle.in_dynamic_mode():
        return paddle.nn.functional.relu(x)
    from paddle.common_ops_import import LayerHelper

    helper = LayerHelper("relu")
    out = helper.create_variable_for_type_inference(dtype="float32")
    helper.append_op(type="relu", inputs={"X": x}, outputs={"Out": out})
    return out


class LayerHelpers(Fix):
    """`LayerHelper` appends to legacy programs alone."""

    apis = ("paddle.common_ops_import.LayerHelper",)
    formats = ("pir",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        """Patch the three places that such a call passes through; legacy programs go to stock."""
        _install(patches)


def _install(patches: Patches) -> None:
    import paddle

    from exporter.paddle.private import ConcreteProgram, LayerHelper, LayerHelperBase, in_pir_mode

    stock_create = LayerHelperBase.create_variable_for_type_inference
    stock_append, stock_init = LayerHelper.append_op, ConcreteProgram.__init__
    replaced: list[tuple[Any, Any]] = []

    def create(self: Any, dtype: Any, stop_gradient: bool = False, shape: Any = None) -> Any:
        if not in_pir_mode():
            return stock_create(self, dtype, stop_gradient, shape)
        return paddle.full([1], 0, dtype)

    def append_op(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not in_pir_mode():
            return stock_append(self, *args, **kwargs)
        made = _values(kwargs["type"], kwargs.get("inputs") or {}, kwargs.get("attrs") or {})
        for slot, holder in (kwargs.get("outputs") or {}).items():
            placeholder = _only(holder)
            placeholder.set_type(made[slot].type())
            replaced.append((placeholder, made[slot]))
        return made

    def init(self: Any, inputs: Any, outputs: Any, *args: Any, **kwargs: Any) -> None:
        for placeholder, value in replaced:
            placeholder.replace_all_uses_with(value)

        def real(one: Any) -> Any:
            known = (value for placeholder, value in replaced if one is placeholder or _same(one, placeholder))
            return next(known, one)

        outputs = paddle.utils.map_structure(real, outputs) if replaced else outputs
        replaced.clear()
        stock_init(self, inputs, outputs, *args, **kwargs)

    patches.attribute(LayerHelperBase, "create_variable_for_type_inference", create)
    patches.attribute(LayerHelper, "append_op", append_op)
    patches.attribute(ConcreteProgram, "__init__", init)


def _values(operator: str, inputs: dict[str, Any], attributes: dict[str, Any]) -> dict[str, Any]:
    """Call the operator's C++ entry; its results by the names of the legacy slots."""
    from exporter.paddle.private import c_ops, op_info, op_map

    entry = op_map.get(operator)
    name = entry["phi_name"] if entry else operator
    function = getattr(c_ops, name, None)
    if entry is None or name not in op_info or function is None:
        raise cannot_lower(
            f"LayerHelper.append_op(type='{operator}')",
            "a library appends a legacy operator, and PIR has none of that name",
            "export this model as `pdmodel` only, or call the function of paddle that does the same",
        )
    arguments = []
    for kind, parameter, default in _parameters(op_info[name]["args"]):
        if kind.startswith("Tensor"):
            value = inputs.get(entry.get("inputs", {}).get(parameter, parameter))
            arguments.append(value if kind.startswith("Tensor[]") or value is None else _only(value))
        else:
            arguments.append(attributes.get(entry.get("attrs", {}).get(parameter, parameter), default))
    results = function(*arguments)
    results = results if isinstance(results, (list, tuple)) else [results]
    names = re.findall(r"\((\w+)\)", op_info[name]["output"]) or ["out"]
    slots = entry.get("outputs", {})
    return {slots.get(one, one): result for one, result in zip(names, results, strict=True)}


def _parameters(text: str) -> list[tuple[str, str, Any]]:
    """(kind, name, default) of each parameter of `Tensor x, float threshold = 1.0f, str mode="max"`."""
    found = re.findall(r"([\w\[\]<>:]+(?:\([\w\[\]]+\))?) (\w+)(?: *= *(\"[^\"]*\"|\{[^}]*\}|[^,]+))?(?:, *|$)", text)
    return [(kind, name, _default(default)) for kind, name, default in found]


def _default(text: str) -> Any:
    text = text.strip()
    if not text or text in _WORDS:
        return _WORDS.get(text)
    if text.startswith('"'):
        return text.strip('"')
    number = text.rstrip("fL")
    return float(number) if re.search(r"[.e]", number) else int(number) if re.fullmatch(r"-?\d+", number) else None


def _only(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) else value


def _same(one: Any, other: Any) -> bool:
    from exporter.paddle.private import Value

    return isinstance(one, Value) and bool(one.is_same(other))


plugin: Fix = LayerHelpers()
