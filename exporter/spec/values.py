"""What an input may be filled with: `normal`, `uniform(a,b)`, `integers(a,b)`, `dataset` or `FILE.npy`.

`integers` may name dims: `integers(1,seq+1)`. Everything that could not be drawn is refused here, before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from exporter.base.errors import closest, did_you_mean
from exporter.spec.advice import AdvisedError

_NUMBER = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_WHOLE = r"(?:-?\d+|[A-Za-z_]\w*(?:[+-]\d+)?)"
_VALUES = re.compile(
    rf"dataset|samples|normal|uniform\(\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\)|integers\(\s*{_WHOLE}\s*,\s*{_WHOLE}\s*\)|.+\.npy"
)
#: Each form as a spec writes it, and what it gives. docs/spec.md is made of these sentences, too.
FORMS = {
    "normal": "Numbers of the standard normal distribution. For floating-point dtypes.",
    "uniform(a,b)": "Numbers drawn evenly from a to b, with a < b. For floating-point dtypes.",
    "integers(a,b)": "Whole numbers drawn evenly from a to b - 1, which the dtype holds. The declared range gives "
    "further cases: all the smallest, all the largest, all different, sorted, every second one repeated, and rows of "
    "padding, of one token, of the last id and of the full length among rows as they are drawn.",
    "integers(0,2)": "A mask or flags. Further cases: all ones, ones with a last zero, ones first, and rows of zeros "
    "and of one 1 among rows as they are drawn; `empty_rows: false` promises that no row is all 0.",
    "integers(1,seq+1)": "A bound may be a named dim, which stands for its size in the case, with a number added or "
    "taken away: here lengths from 1 to seq, the whole row among them. The range has to hold a number at every size of "
    "the dim; `integers(1,seq)` ends at seq - 1, and is refused where seq may be 1.",
    "integers(seq,seq+1)": "One number, the size of the dim: the position of the next token, where `seq` is what is "
    "past (docs/decoding.md).",
    "dataset": "Rows of the recipe's held-out data, which names them as the inputs. The spec has a `recipe`. Rows that "
    "are longer than a named dim is in a case are cropped behind, shorter ones are refused.",
    "samples": "Samples of `pipeline`, for a model with `fold: true`, in an order that is drawn; where a case has more "
    "rows they come again. They are cropped as the recipe's are.",
    "FILE.npy": "Consecutive rows of a NumPy file, from a drawn row on. The file has the input's dtype, its axes after "
    "the first, and at least as many rows as the largest case.",
}
#: Smallest and largest size of each named dim.
Ranges = Mapping[str, tuple[int, int]]


def known_values(text: str) -> str:
    """Return the text.

    Raises:
        ValueError: it is none of the forms.
    """
    if not _VALUES.fullmatch(text):
        word = text.partition("(")[0].strip()
        known = ("dataset", "samples", "normal", "uniform(a,b)", "integers(a,b)")
        forms = {form.partition("(")[0]: form for form in known}
        near = closest(word, forms)
        maybe = f"; did you mean {forms[near]}?" if near else ""
        usual = {"uniform(a,b)": "'uniform(0,1)'", "integers(a,b)": "'integers(0,10)'"}.get(
            forms.get(near, ""), near or "normal"
        )
        hint = f"write values: {usual}"
        raise AdvisedError(f"'{text}' is none of: {', '.join(known)}, FILE.npy{maybe}", hint)
    return text


def are_real(text: str) -> bool:
    """Whether the values are data that somebody has, and not drawn from a range."""
    return text in ("dataset", "samples") or text.endswith(".npy")


def arguments(text: str) -> list[str]:
    """The words between the parentheses."""
    return re.findall(r"[^(),\s]+", text)[1:]


def bound(text: str, sizes: Mapping[str, int]) -> int:
    """A bound of `integers` as a number, where each named dim has this size; raises KeyError for another name."""
    dim, more = parts(text)
    return (sizes[dim] if dim else 0) + more


def parts(text: str) -> tuple[str, int]:
    """A bound as the named dim ("" if it names none) and the number that is added: `seq+1` is ("seq", 1)."""
    found = re.fullmatch(r"([A-Za-z_]\w*)?([+-]?\d+)?", text)
    if found is None:
        raise ValueError(f"'{text}' is no bound of integers")
    return found[1] or "", int(found[2] or 0)


def check_values(text: str, dtype: str, dims: Ranges | None) -> None:
    """Make sure that the values exist and fit the dtype; without `dims`, as far as that can be said.

    Raises:
        ValueError: they cannot be drawn at some size of the dims.
    """
    word = text.partition("(")[0]
    if word in ("normal", "uniform") and not dtype.startswith(("float", "bfloat")):
        what = f"'values: {text}' cannot fill {dtype}; say e.g. integers(0,10)"
        raise AdvisedError(
            what, "write values: 'integers(0,10)'" if dtype != "bool" else "write values: 'integers(0,2)'"
        )
    if word == "uniform":
        low, high = map(float, arguments(text))
        if not low < high:
            raise ValueError(f"{text} holds nothing")
    if word == "integers":
        _check_integers(text, dtype, dims)


def _check_integers(text: str, dtype: str, dims: Ranges | None) -> None:
    starts, stops = (_sizes(number, dims or {}) for number in arguments(text))
    if not starts or not stops:
        if dims is not None:
            unknown = next(parts(number)[0] for number in arguments(text) if not _sizes(number, dims))
            raise ValueError(f"{text}: no dim is called '{unknown}'; {did_you_mean(unknown, dims, 'dims: {}')}")
        return
    (first, low), (last, high) = map(parts, arguments(text))
    if low >= high if first == last else starts[1] >= stops[0]:
        sizes = zip(arguments(text), (starts[1], stops[0]), strict=True)
        named = [f"{number} is {size}" for number, size in sizes if number != str(size)]
        said = f" where {' and '.join(named)}" if named else ""
        nearly = last and not high and starts[1] == stops[0]  # a length that may be the whole row
        more = f"; the second number is not reached: integers({arguments(text)[0]},{last}+1) ends at {last}"
        raise ValueError(f"{text} holds nothing{said}{more if nearly else ''}")
    least, most = _bounds(dtype)
    if starts[0] < least or stops[1] - 1 > most:
        raise ValueError(f"{text} does not fit {dtype}, which holds {least} to {most}")


def _sizes(number: str, dims: Ranges) -> tuple[int, int] | None:
    """The smallest and the largest value of a number or a named dim; None for a dim that is not known."""
    if re.fullmatch(r"-?\d+", number):
        return int(number), int(number)
    dim, more = parts(number)
    return (dims[dim][0] + more, dims[dim][1] + more) if dim in dims else None


def _bounds(dtype: str) -> tuple[int, int]:
    """The whole numbers that a dtype holds exactly."""
    floats = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
    if dtype in floats:
        return -(2 ** floats[dtype]), 2 ** floats[dtype]
    if dtype == "bool":
        return 0, 1
    bits = int(dtype.lstrip("uint"))
    return (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
