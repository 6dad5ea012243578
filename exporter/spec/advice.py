"""What pydantic refuses, in a user's words: for each type of its errors a sentence, and the edit that mends it.

An edit stands as it is to be typed, `write version: '1.0'` or `add typical: 1`; what follows a semicolon is no part
of it. Only types of errors are told apart here, never keys: what a key takes stands in its field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue
from pydantic_core import ErrorDetails

from exporter.base.errors import closest
from exporter.base.references import as_reference

#: Where nothing closer is known.
WHOLE = "change it; `exporter init --schema` describes every key"
#: The patterns of texts, as inputs.py and model.py use them.
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
IDENTIFIER = r"^[A-Za-z_][A-Za-z0-9_]*$"
REFERENCE = r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$"
DIM_SIZE = r"^[A-Za-z_][A-Za-z0-9_]*(\+[1-9][0-9]*)?$"
DEVICE = r"^(auto|cpu|gpu(:\d+)?)$"
SAFETENSORS = r"\.safetensors$"
#: Words of other libraries and of speech, and what a spec calls it.
_MEANT = {
    **{"float": "float32", "single": "float32", "fp32": "float32", "double": "float64", "half": "float16"},
    **{"int": "int64", "long": "int64", "byte": "uint8", "boolean": "bool"},
    **{"yes": "true", "on": "true", "no": "false", "off": "false"},
    **{"paddle": "pdmodel", "json": "pir", "inference": "pdmodel", "cuda": "gpu"},
}
_TRUTH = {"true": True, "false": False}
_SHOWN = 60


class AdvisedError(ValueError):
    """What a validator of the spec refuses, with the edit that mends it as its `hint`."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.hint = hint


@dataclass(frozen=True)
class Example:
    """A value that a key takes, as metadata of its type; `like` names a key beside it whose value it takes, too."""

    value: JsonValue
    like: str = ""


@dataclass(frozen=True)
class Wrong:
    """A value that was refused: its key, itself, as the file writes it, and values that its field takes."""

    key: str | int
    value: object
    text: str
    examples: Sequence[object] = ()
    description: str = ""
    optional: bool = False

    def edit(self, value: object) -> str:
        """Return the hint that puts another value in its place."""
        plain = _flow(value)
        return f"write {plain}, in place of {self.shown}" if isinstance(self.key, int) else f"write {self.key}: {plain}"

    @property
    def shown(self) -> str:
        """The value, shortened to what a line can hold."""
        text = f"'{self.value}'" if isinstance(self.value, str) else self.text or _flow(self.value)
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

    @property
    def example(self) -> str:
        """Return the hint with a value that the field takes, or to leave out what may be; else the general one."""
        if self.examples:
            return self.edit(self.examples[0])
        return f"remove {self.key}" if self.optional else WHOLE


def _flow(value: object) -> str:
    """Plain data in a line of YAML; text with no quotes unless it needs them."""
    if isinstance(value, str):
        quoted = not re.fullmatch(r"[A-Za-z_][\w.:/-]*(?<!:)", value) or value.lower() in ("true", "false", "null")
        return "'" + value.replace("'", "''") + "'" if quoted else value
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return json.dumps(value, default=str)


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "a truth value"
    kinds = ((str, "text"), ((int, float), "a number"), (dict, "a mapping"), ((list, tuple), "a list"))
    return next((name for types, name in kinds if isinstance(value, types)), "nothing")


def _but(wrong: Wrong, wanted: str) -> str:
    return f"{wrong.shown} is {_kind(wrong.value)}, and {wanted} is needed"


def _missing(wrong: Wrong, _: ErrorDetails) -> tuple[str, str]:
    about = wrong.description.partition(". ")[0].rstrip(".")
    add = f"add {wrong.key}: {_flow(wrong.examples[0])}" if wrong.examples else f"add {wrong.key}"
    return "is missing", f"{add}; {about[:1].lower()}{about[1:]}" if about else add


