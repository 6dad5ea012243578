"""A job: a function that a child runs, with the types of its request and its answer.

It is marked where it is written, and passed as it is; nothing else can be run in a child::

    @job
    def record(request: RecordRequest) -> RecordAnswer: ...

    answer = call(record, RecordRequest(spec, checkpoint), setting.limits)

Request and answer are frozen dataclasses of plain values, paths, enums, pydantic models and more of such dataclasses.
They travel as JSON, and both sides check them: what arrives is exactly what the type on this side would send.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, get_type_hints, overload

from exporter.base.errors import first_fault

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Q = TypeVar("Q")
A = TypeVar("A")
T = TypeVar("T")
_NOTHING = object()


class NotOfType(ValueError):
    """A request or an answer that is not of the type that was agreed on; says where and why."""


@dataclass(frozen=True, eq=False)
class Job(Generic[Q, A]):
    """A function that a child may run. `reuse` says what it does, in words and fields of its request.

    Where it is not empty, an answer may be used again: it follows from the request and from what is read, and the
    function writes nothing but where the request says. Without it the function always runs: training, which keeps its
    own runs, and whatever measures a time.
    """

    function: Callable[[Q], A]
    reuse: str = ""

    @property
    def address(self) -> str:
        """The name by which a child finds it, `module:function`."""
        return f"{self.function.__module__}:{self.function.__qualname__}"

    @cached_property
    def types(self) -> tuple[type[Q], type[A]]:
        """The types of the request and of the answer."""
        hints = get_type_hints(self.function)
        answer = hints.pop("return")
        (request,) = hints.values()
        return request, answer

    def __call__(self, request: Q) -> A:
        """Run it in this process."""
        return self.function(request)


@overload
def job(function: Callable[[Q], A]) -> Job[Q, A]: ...
@overload
def job(*, reuse: str) -> Callable[[Callable[[Q], A]], Job[Q, A]]: ...
def job(
    function: Callable[[Q], A] | None = None, *, reuse: str = ""
) -> Job[Q, A] | Callable[[Callable[[Q], A]], Job[Q, A]]:
    """Mark a function as one that a child may run."""
    if function is not None:
        return Job(function)
    return lambda marked: Job(marked, reuse)


def job_at(address: str) -> Job[Any, Any]:
    """Return the job of an address.

    Raises:
        LookupError: no job has it.
    """
    module, _, name = address.partition(":")
    found = getattr(importlib.import_module(module), name, None)
    if not isinstance(found, Job):
        raise LookupError(f"{address} is no job: only a function that is marked with @job runs in a child")
    return found


@lru_cache(maxsize=256)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def prepare(address: str = "") -> None:
    """Build what checks the request and the answer of a job, once for all forks of this process; it takes 50 ms."""
    with suppress(
        ImportError, LookupError, NameError, TypeError, RuntimeError
    ):  # the job that needs it says so, in its own words
        for kind in job_at(address).types if address else (str,):
            _adapter(kind)  # type: ignore[arg-type]  # as below


def to_json(kind: type[T], value: T) -> Any:
    """Return a value of a type as plain JSON data.

    Raises:
        NotOfType: it is of another type, or holds what no JSON has, such as NaN where any value may be.
    """
    adapter = _adapter(kind)  # type: ignore[arg-type]  # mypy takes no type variable for hashable
    content = _sent(adapter, value)
    if _lost(adapter.dump_python(value), content):
        raise NotOfType("it cannot be sent as JSON: it holds NaN or an infinite number")
    return content


def _sent(adapter: TypeAdapter[T], value: T) -> Any:
    """Return a value as pydantic sends it; a number that no JSON has may have become None."""
    from pydantic_core import PydanticSerializationError

    try:
        return adapter.dump_python(value, mode="json", warnings="error")
    except PydanticSerializationError as error:
        raise NotOfType(f"it cannot be sent as JSON: {error}") from error


def from_json(kind: type[T], content: object) -> T:
    """Return JSON data as a value of a type.

    Raises:
        NotOfType: the type would not be sent like this: a key is unknown or missing, or a value of another kind.
    """
    from pydantic import ValidationError

    adapter = _adapter(kind)  # type: ignore[arg-type]  # as above
    try:
        value: T = adapter.validate_python(content)
    except ValidationError as error:
        place, fault = first_fault(error)
        raise NotOfType(f"{place}: {fault}") from error
    differs = _difference(_sent(adapter, value), content)
    if differs is not None:
        raise NotOfType(f"{differs or 'all of it'}: it is not what {getattr(kind, '__name__', kind)} holds there")
    return value


def answer_to_json(kind: type[T], value: T) -> dict[str, Any]:
    """Return an answer as the JSON object that crosses a border; `{}` for None."""
    content = to_json(kind, value)
    return {} if content is None else cast("dict[str, Any]", content)


def answer_from_json(kind: type[T], content: Mapping[str, Any]) -> T:
    """Return the answer of a type that an object of :func:`answer_to_json` stands for.

    Raises:
        NotOfType: the type would not be sent like this.
    """
    return from_json(kind, content if content or kind is not type(None) else None)


def _lost(plain: object, content: object) -> bool:
    """Return whether a number became None: pydantic sends NaN so where a type says nothing of the value."""
    if content is None:
        return isinstance(plain, float)
    if isinstance(plain, Mapping) and isinstance(content, dict):
        return any(map(_lost, plain.values(), content.values()))
    if isinstance(plain, (list, tuple)) and isinstance(content, list):
        return any(map(_lost, plain, content))
    return False


def _difference(own: object, given: object, place: str = "") -> str | None:
    """Return where two pieces of JSON data differ first, as `cases.0.name`; None where they are the same."""
    if isinstance(own, dict) and isinstance(given, dict):
        names = own.keys() | given.keys()
        pairs = [(str(name), own.get(name, _NOTHING), given.get(name, _NOTHING)) for name in names]
    elif isinstance(own, list) and isinstance(given, (list, tuple)) and len(own) == len(given):
        pairs = [(str(at), one, other) for at, (one, other) in enumerate(zip(own, given, strict=True))]
    else:
        same = own == given or (own != own and given != given)  # NaN is what it is
        return None if same and isinstance(own, bool) == isinstance(given, bool) else place
    found = (_difference(one, other, f"{place}.{name}".lstrip(".")) for name, one, other in pairs)
    return next((where for where in found if where is not None), None)