def _text(wrong: Wrong, _: ErrorDetails) -> tuple[str, str]:
    number = isinstance(wrong.value, (bool, int, float))
    quoted = "'" + (wrong.text or _flow(wrong.value)) + "'"
    hint = f"write {wrong.key}: {quoted}; in quotes it is text" if number else wrong.example
    return _but(wrong, "text"), hint


def _pattern(wrong: Wrong, fault: ErrorDetails) -> tuple[str, str]:
    text = str(wrong.value)
    wanted, mend = FORMS.get(fault["ctx"]["pattern"], ("text of another form", lambda _: None))
    mended = mend(text)
    hint = f"rename it to {_flow(mended)}" if fault["loc"][-1] == "[key]" else wrong.edit(mended)
    return f"'{text[:_SHOWN]}' is not {wanted}", wrong.example if mended is None else hint


def _whole(wrong: Wrong, _: ErrorDetails) -> tuple[str, str]:
    return _but(wrong, "a whole number"), _number(wrong, int)


def _real(wrong: Wrong, _: ErrorDetails) -> tuple[str, str]:
    return _but(wrong, "a number"), _number(wrong, float)


def _number(wrong: Wrong, kind: Callable[[float], float]) -> str:
    """Return the hint that writes the value as such a number, where it is one that is written otherwise."""
    try:
        number = kind(float(wrong.value)) if isinstance(wrong.value, (str, float)) else None
    except (ValueError, OverflowError):
        number = None
    if number is None:
        return wrong.example
    return wrong.edit(int(number) if number == int(number) else number)


def _truth(wrong: Wrong, _: ErrorDetails) -> tuple[str, str]:
    word = str(wrong.value).lower()
    known = _TRUTH.get(_MEANT.get(word, word), wrong.value in (1, "1"))
    return f"{wrong.shown} is neither true nor false", wrong.edit(known)


def _list(wrong: Wrong, _: ErrorDetails) -> tuple[str, str]:
    plain = isinstance(wrong.value, (str, int, float)) and not isinstance(wrong.value, bool)
    words = wrong.value.split(",") if isinstance(wrong.value, str) else []
    items: list[object] = [int(word) if word.strip().isdecimal() else word.strip() for word in words] or [wrong.value]
    return _but(wrong, "a list"), wrong.edit(items) if plain else wrong.example


def _mapping(wrong: Wrong, _: ErrorDetails) -> tuple[str, str]:
    return _but(wrong, "a mapping of keys to values"), wrong.example


def _choice(wrong: Wrong, fault: ErrorDetails) -> tuple[str, str]:
    choices = re.findall("'([^']+)'", str(fault["ctx"]["expected"]))
    return f"{wrong.shown} is none of {', '.join(choices)}", near(wrong, choices) or wrong.edit(choices[0])


def near(wrong: Wrong, choices: Sequence[str]) -> str:
    """Return the hint that names the choice which was likely meant; "" where none is near."""
    meant = _MEANT.get(str(wrong.value).lower(), "")
    likely = meant if meant in choices else closest(str(wrong.value), choices)
    return f"did you mean '{likely}'?" if likely else ""


def _bound(wrong: Wrong, fault: ErrorDetails) -> tuple[str, str]:
    words = {"ge": "at least {}", "gt": "more than {}", "le": "at most {}", "lt": "less than {}"}
    name, bound = next((name, fault["ctx"][name]) for name in words if name in fault["ctx"])
    allowed = {"ge": bound, "le": bound, "lt": bound - 1 if isinstance(bound, int) else None}.get(name)
    plain = int(bound) if bound == int(bound) else bound
    hint = wrong.edit(int(allowed) if allowed == int(allowed) else allowed) if allowed is not None else wrong.example
    return f"{wrong.shown} is out of bounds: it has to be {words[name].format(plain)}", hint


def _few(wrong: Wrong, fault: ErrorDetails) -> tuple[str, str]:
    least = fault["ctx"].get("min_length", 1)
    if isinstance(wrong.value, str):
        return f"{wrong.shown} is too short: at least {least} characters are needed", wrong.example
    usual = wrong.examples[0] if wrong.examples else ()
    hint = wrong.edit(list(usual)[:least]) if isinstance(usual, (list, tuple)) and usual else wrong.example
    return f"is empty: at least {least} is needed", hint


def _many(wrong: Wrong, fault: ErrorDetails) -> tuple[str, str]:
    most = fault["ctx"]["max_length"]
    return f"{wrong.shown} is too long: at most {most} characters are taken", wrong.edit(str(wrong.value)[:most])


def _finite(wrong: Wrong, _: ErrorDetails) -> tuple[str, str]:
    return f"{wrong.shown} is not a finite number", wrong.example


def _day(wrong: Wrong, _: ErrorDetails) -> tuple[str, str]:
    return f"{wrong.shown} is no day", wrong.example


def _refused(_: Wrong, fault: ErrorDetails) -> tuple[str, str]:
    message = fault["msg"].removeprefix("Value error, ")
    return message[0].lower() + message[1:], getattr(fault.get("ctx", {}).get("error"), "hint", WHOLE)


def _joined(text: str, joint: str, first: str) -> str | None:
    """Letters, digits and what else is allowed, with a joint for everything between; None where nothing is left."""
    words = re.sub(first, "", re.sub(r"[^A-Za-z0-9._]+" if joint == "-" else r"[^A-Za-z0-9]+", joint, text))
    return words.strip(joint) or None


def _as_size(text: str) -> int | str | None:
    return int(text) if text.isdecimal() and int(text) else _joined(text, "_", r"^[^A-Za-z_]+")


def _as_device(text: str) -> str:
    word = text.lower()
    return "gpu" if word.startswith(("cuda", "gpu")) else "cpu" if word.startswith("cpu") else "auto"


#: What text of each pattern is, and how text of another form becomes such.
FORMS: dict[str, tuple[str, Callable[[str], JsonValue]]] = {
    NAME: (
        "a name of letters, digits, '.', '_' and '-'",
        lambda text: _joined(text, "-", r"^[^A-Za-z0-9]+"),
    ),
    IDENTIFIER: (
        "a name of letters, digits and '_' that begins with a letter",
        lambda text: _joined(text, "_", r"^[^A-Za-z_]+"),
    ),
    REFERENCE: ("module:attribute, as mypackage.models:build", as_reference),
    DIM_SIZE: ("a number, or the name of a dim, as batch or past+1", _as_size),
    DEVICE: ("auto, cpu, gpu or gpu:N", _as_device),
    SAFETENSORS: ("the path of a .safetensors file", lambda _: None),
}
_ADVICE: dict[str, Callable[[Wrong, ErrorDetails], tuple[str, str]]] = {
    **{"missing": _missing, "string_type": _text, "string_pattern_mismatch": _pattern},
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), _whole),
    **dict.fromkeys(("float_type", "float_parsing"), _real),
    **dict.fromkeys(("bool_type", "bool_parsing"), _truth),
    **dict.fromkeys(("tuple_type", "list_type"), _list),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), _mapping),
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal"), _bound),
    **dict.fromkeys(("too_short", "string_too_short"), _few),
    **{"literal_error": _choice, "string_too_long": _many, "finite_number": _finite},
    **dict.fromkeys(("date_type", "date_from_datetime_parsing", "date_parsing", "date_from_datetime_inexact"), _day),
}


def advised(wrong: Wrong, fault: ErrorDetails) -> tuple[str, str]:
    """Return what is wrong with a value, as the rest of a sentence that its key begins, and what to do."""
    return _ADVICE.get(fault["type"], _refused)(wrong, fault)


def suits(fault: ErrorDetails) -> bool:
    """Return whether an error is about a value of the type that was wanted: in a union the likely one."""
    numbers: tuple[type, ...] = (int, float)
    kinds = {"string": (str,), "int": numbers, "float": numbers, "greater": numbers, "less": numbers}
    wanted = kinds.get(fault["type"].partition("_")[0])
    return wanted is not None and isinstance(fault["input"], wanted) and not fault["type"].endswith("_type")
